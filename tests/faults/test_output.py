"""``kill -9`` while a command writes a file for somebody else: it is the old one or the new one, never a part."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sample import data, failure, open_memory, write

pytestmark = [pytest.mark.process, pytest.mark.long]
KILLS, RECORDS = 4, 1_500


@pytest.mark.parametrize("command", [["dump", "-o"], ["view", "--out"]], ids=["dump", "view"])
def test_a_file_that_is_written_is_the_old_one_or_the_new_one(tmp_path: Path, command: list[str]) -> None:
    project = tmp_path / "project"
    with open_memory(project):
        write(data(project, "failure"), *(failure(f"f{n}", fix="x" * 500) for n in range(RECORDS)))
    file = tmp_path / "out"

    def begin() -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "graphmem", "--dir", str(project), *command, str(file)]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    assert begin().wait() == 0
    began = time.monotonic()
    assert begin().wait() == 0
    seconds, whole = time.monotonic() - began, file.read_bytes()
    old = whole[:200]  # begins as what graphmem wrote, and is another file
    chance, killed = random.Random(1), 0
    for _ in range(KILLS):
        file.write_bytes(old)
        running = begin()
        time.sleep(chance.uniform(0.5, 1.0) * seconds)
        running.kill()
        killed += running.wait() != 0
        found = file.read_bytes()  # a page says how important a record is now
        assert found == old or (len(found) > len(whole) / 2 and found.endswith(whole[-200:]))
    assert killed
