"""What a newer file changes in a record: all that nobody edited here, and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.records.reimport import Known, known_after, reimported, unedited

SETS = ("tags",)
STATES = (("status", "completed_at"),)
HOW: dict[str, Any] = {"sets": SETS, "states": STATES}


def row(**fields: Any) -> dict[str, Any]:
    return {"kind": "task", "name": "a", "created_at": "2026-01-01T00:00:00.000Z", **fields}


def after(ours: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**ours, **changes}.items() if value is not None}


def imported(**fields: Any) -> Known:
    """What is known after an import of a new record."""
    return known_after(None, row(**fields), {}, **HOW)


@pytest.mark.parametrize(
    ("first", "ours", "newer", "changes"),
    [
        ({"text": "a"}, {"text": "a"}, {"text": "b"}, {"text": "b"}),
        ({"text": "a"}, {"text": "mine"}, {"text": "a"}, {}),
        ({"text": "a"}, {"text": "mine"}, {"text": "b"}, {}),
        ({"text": "a"}, {"text": "a"}, {}, {"text": None}),
        ({"text": "a"}, {}, {"text": "b"}, {}),
        ({}, {}, {"text": "b"}, {"text": "b"}),
        ({}, {"text": "mine"}, {}, {}),
        ({"text": "a"}, {"text": "b"}, {"text": "b"}, {}),
        ({"tags": ["a", "b"]}, {"tags": ["a", "b"]}, {"tags": ["b", "c"]}, {"tags": ["b", "c"]}),
        ({"tags": ["a", "b"]}, {"tags": ["a", "b", "mine"]}, {"tags": ["b", "c"]}, {"tags": ["b", "c", "mine"]}),
        ({"tags": ["a", "b"]}, {"tags": ["a"]}, {"tags": ["a", "b", "c"]}, {"tags": ["a", "c"]}),
        ({"tags": ["a"]}, {"tags": ["mine"]}, {}, {}),
        ({}, {"tags": ["mine"]}, {"tags": ["a"]}, {"tags": ["a", "mine"]}),
        ({"status": "pending"}, {"status": "pending"}, {"status": "complete", "completed_at": "t"},
         {"status": "complete", "completed_at": "t"}),
        ({"status": "pending"}, {"status": "active"}, {"status": "complete", "completed_at": "t"}, {}),
        ({"status": "complete", "completed_at": "t"}, {"status": "complete", "completed_at": "t"}, {},
         {"status": None, "completed_at": None}),
        ({"list": ["x"]}, {"list": ["x"]}, {"list": ["y", "x"]}, {"list": ["y", "x"]}),
    ],
)  # fmt: skip
def test_what_an_import_wrote_is_replaced_and_what_was_edited_stays(
    first: dict[str, Any], ours: dict[str, Any], newer: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert reimported(row(**ours), row(**newer), imported(**first), **HOW)[0] == changes


def test_a_text_that_does_not_get_in_is_named() -> None:
    assert reimported(row(text="mine"), row(text="b"), imported(text="a"), **HOW)[1] == [("text", "b")]
    assert reimported(row(text="mine"), row(text="a"), imported(text="a"), **HOW)[1] == []
    assert reimported(row(number=1), row(number=2), imported(number=3), **HOW)[1] == []


def test_a_write_that_was_cut_off_does_not_pass_for_an_edit() -> None:
    """It was noted and never happened: the store has what the import before it gave."""
    noted = known_after(row(text="a"), row(text="b"), imported(text="a"), **HOW)
    assert reimported(row(text="a"), row(text="c"), noted, **HOW)[0] == {"text": "c"}
    again = known_after(row(text="a"), row(text="c"), noted, **HOW)
    assert reimported(row(text="a"), row(text="d"), again, **HOW)[0] == {"text": "d"}
    assert reimported(row(text="c"), row(text="d"), again, **HOW)[0] == {"text": "d"}


def test_without_a_note_what_was_edited_is_known_from_the_record() -> None:
    ours = row(text="mine", other="a", status="active", edited={"text": "t", "status": "t"})
    changes, aside = reimported(ours, row(text="b", other="b", status="complete"), unedited(ours, row(), **HOW), **HOW)
    assert (changes, aside) == ({"other": "b"}, [("text", "b")])
    elsewhere = row(text="mine") | {"created_at": "2025-01-01T00:00:00.000Z"}
    assert unedited(elsewhere, row(), **HOW) == {}


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "text": st.sampled_from("abc"), "tags": st.lists(st.sampled_from("abc"), min_size=1, unique=True).map(sorted),
        "status": st.sampled_from(["active", "complete"]), "completed_at": st.just("t"),
    },
)  # fmt: skip


@given(FIELDS, FIELDS)
def test_an_import_of_what_nobody_edited_arrives_at_the_file(first: dict[str, Any], newer: dict[str, Any]) -> None:
    ours, known = row(**first), imported(**first)
    made = after(ours, reimported(ours, row(**newer), known, **HOW)[0])
    assert made == row(**newer)
    noted = known_after(ours, row(**newer), known, **HOW)
    assert reimported(made, row(**newer), noted, **HOW) == ({}, [])


@given(FIELDS, FIELDS, FIELDS)
def test_a_second_import_of_the_same_file_changes_nothing(
    first: dict[str, Any], edited: dict[str, Any], newer: dict[str, Any]
) -> None:
    ours, known = row(**edited), imported(**first)
    made = after(ours, reimported(ours, row(**newer), known, **HOW)[0])
    assert reimported(made, row(**newer), known_after(ours, row(**newer), known, **HOW), **HOW) == ({}, [])
