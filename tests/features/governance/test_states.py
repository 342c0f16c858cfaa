"""The tables of guarded work, against the specification written down once more."""

from itertools import product
from typing import Any, get_args

import pytest

from graphmem.errors import Refused
from graphmem.features.governance.states import (
    ITEM_MOVES,
    NAMESPACES,
    STAGE_RIGHTS,
    STATES,
    Mover,
    StageKind,
    areas_of,
    is_legal,
    namespace_of,
    refuse_item_move,
)

SOURCES = ("quench:tests", "appraise:style", "human-appraise:ana")
# Of the specification: from, to, who; wont-fix is for items of appraise alone.
LEGAL: set[tuple[Any, Any, Any]] = {
    *(product(("open", "rejected"), ("actioned", "wont-fix"), ("forge",))),
    *(product(("actioned", "wont-fix"), ("resolved", "rejected"), ("raiser", "person"))),
    *(product(("actioned", "wont-fix", "rejected"), ("deadlocked",), ("routing",))),
    *(product(("deadlocked",), ("resolved", "rejected"), ("person",))),
}
MOVES_OF = {state: list(dict.fromkeys(move.after for move in ITEM_MOVES if state in move.before)) for state in STATES}
REASONED = {"wont-fix", "rejected"}


@pytest.mark.parametrize("source", SOURCES)
def test_every_state_by_every_mover_to_every_state(source: str) -> None:
    for before, after, who in product(STATES, STATES, get_args(Mover)):
        is_right = (before, after, who) in LEGAL and (after != "wont-fix" or source.startswith("appraise:"))
        assert is_legal(before, after, who, source) is is_right, (before, after, who)
        try:
            refuse_item_move("item/x", source, before, after, [who], "because")
            is_refused = False
        except Refused as error:
            is_refused = True
            legal = {to for of, to, _ in LEGAL if of == before and (to != "wont-fix" or source.startswith("appraise:"))}
            assert error.details["legal"] == [one for one in MOVES_OF[before] if one in legal]
            assert f"possible from {before}: " in (error.hint or "")
        assert is_refused is not is_right


def test_what_needs_a_reason_is_refused_without_one() -> None:
    for before, after, who in LEGAL:
        for reason in (None, "", "  "):
            if after in REASONED:
                with pytest.raises(Refused, match="only with a reason"):
                    refuse_item_move("item/x", "appraise:style", before, after, [who], reason)
            else:
                refuse_item_move("item/x", "appraise:style", before, after, [who], reason)


def test_a_refusal_says_what_was_wrong_about_the_move() -> None:
    cases: list[tuple[str, str, Any, list[Any], str]] = [
        ("quench:tests", "open", "wont-fix", ["forge"], "what a check found or a person asked for cannot be declined"),
        ("appraise:style", "open", "actioned", ["raiser"], "a forge stage may move it to actioned"),
        ("appraise:style", "resolved", "open", ["person"], "is resolved; it cannot become open"),
        ("appraise:style", "actioned", "resolved", [], "the stage that raised the item or a person may move it"),
    ]
    for source, before, after, movers, message in cases:
        with pytest.raises(Refused, match=message):
            refuse_item_move("item/x", source, before, after, movers, None)


def test_every_move_has_a_command_but_the_one_of_routing() -> None:
    assert {move.command for move in ITEM_MOVES} == {"action", "wont-fix", "resolve", "reject", ""}
    assert [move.after for move in ITEM_MOVES if not move.command] == ["deadlocked"]


def test_what_a_stage_may_write_is_as_the_specification_has_it() -> None:
    assert STAGE_RIGHTS.keys() == set(get_args(StageKind))
    for kind, rights in STAGE_RIGHTS.items():
        assert rights.files is (kind == "forge")
        assert rights.memory is (kind == "assay")
        assert rights.adds is (kind in ("quench", "appraise", "human-appraise"))
        wanted = {"forge": ("actioned", "wont-fix"), "assay": ()}.get(kind, ("resolved", "rejected"))
        assert tuple(rights.moves) == wanted


@pytest.mark.parametrize(
    ("branch", "namespace", "areas"),
    [
        ("config/review", "config", {"definitions"}),
        ("work/feature-x", "work", {"governed", "memory"}),
        ("dry-run/review/feature-x", "dry-run", {"governed", "memory"}),
        ("main", None, {"memory"}),
        ("workshop", None, {"memory"}),
        ("archive/work/feature-x-1a2b", None, {"memory"}),
        ("", None, {"memory"}),
    ],
)
def test_a_branch_says_what_may_change_on_it(branch: str, namespace: str | None, areas: set[str]) -> None:
    assert namespace_of(branch) == namespace
    assert set(areas_of(branch)) == areas
    assert all(one.pattern.startswith(one.prefix) for one in NAMESPACES.values())
