"""Times in tests are compared with what the machine does right now."""

import re
from pathlib import Path

LIMIT = re.compile(
    r"^.*(?:(?:monotonic|process_time|perf_counter|time)\(\) - \w+|took\(.*\)) < (?!.*patience\().*$", re.M
)


def test_no_test_has_a_limit_of_seconds_that_a_slow_machine_breaks() -> None:
    files = [path for path in Path(__file__).parent.rglob("*.py") if path.parent.name != "bench"]
    found = [f"{path.name}: {line.strip()}" for path in files for line in LIMIT.findall(path.read_text("utf-8"))]
    assert [line for line in found if " while " not in f" {line} " and not line.startswith("test_pace")] == []
