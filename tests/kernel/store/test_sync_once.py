"""No work is done twice: files are looked at once, or once more under the lock; only shown records are parsed."""

import os
import sys
from collections import Counter
from types import FrameType
from typing import Any

import pytest

from graphmem import Memory


def add_failures(memory: Memory) -> None:
    memory.add_rows(
        f'{{"kind": "failure", "name": "f{n}", "trigger": "the worker failed in stage {n}"}}'.encode()
        for n in range(40)
    )


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often the system is asked for each file by its name."""
    found: Counter[str] = Counter()
    lstat = os.lstat

    def counted(path: Any, **named: Any) -> os.stat_result:
        found[os.path.basename(path)] += 1
        return lstat(path, **named)

    monkeypatch.setattr(os, "lstat", counted)
    return found


def test_a_query_looks_at_each_file_once(memory: Memory, looks: Counter[str]) -> None:
    add_failures(memory)
    memory.query("worker")
    looks.clear()
    memory.query("worker")
    assert looks["failure.ndjson"] == 1


def test_an_add_looks_at_each_file_before_the_lock_and_under_it(memory_with_model: Memory, looks: Counter[str]) -> None:
    add_failures(memory_with_model)
    memory_with_model.query("worker")
    looks.clear()
    memory_with_model.failures.add("the printer is on fire")
    assert looks["failure.ndjson"] == 2


def test_a_query_parses_the_records_that_it_shows(memory: Memory) -> None:
    add_failures(memory)
    memory.query("worker stage")
    parsed: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == "parse_record":
            parsed["parse_record"] += 1

    sys.setprofile(count)
    try:
        assert len(memory.query("worker stage", limit=3).results) == 3
    finally:
        sys.setprofile(None)
    assert parsed["parse_record"] == 3
