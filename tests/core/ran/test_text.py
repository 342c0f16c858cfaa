"""How runs of commands read."""

from graphmem import Memory
from graphmem.kernel.registry import printout
from tests.core.search.test_match import traceback


def test_only_what_is_sure_is_shown(memory: Memory) -> None:
    memory.failures.add(traceback(), name="no-id", fix="number the rows")
    other = memory.ran(["pytest"], status=1, log=traceback(key="sku"))
    assert other.log is not None and [hit.by for hit in other.log.results] == ["near"]
    assert printout("ran", other, is_of_test=True).text == ""
    same = memory.ran(["pytest"], status=1, log=traceback("/ci", 88))
    assert printout("ran", same, is_of_test=True).text.startswith("failure/no-id  [the same problem]\n")
