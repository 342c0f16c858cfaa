"""How what changed reads on a terminal."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import JsonValue

from graphmem.core.history.contract import Difference, FieldChange, History, Revision, RowChange
from graphmem.core.history.why import Origin, Ranking, ReportMade, Why
from graphmem.core.records import wording
from graphmem.core.records.text import event_line
from graphmem.core.search.text import score_lines
from graphmem.kernel import terminal
from graphmem.kernel.markdown import code
from graphmem.kernel.registry import Printout, Taken, reads
from graphmem.kernel.text import count, one_line

SAID = 120  # characters of a field's old and new value together
SHOWN = 5  # reports, edges and merged texts that a screen shows; --json has all
MARKS = {"created": "+ ", "changed": "~ ", "removed": "- "}
SECTIONS = ("created", "changed", "renamed", "superseded", "archived", "restored", "removed")
GIST = ("trigger", "objective", "value", "note")  # the field that says what a row is about


@reads(History)
def _log_text(answer: History) -> Printout:
    return Printout(
        "\n".join([*map(_revision, answer.results), *map(event_line, reversed(answer.events))]),
        "more commits changed it; raise --limit" if answer.truncated else "",
        "the clone is shallow: what happened before is not here; git fetch --unshallow" if answer.shallow else "",
        f"no commit changed {answer.ref}" if not answer.results else "",
    )


@reads(Why)
def _why_text(answer: Why) -> str:
    return "\n".join(_lines_of(answer))


def _revision(found: Revision) -> str:
    """Return a commit with what it did to the record."""
    head = "not committed yet"
    if found.commit is not None:
        parts = found.commit[:10], found.at, one_line(found.author), one_line(found.subject)
        head = "  ".join(filter(None, parts))
    return "\n".join([head, f"  {found.change.action} {found.change.ref}", *fields(found.change)])


def fields(change: RowChange) -> list[str]:
    """Return the changed fields of a row, one a line."""
    return [f"    {one_line(field.field)}: {' → '.join(values(field))}" for field in change.fields]


def values(field: FieldChange) -> tuple[str, ...]:
    """Return what a field was and is; of a list, the items that came and went."""
    if isinstance(field.old, list | None) and isinstance(field.new, list | None):
        old, new = [[_item_of(item) for item in value or []] for value in (field.old, field.new)]
        told = [f"+{item}" for item in new if item not in old] + [f"-{item}" for item in old if item not in new]
        return (one_line(", ".join(told) or "another order", SAID),)
    return _told_apart(said(field.old), said(field.new))


def _item_of(value: JsonValue) -> str:
    """Return an item of a list; of a text that was set aside, its field and the text without the time."""
    if isinstance(value, dict) and value.keys() >= {"field", "text"}:
        return f"{wording.shown(value['field'])}: {wording.shown(value['text'])}"
    return wording.shown(value)


def _told_apart(old: str, new: str) -> tuple[str, str]:
    """Return two values, each cut to half a line; where both are long, from a little before they differ."""
    room = SAID // 2
    start = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0)
    skip = max(0, start - room // 3) if max(len(old), len(new)) > room else 0
    old, new = (f"…{value[skip:]}" if skip else value for value in (old, new))
    return one_line(old, room), one_line(new, room)


def said(value: JsonValue) -> str:
    """Return a field's value on one line."""
    return one_line(wording.shown(value), 2**20) if value is not None else "none"


def _lines_of(found: Why) -> Iterator[str]:
    """Yield a record and why it is there, a line each."""
    yield f"{found.ref}  {one_line(found.record.headline)}"
    if found.record.by:
        yield terminal.field("by", wording.authorship(found.record))
    yield from _came_from(found.origin)
    if found.renamed:
        yield terminal.field("renamed from", ", ".join(found.renamed))
    yield from _several("merged in", [f"{one.field}: {one_line(one.text)}" for one in found.merged])
    yield from _several("reports", list(map(report, reversed(found.reports))))
    if found.supersedes:
        yield terminal.field("supersedes", ", ".join(found.supersedes))
    if found.superseded_by:
        yield terminal.field("superseded by", found.superseded_by)
    yield from _several("edges", list(map(wording.edge, found.relations)))
    if found.ranking is not None:
        yield from _ranked(found.ranking)


