"""
The tables of guarded work: how a review item moves, what a stage may write, what a branch may change.

Tables are data: what is refused, its message and docs/reference/governance.md are made from them.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from graphmem.errors import Refused
from graphmem.kernel.system.shell import command

StageKind = Literal["forge", "quench", "appraise", "human-appraise", "assay"]
ItemState = Literal["open", "actioned", "wont-fix", "rejected", "resolved", "deadlocked"]
Mover = Literal["forge", "raiser", "person", "routing"]
Area = Literal["definitions", "governed", "memory"]

STATES: tuple[ItemState, ...] = get_args(ItemState)
ENDED: ItemState = "resolved"
SUBJECTIVE: StageKind = "appraise"  # the kind of the only sources whose items forge may decline
WORDS: dict[Mover, str] = {
    "forge": "a forge stage",
    "raiser": "the stage that raised the item",
    "person": "a person",
    "routing": "routing",
}


class ItemMove(NamedTuple):
    """
    A row of the table of moves.

    Attributes:
        before: the states that it leads from.
        who: may make it.
        needs_reason: it says why.
        sources: kinds of the sources whose items it is for; none for all.
        command: the verb of ``graphmem item``; empty for a move that routing alone makes.
    """

    before: Sequence[ItemState]
    after: ItemState
    who: Sequence[Mover]
    command: str
    needs_reason: bool = False
    sources: Sequence[StageKind] = ()


ITEM_MOVES = (
    ItemMove(("open", "rejected"), "actioned", ("forge",), "action"),
    ItemMove(("open", "rejected"), "wont-fix", ("forge",), "wont-fix", needs_reason=True, sources=(SUBJECTIVE,)),
    ItemMove(("actioned", "wont-fix"), "resolved", ("raiser", "person"), "resolve"),
    ItemMove(("actioned", "wont-fix"), "rejected", ("raiser", "person"), "reject", needs_reason=True),
    ItemMove(("actioned", "wont-fix", "rejected"), "deadlocked", ("routing",), ""),
    ItemMove(("deadlocked",), "resolved", ("person",), "resolve"),
    ItemMove(("deadlocked",), "rejected", ("person",), "reject", needs_reason=True),
)


class StageRights(NamedTuple):
    """What a stage of a kind may write: files of the output artefact, moves of items, new items, memory."""

    files: bool = False
    moves: Sequence[ItemState] = ()
    adds: bool = False
    memory: bool = False


VERDICTS = StageRights(moves=("resolved", "rejected"), adds=True)
STAGE_RIGHTS: dict[StageKind, StageRights] = {
    "forge": StageRights(files=True, moves=("actioned", "wont-fix")),
    "quench": VERDICTS,
    "appraise": VERDICTS,
    "human-appraise": VERDICTS,
    "assay": StageRights(memory=True),
}
ALWAYS = frozenset({"feedback", "run", "event", "session"})  # kinds of rows that hooks and reports bring in every stage


class Namespace(NamedTuple):
    """The branches whose names begin with a prefix, how these names are made, and what may change there."""

    prefix: str
    pattern: str
    areas: Sequence[Area]
    also: str


NAMESPACES = {
    "config": Namespace("config/", "config/<description>", ("definitions",), "config.toml, queries, formats"),
    "work": Namespace("work/", "work/<flow>-<description>", ("governed", "memory"), "files of artefacts"),
    "dry-run": Namespace(
        "dry-run/", "dry-run/<config description>/<flow>-<description>", ("governed", "memory"), "as work"
    ),
}
ELSEWHERE: Sequence[Area] = ("memory",)  # what may change on all other branches
AREAS: dict[Area, str] = {
    "definitions": "definitions (flows, cycles, artefacts, types, scopes, extractors)",
    "governed": "works and their items",
    "memory": "memories",
}
BELONGS: dict[Area, str] = {
    "definitions": "graphmem work branch config DESCRIPTION",
    "governed": 'graphmem work start FLOW "OBJECTIVE"',
    "memory": "write it on any branch that does not begin with config/",
}


def namespace_of(branch: str) -> str | None:
    """Return the name of the namespace that a branch is in; None for any other branch."""
    return next((name for name, one in NAMESPACES.items() if branch.startswith(one.prefix)), None)


def areas_of(branch: str) -> Sequence[Area]:
    """Return what may change on a branch."""
    name = namespace_of(branch)
    return ELSEWHERE if name is None else NAMESPACES[name].areas


def kind_of_source(source: str) -> str:
    """Return the kind in a source such as ``appraise:style``."""
    return source.partition(":")[0]


def is_legal(before: str, after: str, who: Mover, source: str) -> bool:
    """Return whether the table has a move of an item of this source, by this mover."""
    return any(_fits(one, before, source) and one.after == after and who in one.who for one in ITEM_MOVES)


def _fits(move: ItemMove, before: str, source: str) -> bool:
    return before in move.before and (not move.sources or kind_of_source(source) in move.sources)


def refuse_item_move(
    item: str, source: str, before: str, after: ItemState, movers: Sequence[Mover], reason: str | None
) -> None:
    """
    Raise ``Refused`` for a move that the table does not have; the message names what would be legal.

    Args:
        item: its reference.
        movers: what the caller is, to this item: of a stage that raised it, ``raiser``; none for any other stage.
    """
    fitting = [one for one in ITEM_MOVES if _fits(one, before, source)]
    asked = [one for one in fitting if one.after == after]
    made = next((one for one in asked if set(one.who) & set(movers)), None)
    if made is None:
        if asked:
            needed = " or ".join(WORDS[mover] for mover in asked[0].who)
            what = f"{item} is {before}; {needed} may move it to {after}, and this caller is not"
        elif after == "wont-fix" and before in ("open", "rejected"):
            what = f"{item} is of {source}: what a check found or a person asked for cannot be declined"
        else:
            what = f"{item} is {before}; it cannot become {after}"
        details = {"from": before, "to": after, "legal": _names(fitting)}
        raise Refused(what, hint=_hint(before, fitting), details=details)
    if made.needs_reason and not (reason or "").strip():
        raise Refused(
            f"{item} becomes {after} only with a reason", hint=command("graphmem", "item", made.command, item, "WHY")
        )


def _names(moves: Sequence[ItemMove]) -> list[str]:
    return list(dict.fromkeys(move.after for move in moves))


def _hint(before: str, moves: Sequence[ItemMove]) -> str:
    named = [f"{move.after} (by {' or '.join(WORDS[mover] for mover in move.who)})" for move in moves]
    return f"possible from {before}: {', '.join(named) or 'nothing'}"
