"""What a fix pair is worth to another session."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from graphmem.core.logs.fix_pairs import SessionReader
from graphmem.core.logs.worth import worth_of
from graphmem.kernel.model.transcript import FileEdit, RanCommand, TranscriptEvent

RULE = "src/a.go:3:1: G104: Errors unhandled (gosec)"
SLIP = "src/a.go:3:1: undefined: x"
TEST = "--- FAIL: TestX (0.1s)\n    x_test.go:3: expected 3, got 4"


def numbered(events: Iterable[TranscriptEvent]) -> list[TranscriptEvent]:
    return [replace(event, number=number) for number, event in enumerate(events)]


def ran(command: str, status: int, output: str = "") -> RanCommand:
    return RanCommand("", 0, command, status, output)


def edit(added: str = "b", file: str = "src/a.go", removed: str = "a") -> FileEdit:
    return FileEdit("", 0, file, removed, added)


def worth(output: str, *between: TranscriptEvent, fails: int = 1) -> float:
    reader = SessionReader()
    events = [*(ran("make check", 1, output) for _ in range(fails)), *between, ran("make check", 0)]
    return worth_of(next(pair for event in numbered(events) for pair in reader.read(event)))


@pytest.mark.parametrize(
    ("output", "between", "expected"),
    [
        (RULE, [edit()], 0.7),
        ("src/a.go:3:1: func x is unused (unused)", [edit()], 0.2),
        (SLIP, [edit()], 0.1),
        (TEST, [edit()], 0.1),
        (SLIP, [edit("// the name must be public because of the plugin")], 0.35),
        (TEST, [edit("x = 1  # plain words of nothing much")], 0.1),
        (RULE, [edit("// it must be so because of this")], 0.7),
        ("src/a.go:3:1: cannot use a as b value: a does not implement b", [edit()], 0.3),
        (TEST, [edit(file="go.mod")], 0.35),
        (TEST, [ran("go mod tidy", 0)], 0.35),
        (RULE, [edit(file=f"src/{n}.py") for n in range(5)], 0.55),
    ],
)
def test_signs_of_worth(output: str, between: list[TranscriptEvent], expected: float) -> None:
    assert worth(output, *between) == expected


def test_tries_add_to_it() -> None:
    assert worth(RULE, edit(), fails=2) == 0.75
    assert worth(RULE, edit(), fails=9) == 0.85