def _came_from(origin: Origin) -> Iterator[str]:
    """Yield where a record comes from."""
    yield terminal.field("created", origin.created_at)
    yield from _several("seen in", origin.sources)
    if origin.candidate:
        yield terminal.field("accepted", f"from candidate {origin.candidate}")
    if origin.commit:
        said = f"{origin.commit[:10]}  {one_line(origin.author)}  {one_line(origin.subject)}"
        yield terminal.field("committed", said)
    else:
        yield terminal.field("committed", "not yet")


def _several(name: str, values: list[str]) -> Iterator[str]:
    """Yield the first of several values below each other, and how many more there are."""
    more = [f"… and {len(values) - SHOWN:,} more: --json"] if len(values) > SHOWN else []
    if values:
        yield terminal.field(name, "\n".join([*values[:SHOWN], *more]))


def report(one: ReportMade) -> str:
    """Return a report in a line."""
    said = "wrong" if one.wrong else "helped" if one.helped else "did not help"
    about = [f"in {one.task}"] if one.task else []
    about += [f'asked "{one_line(one.question, 60)}"'] if one.question else []
    about += [one_line(one.note, 60)] if one.note else []
    return "  ".join([one.at, said, *about])


def _ranked(ranking: Ranking) -> Iterator[str]:
    """Yield the place of a record for a query, and what its score is made of."""
    where = f"place {ranking.place} of {ranking.results}" if ranking.hit else f"not among {ranking.results} results"
    yield terminal.field("query", f"{where} for: {one_line(ranking.query)}")
    if ranking.hit is not None:
        yield from (f"    {line}" for line in (*wording.holding(ranking.hit.holds), *score_lines(ranking.hit)))


# --- diff -----------------------------------------------------------------------------------------------------------


@reads(Difference)
def _diff_text(
    answer: Difference,
    markdown: Annotated[bool, Taken(flag="--markdown", meaning="Print Markdown, for a pull request")] = False,
) -> Printout:
    return Printout(
        _in_markdown(answer) if markdown else _in_words(answer),
        f"left out: {count(answer.skipped, 'line')} that are not rows" if answer.skipped else "",
        "nothing changed" if not answer.changes else "",
        is_file=markdown,
    )


def _in_words(answer: Difference) -> str:
    """Return what changed: all of it in one line, then row by row."""
    lines = [answer.summary] if answer.changes else []
    for change in answer.changes:
        mark = MARKS.get(change.action, f"{change.action} ")
        about = "" if change.fields else gist_of(change)
        lines += [f"{mark}{change.ref}{'  ' * bool(about)}{about}", *fields(change)]
    return "\n".join(lines)


def gist_of(change: RowChange) -> str:
    """Return the one thing to know of a row."""
    if change.kind == "feedback":
        if change.row.get("wrong") is True:
            note = change.row.get("note")
            return f"is wrong{f': {one_line(note)}' if isinstance(note, str) else ''}"
        return "helped" if change.row.get("helped") is True else "did not help"
    if change.kind == "event":
        told = (change.row.get("type"), change.row.get("subject"))
        return one_line(" ".join(found for found in told if isinstance(found, str)))
    return next((one_line(found) for name in GIST if isinstance(found := change.row.get(name), str)), "")


def _in_markdown(answer: Difference) -> str:
    """Return what changed as Markdown; every text of the store is shown as code, so that nothing of it is markup."""
    lines = [f"**Memory:** {answer.summary or 'no change'}"]
    for action in SECTIONS:
        found = [change for change in answer.changes if change.action == action]
        if found:
            lines += ["", f"### {action.capitalize()}", ""]
        for change in found:
            gist = "" if change.fields else gist_of(change)
            lines.append(f"- {code(change.ref)}{f': {code(gist)}' if gist else ''}")
            lines += [f"  - {code(field.field)}: {' → '.join(map(code, values(field)))}" for field in change.fields]
    if answer.skipped:
        lines += ["", f"Left out: {count(answer.skipped, 'line')} that are not rows."]
    return "\n".join(lines)
