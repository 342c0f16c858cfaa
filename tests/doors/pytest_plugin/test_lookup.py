"""What of an answer is shown below a failure."""

from graphmem import Memory
from graphmem.doors.pytest_plugin.lookup import known
from tests.core.search.test_match import traceback


def test_only_what_is_sure_is_shown(memory: Memory) -> None:
    memory.failures.add(traceback(), name="no-id", fix="number the rows")
    other = memory.ran(["pytest"], status=1, log=traceback(key="sku"))
    assert other.log is not None and [hit.by for hit in other.log.results] == ["near"]
    assert list(known(other)) == []
    same = memory.ran(["pytest"], status=1, log=traceback("/ci", 88))
    assert [line.splitlines()[0] for line in known(same)] == ["failure/no-id  [the same problem]"]
