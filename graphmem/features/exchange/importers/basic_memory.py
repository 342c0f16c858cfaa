"""
Basic Memory: a folder of Markdown notes, with relations ``- type [[Target]]``.

A note is an entity ``note``, called by its title; a relation to a note that is not there yet waits for it.
"""

import re

from graphmem.core.foreign.notes import FENCED, MarkdownNote, fronts, notes_of
from graphmem.core.foreign.reading import Fields, ForeignInput, Source, one_line
from graphmem.kernel.model.field import ITEM_CHARACTERS, VALUE_BYTES
from graphmem.kernel.ndjson import Row
from graphmem.patterns import lazy_re

NAME = "basic-memory"
HOLDS = "a folder of Markdown notes, each with a title and a permalink in its front matter"
RELATION = lazy_re(r"^[ \t]*+[-*][ \t]++([^\[\]\n]*+)\[\[([^\]\n]++)\]\](?:[ \t]*+\(([^\n]*)\))?[ \t]*+$", re.MULTILINE)
WIKI_LINK = lazy_re(r"\[\[([^\]\n|]+)(?:\|[^\]\n]*)?\]\]")
OBSERVATION = lazy_re(r"^[ \t]*+[-*][ \t]++\[[^\]\n]++\][ \t]++\S", re.MULTILINE)
DEFAULT = "relates_to"  # the type of a relation without a word
LINKS = "links_to"  # the type of a link within a text


def is_meant(source: Source) -> bool:
    """Return whether a folder holds what this module reads."""
    return any(isinstance(front.get("permalink"), str) for front in fronts(source))


def read(source: Source) -> ForeignInput:
    """Return the notes of a folder, with their relations."""
    reading = ForeignInput(NAME)
    notes: dict[str, MarkdownNote] = {}
    names: dict[str, str] = {}  # by what a link may say: title, permalink, path
    reading.entity_type("note")
    for note in notes_of(source, reading):
        reading.read["note"] += 1
        reading.read["observation"] += len(OBSERVATION.findall(note.body))
        title, link = note.front.get("title"), note.front.get("permalink")
        name = one_line(title)[:ITEM_CHARACTERS] if isinstance(title, str) and title.strip() else ""
        name = name if name and name not in notes else note.path
        notes[name] = note
        for word in (title, link, note.path, note.path.rpartition("/")[2]):
            if isinstance(word, str):
                names.setdefault(word.strip().lower(), name)
    for name, note in notes.items():
        add(reading, name, note, names)
    return reading


def add(reading: ForeignInput, name: str, note: MarkdownNote, names: dict[str, str]) -> None:
    """Add a note, and its relations."""
    fields = Fields(note.front)
    created = fields.time("created")
    times = {"created_at": created} if created else {}
    link = note.front.get("permalink")
    number = link if isinstance(link, str) else note.path
    row: Row = {"kind": "entity", "type": "note", "name": name, "sources": [reading.origin(number)], **times}
    if len(note.body.encode()) <= VALUE_BYTES:
        row["value"] = note.body
    else:
        row["value"], fields.left["body"] = name, note.body
    reading.add(row | fields.rest(NAME), note.place)
    text = FENCED.sub("", note.body)
    for word, target, context in RELATION.findall(text):
        add_relation(reading, note, (name, word.strip() or DEFAULT, target), context, names, times)
    for target in WIKI_LINK.findall(RELATION.sub("", text)):
        add_relation(reading, note, (name, LINKS, target), "", names, times)


def add_relation(
    reading: ForeignInput,
    note: MarkdownNote,
    edge: tuple[str, str, str],
    context: str,
    names: dict[str, str],
    times: Row,
) -> None:
    """Add a relation of a note to another one, which may not be there yet."""
    reading.read["relation"] += 1
    name, word, target = edge
    end = names.get(target.partition("|")[0].strip().lower(), one_line(target)[:ITEM_CHARACTERS])
    if end == name:
        return reading.skip(note.place, f"{name!r} is related to itself")
    made = reading.relation_type(word, "note", "note")
    row: Row = {"kind": "relation", "from": f"note/{name}", "type": made, "to": f"note/{end}", **times}
    row |= {"note": context} if context else {}
    row |= {f"x_{NAME.replace('-', '_')}": {"type": word}} if made != word else {}
    return reading.add(row, note.place, may_wait=True)
