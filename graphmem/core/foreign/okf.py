"""
Open Knowledge Format, a folder of Markdown files of which each is a concept.

A decision, a pattern or a constraint by its type, an entity of any other type; a failure and a lesson on a page that
graphmem wrote, which says so at its end.
Source: the specification of versions 0.1 and 0.2.
"""

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphmem.constants import IMPORT_FILES
from graphmem.core.foreign.notes import MarkdownNote, front_text, fronts, notes_of
from graphmem.core.foreign.reading import (
    NO_TIME,
    OWN,
    Fields,
    ForeignInput,
    Source,
    is_item,
    kept_in,
    own_fields,
    ref_in,
    slug_of,
    type_name,
    with_own,
)
from graphmem.errors import Refused
from graphmem.kernel.model.field import TEXT_BYTES, VALUE_BYTES
from graphmem.kernel.model.vocabulary import RESERVED as RESERVED_TYPES
from graphmem.kernel.ndjson import BadLine, Row, decode, encode
from graphmem.names import inert, mark, visible
from graphmem.patterns import lazy_re

NAME = "okf"
KINDS = ("decision", "pattern", "constraint", "failure", "lesson", "entity")  # of records that the form holds
TRIGGERED = {"pattern": "insight", "failure": "fix"}  # kinds that a description is the trigger of: what the text is
HOLDS = "a folder of Markdown files, each with a type in its front matter"
KEPT = "x_okf"  # the field of what has no place of its own
OWN_LINE = lazy_re(rf"^<!-- {OWN}: (.*) -->\Z", re.MULTILINE)  # ends a page that graphmem wrote
MOST_LINKS = 500  # of the relations of such a page, those that are links too
RELATED = "## Related"  # above the links that graphmem wrote for edges, at the end of a page
LINKS = lazy_re(rf"(?:\A|\n\n){RELATED}\n\n(?:- [a-z0-9_]+: \[[^\]\n]*\]\([^)\s]+\.md\)(?:\n|\Z))+\Z")
PLAIN_PATH = lazy_re(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
FRONT_CHARS = 16 * 1024  # of the front matter of a page that is written; twice as much is read
RELATION_BYTES = 2**19  # of the relations at the end of such a page; a page of twice as much is read
RESERVED = ("index", "log")  # files that hold no concept
KINDS_OF = {
    "decision": "decision", "adr": "decision", "pattern": "pattern", "playbook": "pattern", "runbook": "pattern",
    "constraint": "constraint", "policy": "constraint", "rule": "constraint",
}  # fmt: skip
FAMILIES = frozenset({"generated", "verified", "description", "resource", "stale_after"})


def is_meant(source: Source) -> bool:
    """Return whether a folder holds what this module reads."""
    return any(
        isinstance(front.get("type"), str) and not FAMILIES.isdisjoint(front) and "permalink" not in front
        for front in fronts(source)
    )


def read(source: Source) -> ForeignInput:
    """Return the concepts of a bundle, with the links between them."""
    reading = ForeignInput(NAME)
    concepts: dict[str, tuple[MarkdownNote, str, Row]] = {}
    for page in notes_of(source, reading):
        note, own = _own_of(page)
        name, sort = note.path.rpartition("/")[2], note.front.get("type")
        if name in RESERVED:
            reading.read[f"{name} file"] += 1
            reading.skip(note.place, f"{name}.md is reserved, and holds no concept")
        elif not isinstance(sort, str) or not sort.strip():
            reading.read["other file"] += 1
            reading.skip(note.place, "its front matter has no type")
        else:
            reading.read["concept"] += 1
            concepts[note.path] = note, _ref_of(reading, note, own), own
    refs = {path: ref for path, (_, ref, _) in concepts.items()}
    for note, ref, own in concepts.values():
        add(reading, note, ref, refs, own)
    return reading


def _own_of(note: MarkdownNote) -> tuple[MarkdownNote, Row]:
    """Return a page without the line and the links that graphmem wrote at its end, and what that line says."""
    found = OWN_LINE.search(note.body)
    if found is None:
        return note, {}
    try:
        own = decode(found[1].encode())
    except BadLine:
        return note, {}
    body = note.body[: found.start()].rstrip("\n")
    return replace(note, body=LINKS.sub("", body) if own.get("relations") else body), own


def _ref_of(reading: ForeignInput, note: MarkdownNote, own: Row) -> str:
    """Return the reference of the record that a concept is; one that graphmem wrote may say it."""
    given = own.get("ref")
    sort, _, name = given.partition("/") if isinstance(given, str) else (str(note.front["type"]), "", "")
    kind = (sort if sort in KINDS else None) if name else KINDS_OF.get(sort.strip().lower())
    if kind is None:
        return f"{reading.entity_type(sort)}/{name or note.path}"
    return f"{kind}/{name or slug_of(note.path)}"


def add(reading: ForeignInput, note: MarkdownNote, ref: str, refs: Mapping[str, str], own: Row) -> None:
    """Add a concept, its reports, and its links."""
    row = _row_of(reading, note, ref, refs)
    reading.add(with_own(row, kept_in(own, "fields")), note.place)
    _add_reports(reading, note, ref)
    given = own.get("relations")
    edges = _links_of(reading, note, ref, refs) if not isinstance(given, list) else _own_relations(reading, ref, given)
    for edge in edges:
        reading.read["link"] += 1
        if edge["to"] is None:
            reading.dangling += 1
        else:
            reading.add(edge, note.place)


def _row_of(reading: ForeignInput, note: MarkdownNote, ref: str, refs: Mapping[str, str]) -> Row:
    """Return the row of a concept."""
    fields = Fields(note.front)
    kind, _, name = ref.partition("/")
    created = _time_in(note.front.get("generated"))
    sources = note.front.get("sources")
    named = [one.get("resource") for one in sources if isinstance(one, dict)] if isinstance(sources, list) else []
    row: Row = {"sources": sorted({reading.origin(note.path), *filter(is_item, named)})}
    if created:
        row["created_at"] = created
    if note.front.get("status") == "deprecated":
        row |= {"archived_at": created or NO_TIME, "archive_reason": "deprecated"}
        del fields.left["status"]
    if isinstance(new := note.front.get("superseded_by"), str) and new.removesuffix(".md") in refs:
        row |= {"archived_at": created or NO_TIME, "superseded_by": refs[new.removesuffix(".md")]}
    said = _texts_of(kind, note, fields)
    if kind in KINDS and kind != "entity":
        row |= {"kind": kind, "name": name, "key": name}
    else:
        row |= {"kind": "entity", "type": kind, "name": name}
    return row | said | fields.rest(NAME)


def _links_of(reading: ForeignInput, note: MarkdownNote, ref: str, refs: Mapping[str, str]) -> Iterable[Row]:
    """Yield an edge for each link of a page; one to what is not there leads nowhere."""
    created = _time_in(note.front.get("generated"))
    for path in note.links:
        target = refs.get(path)
        made = target and reading.relation_type("links_to", ref.partition("/")[0], target.partition("/")[0])
        edge = {"kind": "relation", "from": ref, "type": made, "to": target}
        yield edge | ({"created_at": created} if created else {})


def _own_relations(reading: ForeignInput, ref: str, given: Iterable[object]) -> Iterable[Row]:
    """Yield the edges that graphmem wrote for a page, in the place of its links."""
    for one in given:
        if isinstance(one, dict) and isinstance(one.get("to"), str) and isinstance(one.get("type"), str):
            if one["type"] not in RESERVED_TYPES:
                reading.relation_type(one["type"], ref.partition("/")[0], one["to"].partition("/")[0])
            yield {**one, "kind": "relation", "from": ref}


def _texts_of(kind: str, note: MarkdownNote, fields: Fields) -> Row:
    """Return the texts of a record; what does not fit into them is kept with what is left of the front matter."""
    title = fields.left.get("title")
    title = title if isinstance(title, str) else note.path.rpartition("/")[2]
    about = fields.left.get("description")
    about = about if isinstance(about, str) else ""
    if kind == "decision":
        return {"decision": title, **_whole(fields, "reasoning", note.body, TEXT_BYTES)}
    if kind == "lesson":
        return {"description": title, **_whole(fields, "", note.body, 0)}
    if kind in TRIGGERED:
        made: Row = {"trigger": about or title, "tags": fields.texts("tags")}
        made |= {"insight": made["trigger"]} if kind == "pattern" else {}
        made |= _whole(fields, TRIGGERED[kind], note.body, TEXT_BYTES)
        day = fields.time("stale_after")
        return made | ({"check_after": day[:10]} if day else {})
    if kind == "constraint":
        return {"constraint": f"{title}: {about}" if about else title, **_whole(fields, "", note.body, 0)}
    if len(f"{title}\n{about}\n\n{note.body}".encode()) <= VALUE_BYTES:
        return {"value": "\n".join(filter(None, [title, about, "\n" * bool(note.body) + note.body])).strip("\n")}
    short = f"{title}\n{about}".strip()
    return {"value": short[: VALUE_BYTES // 4], **_whole(fields, "", note.body, 0)}


def _whole(fields: Fields, name: str, text: str, most: int) -> Row:
    """Return a text as a field of a record if it fits; else keep it with what is left."""
    if text.strip() and len(text.encode()) <= most:
        return {name: text}
    if text.strip():
        fields.left["body"] = text
    return {}


def _add_reports(reading: ForeignInput, note: MarkdownNote, ref: str) -> None:
    """Add a report for each time that a concept was verified."""
    given = note.front.get("verified")
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, dict) and (at := _time_in(one)) is not None:
            who = str(one.get("by"))[:200]
            number = reading.origin(f"{note.path}:{who}:{at}")[:256]
            reading.add(
                {"kind": "feedback", "ref": ref, "helped": True, "at": at, "id": number, "note": f"verified by {who}"},
                note.place,
            )


def _time_in(given: Any) -> str | None:
    """Return the time of an act, such as of ``generated``."""
    return Fields(given).time("at") if isinstance(given, dict) else None


def written(records: Sequence[Row], relations: Sequence[Row]) -> tuple[dict[str, str], Counter[str]]:
    """
    Return a page for each record, by its path.

    What reading a page alone would make otherwise is in a comment at its end: fields, and edges that are not its links.

    Raises:
        Refused: there are more than a reader takes.
    """
    if len(records) > IMPORT_FILES:
        message = f"{len(records):,} records are more than the {IMPORT_FILES:,} pages that a bundle can have"
        raise Refused(message, hint="name kinds with --kind")
    rows = {ref_in(row): row for row in records}
    paths = _paths_of(rows)
    refs = {path: ref for ref, path in paths.items()}
    edges: dict[str, list[Row]] = {ref: [] for ref in rows}
    for row in relations:
        if row["from"] in rows and row["to"] in rows:
            edges[row["from"]].append(row)
    counts = Counter(row["kind"] for row in records)
    pages = {}
    for ref, row in rows.items():
        note = _note_of(row, paths[ref])
        own, kept = _own_in(note, row, refs, edges[ref])
        counts["relation"] += kept
        related = [_link(note, edge, paths) for edge in own.get("relations", ())[:MOST_LINKS]]
        pages[f"{note.path}.md"] = _page_of(note, own, related)
    return pages, +counts


def _paths_of(rows: Mapping[str, Row]) -> dict[str, str]:
    """Return the path of each record's page: the path that it was imported from, or one made from its name."""
    paths: dict[str, str] = {}
    taken: set[str] = set()
    for ref, row in rows.items():
        start = f"{NAME}:"
        given = next((one.removeprefix(start) for one in row.get("sources", ()) if one.startswith(start)), "")
        sort, name = ref.partition("/")[0], str(row["name"])
        path = given if PLAIN_PATH.fullmatch(given) and ".md" not in given else f"{sort}/{slug_of(name)}"
        if path.casefold() in taken or path.rpartition("/")[2] in RESERVED:
            path = f"{sort}/{mark(ref)}-{len(taken)}"
        taken.add(path.casefold())
        paths[ref] = path
    return paths


def _note_of(row: Row, path: str) -> MarkdownNote:
    """Return the page of a record, with the front matter that it came with, if it did."""
    kept = kept_in(row, KEPT)
    title, about, body = _said_in(row, kept)
    word = str(kept.get("type", ""))
    sort = row["type"] if row["kind"] == "entity" else row["kind"]
    is_same = (KINDS_OF.get(word.strip().lower()) or type_name(word)) == sort if word.strip() else False
    front: Row = {"type": word if is_same else sort, "title": title, "description": about}
    front |= {"generated": {"at": row["created_at"]}} if not kept else {}
    front |= {name: value for name, value in kept.items() if name not in ("body", "type")}
    front |= {"status": "deprecated"} if "archived_at" in row else {}
    front |= {"tags": row["tags"]} if row["kind"] in TRIGGERED and "tags" in row else {}
    front |= {"stale_after": row["check_after"]} if "check_after" in row else {}
    front = {name: value for name, value in front.items() if value not in ("", None)}
    if len(json.dumps(front)) > FRONT_CHARS:
        front = {"type": sort, "generated": {"at": row["created_at"]}}
    return MarkdownNote(path, f"{path}.md", front, visible(body).strip("\n"))


def _said_in(row: Row, kept: Row) -> tuple[str, str, str]:
    """Return the title, the description and the text of a page."""
    body = str(kept.get("body", ""))
    if row["kind"] == "decision":
        return row["decision"], "", row.get("reasoning", body)
    if row["kind"] in TRIGGERED:
        return "" if kept else row["name"], row["trigger"], row.get(TRIGGERED[row["kind"]], body)
    if row["kind"] in ("constraint", "lesson"):
        return row.get("constraint") or row["description"], "", body
    value = str(row.get("value", ""))
    if kept:
        start = "\n".join(str(kept[name]) for name in ("title", "description") if kept.get(name))
        return "", "", value.removeprefix(start).strip("\n") or body
    title, _, rest = value.partition("\n")
    return title, "", rest


def _own_in(note: MarkdownNote, row: Row, refs: Mapping[str, str], edges: Sequence[Row]) -> tuple[Row, int]:
    """Return what reading a page alone would make otherwise, and how many edges the page holds."""
    ref, reading = ref_in(row), ForeignInput(NAME)
    own: Row = {} if _ref_of(reading, note, {}) == ref else {"ref": ref}
    fields = own_fields(_row_of(reading, note, ref, refs), row)
    own |= {"fields": fields} if fields else {}
    links = [edge for edge in _links_of(reading, note, ref, refs) if edge["to"] is not None]
    if sorted(map(encode, links)) == sorted(map(encode, edges)):
        return own, len(edges)
    room, kept = RELATION_BYTES, []
    for edge in edges:
        room -= len(encode(edge)) + 1
        if room < 0:
            break
        kept.append({name: value for name, value in edge.items() if name not in ("kind", "from")})
    return {**own, "relations": kept}, len(kept)


def _link(note: MarkdownNote, edge: Row, paths: Mapping[str, str]) -> str:
    """Return an edge as a line of its page: a link to the page that it leads to."""
    path = paths[edge["to"]]
    return f"- {edge['type']}: [{path}]({posixpath.relpath(f'{path}.md', posixpath.dirname(note.path) or '.')})\n"


def _page_of(note: MarkdownNote, own: Row, related: Sequence[str]) -> str:
    """Return the text of a page."""
    parts = [front_text(note.front), note.body]
    parts += [f"{RELATED}\n\n{''.join(related)}".rstrip("\n")] if related else []
    if own or OWN_LINE.search(note.body):
        safe = inert(encode(own).decode()).replace("<", "\\u003c").replace(">", "\\u003e")
        parts.append(f"<!-- {OWN}: {safe} -->")
    return "\n\n".join(filter(None, parts)) + "\n"
