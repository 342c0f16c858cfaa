"""ArcheFlow: the lessons of its runs, which go on counting where they were, and those that it archived."""

from typing import get_args

from graphmem.core.foreign.reading import NO_TIME, Fields, ForeignInput, Source
from graphmem.kernel.model.lesson import LessonType, Severity
from graphmem.kernel.ndjson import Row

NAME = "archeflow"
HOLDS = "a lesson a line, with id, description, frequency and runs_since_last_seen"
FILE, ARCHIVE = "lessons.jsonl", "archive.jsonl"  # in the folder of its memory
OWN = {"id", "description", "frequency", "runs_since_last_seen"}


def is_meant(source: Source) -> bool:
    """Return whether a file, or the lessons of a folder, or those that it archived, hold what this module reads."""
    files = [source.below(name) for name in (FILE, ARCHIVE)] if source.is_folder else [source]
    return any(found is not None and (found.first_object or {}).keys() >= OWN for found in files)


def read(source: Source) -> ForeignInput:
    """Return the lessons of a file, or those of a folder with the archived ones."""
    reading = ForeignInput(NAME)
    names = (FILE, ARCHIVE) if source.is_folder else (source.name,)
    for name in names:
        file = source.below(name) if source.is_folder else source
        for place, line in file.objects(reading) if file is not None else ():
            add(reading, place, line, is_archived=name == ARCHIVE)
    return reading


def add(reading: ForeignInput, place: str, line: Row, *, is_archived: bool) -> None:
    """Add a lesson, with what it has been counted to."""
    reading.read["lesson"] += 1
    fields = Fields(line)
    number, said = fields.text("id"), fields.text("description")
    if number is None or said is None:
        return reading.skip(place, "a lesson needs an id and a description, both texts")
    row: Row = {"kind": "lesson", "description": said, "sources": [reading.origin(number)], "aliases": [number]}
    at = fields.time("ts")
    row |= {"created_at": at} if at else {}
    row |= {"tags": tags} if (tags := fields.texts("tags")) else {}
    row |= {name: text for name in ("source", "domain") if (text := fields.text(name)) is not None}
    for name, choices in (("type", get_args(LessonType)), ("severity", get_args(Severity))):
        row |= fields.chosen(name, choices)
    if row.get("type") == "archetype_hint" and (who := fields.text("archetype")):
        row["archetype"] = who
    elif row.get("type") == "archetype_hint":  # nothing says for whom
        fields.left["type"] = row.pop("type")
    for name in ("frequency", "runs_since_last_seen"):
        value = fields.left.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            row[name] = fields.left.pop(name)
    row |= {"last_seen_run": run} if (run := fields.text("last_seen_run")) else {}
    row |= {"archived_at": at or NO_TIME, "archive_reason": "archived in ArcheFlow"} if is_archived else {}
    return reading.add(row | fields.rest(NAME), place)
