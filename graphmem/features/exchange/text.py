"""How imports and dumps read on a terminal."""

from graphmem.constants import IMPORT_SHOWN
from graphmem.features.exchange.dump_contract import Dump
from graphmem.features.exchange.operations import Imported
from graphmem.kernel.registry import Printout, reads
from graphmem.kernel.text import count
from graphmem.names import inert, quoted, visible


@reads(Imported)
def _import_text(answer: Imported) -> Printout:
    return Printout(
        "\n".join(_account(answer)), "" if answer.applied else "nothing was changed; do it without --dry-run"
    )


def _account(answer: Imported) -> list[str]:
    """Return what became of all that was read, a line for each sort of it."""
    lines = [f"{answer.format}: read {_counted(answer.read)}"]
    for name in ("created", "merged", "updated", "unchanged"):
        if found := getattr(answer, name):
            lines.append(f"{name}: {_counted(found)}")
    if answer.dangling:
        lines.append(f"dangling: {answer.dangling:,}")
    lines += [f"skipped {quoted(one.place)}: {visible(one.reason)}" for one in answer.skipped[:IMPORT_SHOWN]]
    if len(answer.skipped) > IMPORT_SHOWN:
        lines.append(f"and {len(answer.skipped) - IMPORT_SHOWN:,} more that were skipped; --json has them all")
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
