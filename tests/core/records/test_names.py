"""The name that a record is given by itself: of a failure its code and what its message is about, never a path."""

import pytest

from graphmem import Memory

NAMES = {
    "src/a.ts(3,1): error TS2307: Cannot find module 'zod/v5' or its corresponding type declarations.": "ts2307-zod-v5",
    "./main.go:12:5: undefined: strings": "go-build-undefined-strings",
    "ModuleNotFoundError: No module named 'yaml'": "modulenotfounderror-yaml",
    "ValueError: bad total": "valueerror-bad-total",
    "fatal: Unable to create '/srv/web/.git/index.lock': File exists.": "unable-to-create-index.lock-file-exists",
    "the page is blank after login": "the-page-is-blank-after-login",
}


@pytest.mark.parametrize("trigger", NAMES)
def test_a_failure_is_named_by_its_problem(memory: Memory, trigger: str) -> None:
    assert memory.failures.add(trigger).ref == f"failure/{NAMES[trigger]}"


def test_what_was_named_otherwise_before_is_not_stored_twice(memory: Memory) -> None:
    trigger = "ModuleNotFoundError: No module named 'yaml'"
    older = memory.failures.add(trigger, name="modulenotfounderror-no-module-named-yaml")
    assert memory.failures.add(trigger, fix="pip install pyyaml").ref == older.ref
