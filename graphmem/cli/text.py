"""How answers look to people: short, aligned, one line a record where that is possible."""

import sys
from collections.abc import Sequence

from graphmem.model import Campaign, Entity, Failure, Memory, Pattern, Record, Task
from graphmem.model.result import Changed, Edge, Reached

WIDTH = 96  # characters of a text that stands on one line


def one_line(text: str | None, width: int = WIDTH) -> str:
    """Return a text on one line, cut where it is too long to read."""
    line = " ".join((text or "").split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def gist(record: Record) -> str:
    """Return what a record says, in one line."""
    match record:
        case Failure():
            return one_line(record.trigger) + (f"\n    fix: {one_line(record.fix)}" if record.fix else "")
        case Pattern():
            return f"{one_line(record.trigger)}\n    do: {one_line(record.insight)}"
        case Entity():
            return one_line(record.value)
        case Campaign():
            return f"[{record.status}] {one_line(record.objective)}"
        case Task():
            return f"[{record.status}] {one_line(record.objective)}"
    return ""


def changed(answer: Changed) -> str:
    """Return what a command did to a record."""
    lines = [f"{answer.action} {answer.ref}"]
    if answer.merged_into:
        how = f" (similarity {answer.similarity:.3f})" if answer.similarity is not None else " (the same text)"
        lines = [f"merged into {answer.ref}{how}; the newer texts are kept as alternates"]
    lines += [f"    variant of {variant.ref} (similarity {variant.similarity:.3f})" for variant in answer.variants]
    return "\n".join(lines)


def fields(record: Record) -> str:
    """Return every field of a record that has a value, one a line."""
    lines = [record.ref]
    for name, value in record.model_dump(by_alias=True).items():
        if name in ("kind", "name", "ref") or value in (None, [], (), {}, "", False):
            continue
        if name in ("helped", "failed") and not value:
            continue
        if name == "key" and value == record.name:
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        lines.append(f"  {name + ':':<14} " + text.strip().replace("\n", "\n" + " " * 17))
    return "\n".join(lines)


def edge(found: Edge) -> str:
    """Return an edge with its weight."""
    note = f"  # {one_line(found.note, 60)}" if found.note else ""
    return f"{found.source} -{found.type} {found.weight:g}-> {found.target}{note}"


def tree(start: str, reached: Sequence[Reached]) -> str:
    """Return the records that were reached as a tree of their strongest paths, with types, weights and products."""
    children: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    labels: dict[tuple[str, ...], str] = {}
    strength = {found.ref: found for found in reached}
    for found in reached:
        at: tuple[str, ...] = (start,)
        product = 1.0
        for step in found.path:
            far = step.target if step.direction == "out" else step.source
            product *= step.weight
            arrow = f"-{step.type} {step.weight:g}->" if step.direction == "out" else f"<-{step.type} {step.weight:g}-"
            child = (*at, f"{arrow} {far}")
            if child not in labels:
                labels[child] = f"{arrow} {far}  = {product:.4g}"
                children.setdefault(at, []).append(child)
            at = child
        if at in labels and found.ref in strength:
            labels[at] += f"  {one_line(gist(found.record).split(chr(10))[0], 60)}"
    lines = [start]

    def walk(at: tuple[str, ...], indent: str) -> None:
        for place, child in enumerate(children.get(at, ())):
            is_last = place == len(children[at]) - 1
            lines.append(f"{indent}{'└── ' if is_last else '├── '}{labels[child]}")
            walk(child, indent + ("    " if is_last else "│   "))

    walk((start,), "")
    return "\n".join(lines)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table: drawn on a terminal, aligned plain text elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 - only a terminal pays for rich
        from rich.table import Table
        from rich.text import Text

        drawn = Table(*headers)
        for row in rows:
            drawn.add_row(*(Text(value) for value in row))
        console = Console()
        with console.capture() as capture:
            console.print(drawn)
        return capture.get().rstrip("\n")
    widths = [max(len(row[n]) for row in (headers, *rows)) for n in range(len(headers))]
    lines = [headers, *rows]
    return "\n".join("  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip() for row in lines)


def worth(record: Record) -> str:
    """Return how often a memory helped and failed, where anything is known."""
    if isinstance(record, Memory) and (record.helped or record.failed):
        return f"  helped {record.helped}, failed {record.failed}"
    return ""


