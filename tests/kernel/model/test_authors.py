"""Who wrote a row: what a write and a merge leave of its authors."""

from typing import Any

import pytest

from graphmem.kernel.git.merge_driver import rule_table
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.authors import author_of, changed_by
from graphmem.kernel.model.merge import Rules, merged

FAILURE = Rules.of(rule_table()["kinds"]["failure"])
ANA, BO, CY = ("ana", "cli"), ("bo", "mcp"), ("cy", "http")
FIRST, SECOND, THIRD = (f"2026-11-01T09:00:0{second}.000Z" for second in range(3))


def row(edited: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    made = {"kind": "failure", "name": "a", "created_at": FIRST, "trigger": "t", "fix": "f", **fields}
    return {**made, "edited": edited} if edited else made


def signature(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("by", "via", "authors") if name in found}


def test_a_new_row_is_its_writers() -> None:
    assert signature(changed_by(ANA, None, row())) == {"by": "ana", "via": "cli"}


def test_a_new_row_that_names_its_author_keeps_it() -> None:
    """A dump that is read into another store."""
    assert signature(changed_by(ANA, None, row(by="bo", via="mcp"))) == {"by": "bo", "via": "mcp"}


def test_a_caller_with_a_token_cannot_give_a_new_row_another_name() -> None:
    found = changed_by(ANA, None, row(by="bo", via="mcp", authors={"fix": ["cy", "cli"]}), is_proven=True)
    assert signature(found) == {"by": "ana", "via": "cli"}


def test_who_changes_a_field_is_the_last_and_the_others_keep_theirs() -> None:
    made = changed_by(ANA, None, row())
    second = changed_by(BO, made, {**made, **row({"fix": SECOND}, fix="g")})
    assert signature(second) == {"by": "bo", "via": "mcp", "authors": {"created_at": ["ana", "cli"]}}
    third = changed_by(CY, second, {**second, **row({"fix": SECOND, "cost": THIRD}, fix="g", cost=3)})
    authors = {"created_at": ["ana", "cli"], "fix": ["bo", "mcp"]}
    assert signature(third) == {"by": "cy", "via": "http", "authors": authors}
    assert [author_of(third, field) for field in ("trigger", "fix", "cost")] == [ANA, BO, CY]


def test_a_row_whose_own_changes_are_none_keeps_its_authors() -> None:
    """A count that is folded in, or a name that moved, is not what somebody says."""
    made = changed_by(ANA, None, row())
    assert signature(changed_by(BO, made, {**made, "aliases": ["b"]})) == {"by": "ana", "via": "cli"}


def test_an_old_row_without_authors_is_not_given_to_who_changes_it() -> None:
    changed = changed_by(BO, row(), row({"fix": SECOND}, fix="g"))
    assert signature(changed) == {"by": "bo", "via": "mcp", "authors": {"created_at": ["", ""]}}
    assert author_of(changed, "trigger") == ("", "")
    assert author_of(changed, "fix") == BO


def test_a_row_that_its_writer_changes_alone_names_no_others() -> None:
    made = changed_by(ANA, None, row())
    assert signature(changed_by(ANA, made, row({"fix": SECOND}, fix="g"))) == {"by": "ana", "via": "cli"}


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_merge_takes_the_author_with_the_value(is_swapped: bool) -> None:
    base = changed_by(ANA, None, row())
    ours = changed_by(BO, base, row({"fix": SECOND}, fix="g"))
    theirs = changed_by(CY, base, row({"cost": THIRD}, cost=3))
    found = merged(base, *((theirs, ours) if is_swapped else (ours, theirs)), FAILURE)
    assert found is not None
    assert [author_of(found, field) for field in ("trigger", "fix", "cost")] == [ANA, BO, CY]
    assert (found["by"], found["via"]) == CY


def test_a_merge_of_two_that_wrote_the_same_at_once_names_one_of_them_in_either_order() -> None:
    ours, theirs = (changed_by(author, None, row()) for author in (ANA, BO))
    found = merged(None, ours, theirs, FAILURE)
    assert found == merged(None, theirs, ours, FAILURE)
    assert found is not None
    assert found["by"] in ("ana", "bo")


def test_a_merge_keeps_the_author_of_a_value_that_is_as_old_as_the_record() -> None:
    """Both sides made the record in one moment, and one of them alone gave it a fix."""
    ours = changed_by(ANA, None, {name: value for name, value in row().items() if name != "fix"})
    theirs = changed_by(BO, None, row(trigger="a trigger"))
    found = merged(None, ours, theirs, FAILURE)
    assert found is not None
    assert [author_of(found, field) for field in ("created_at", "fix")] == [ANA, BO]


def test_a_merge_of_old_rows_names_nobody() -> None:
    found = merged(row(), row({"fix": SECOND}, fix="g"), row({"cost": THIRD}, cost=3), FAILURE)
    assert found is not None
    assert signature(found) == {}


def test_a_record_names_all_who_wrote_something_of_it() -> None:
    record = MODELS["failure"].model_validate(
        row(by="bo", via="mcp", authors={"created_at": ["ana", "cli"], "fix": ["", ""]})
    )
    assert record.writers == {"ana", "bo"}
    assert MODELS["failure"].model_validate(row()).writers == frozenset()
