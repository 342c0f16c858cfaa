"""
Open Knowledge Format, a folder of Markdown files of which each is a concept.

A decision, a pattern or a constraint by its type, an entity of any other type.
Source: the specification of versions 0.1 and 0.2.
"""

from collections.abc import Mapping
from typing import Any

from graphmem.importers.notes import MarkdownNote, fronts, notes_of
from graphmem.importers.reading import NO_TIME, Fields, ForeignInput, Source, is_item, slug_of
from graphmem.model.field import TEXT_BYTES, VALUE_BYTES
from graphmem.ndjson import Row

NAME = "okf"
HOLDS = "a folder of Markdown files, each with a type in its front matter"
RESERVED = ("index", "log")  # files that hold no concept
KINDS = {
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
    concepts: dict[str, tuple[MarkdownNote, str]] = {}
    for note in notes_of(source, reading):
        name, sort = note.path.rpartition("/")[2], note.front.get("type")
        if name in RESERVED:
            reading.read[f"{name} file"] += 1
            reading.skip(note.place, f"{name}.md is reserved, and holds no concept")
        elif not isinstance(sort, str) or not sort.strip():
            reading.read["other file"] += 1
            reading.skip(note.place, "its front matter has no type")
        else:
            reading.read["concept"] += 1
            kind = KINDS.get(sort.strip().lower())
            concepts[note.path] = (
                note,
                (f"{kind}/{slug_of(note.path)}" if kind else f"{reading.entity_type(sort)}/{note.path}"),
            )
    refs = {path: ref for path, (_, ref) in concepts.items()}
    for note, ref in concepts.values():
        add(reading, note, ref, refs)
    return reading


def add(reading: ForeignInput, note: MarkdownNote, ref: str, refs: Mapping[str, str]) -> None:
    """Add a concept, its reports, and its links."""
    fields = Fields(note.front)
    kind, _, name = ref.partition("/")
    created = time_in(note.front.get("generated"))
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
    said = texts_of(kind, note, fields)
    if kind in ("decision", "pattern", "constraint"):
        row |= {"kind": kind, "name": name, "key": name}
    else:
        row |= {"kind": "entity", "type": kind, "name": name}
    reading.add(row | said | fields.rest(NAME), note.place)
    add_reports(reading, note, ref)
    for path in note.links:
        reading.read["link"] += 1
        if path in refs:
            made = reading.relation_type("links_to", kind, refs[path].partition("/")[0])
            edge = {"kind": "relation", "from": ref, "type": made, "to": refs[path]}
            reading.add(edge | ({"created_at": created} if created else {}), note.place)
        else:
            reading.dangling += 1


def texts_of(kind: str, note: MarkdownNote, fields: Fields) -> Row:
    """Return the texts of a record; what does not fit into them is kept with what is left of the front matter."""
    title = fields.left.get("title")
    title = title if isinstance(title, str) else note.path.rpartition("/")[2]
    about = fields.left.get("description")
    about = about if isinstance(about, str) else ""
    if kind == "decision":
        return {"decision": title, **whole(fields, "reasoning", note.body, TEXT_BYTES)}
    if kind == "pattern":
        taken = fields.texts("tags")
        insight = whole(fields, "insight", note.body, TEXT_BYTES)
        day = fields.time("stale_after")
        made = {"trigger": about or title, "insight": insight.get("insight") or about or title, "tags": taken}
        return made | ({"check_after": day[:10]} if day else {})
    if kind == "constraint":
        return {"constraint": f"{title}: {about}" if about else title, **whole(fields, "", note.body, 0)}
    if len(f"{title}\n{about}\n\n{note.body}".encode()) <= VALUE_BYTES:
        return {"value": "\n".join(filter(None, [title, about, "\n" * bool(note.body) + note.body])).strip("\n")}
    short = f"{title}\n{about}".strip()
    return {"value": short[: VALUE_BYTES // 4], **whole(fields, "", note.body, 0)}


def whole(fields: Fields, name: str, text: str, most: int) -> Row:
    """Return a text as a field of a record if it fits; else keep it with what is left."""
    if text.strip() and len(text.encode()) <= most:
        return {name: text}
    if text.strip():
        fields.left["body"] = text
    return {}


def add_reports(reading: ForeignInput, note: MarkdownNote, ref: str) -> None:
    """Add a report for each time that a concept was verified."""
    given = note.front.get("verified")
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, dict) and (at := time_in(one)) is not None:
            who = str(one.get("by"))[:200]
            number = reading.origin(f"{note.path}:{who}:{at}")[:256]
            reading.add(
                {"kind": "feedback", "ref": ref, "helped": True, "at": at, "id": number, "note": f"verified by {who}"},
                note.place,
            )


def time_in(given: Any) -> str | None:
    """Return the time of an act, such as of ``generated``."""
    return Fields(given).time("at") if isinstance(given, dict) else None
