"""How imports and dumps read on a terminal."""

from graphmem.constants import IMPORT_SHOWN
from graphmem.core.records.wording import waiting
from graphmem.features.exchange.dump_contract import Dump
from graphmem.features.exchange.operations import ACTIONS, Imported
from graphmem.kernel.registry import Printout, reads
from graphmem.kernel.text import count
from graphmem.names import inert, quoted, visible


@reads(Imported)
def _import_text(answer: Imported) -> Printout:
    found = answer.created.get("candidate", 0)
    return Printout(
        "\n".join(_account(answer)),
        "" if answer.applied else "nothing was changed; do it without --dry-run",
        f"{waiting(found)}, no record yet: graphmem review" if found and answer.applied else "",
    )


def _account(answer: Imported) -> list[str]:
    """Return what became of all that was read, a line for each sort of it."""
    lines = [f"{answer.format}: read {_counted(answer.read)}"]
    for name in ACTIONS:
        if found := getattr(answer, name):
            lines.append(f"{name}: {_counted(found)}")
    if answer.dangling:
        lines.append(f"dangling: {answer.dangling:,}")
    reasons = dict[str, list[str]]()
    for one in answer.skipped:
        reasons.setdefault(one.reason, []).append(one.place)
    for reason, places in list(reasons.items())[:IMPORT_SHOWN]:
        more = f" and {len(places) - 1:,} more" if len(places) > 1 else ""
        lines.append(f"skipped {quoted(places[0])}{more}: {visible(reason)}")
    if len(reasons) > IMPORT_SHOWN:
        left = sum(map(len, list(reasons.values())[IMPORT_SHOWN:]))
        lines.append(f"and {left:,} more that were skipped; --json has them all")
    return lines


def _counted(found: dict[str, int]) -> str:
    """Return counts by kind in words."""
    return ", ".join(f"{number:,} {visible(kind if number == 1 else _plural(kind))}" for kind, number in found.items())


def _plural(noun: str) -> str:
    """Return the plural of what is counted."""
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


@reads(Dump)
def _dump_text(answer: Dump) -> Printout:
    left_out = ", ".join(count(number, kind) for kind, number in answer.left_out.items())
    document = "\n".join(answer.files.values()).rstrip("\n")
    is_markup = answer.format in ("graphml", "dot", "mermaid", "markdown", "html")
    is_empty = answer.format == "rules" and not answer.rows
    why, more = (" for want of room", "; --budget makes more") if answer.format == "rules" else ("", "")
    return Printout(
        document if is_markup else inert(document),
        "no constraint, decision or fix is there to keep" if is_empty else "",
        f"left out{why}: {left_out}{more}" if left_out else "",
        is_file=True,
    )
