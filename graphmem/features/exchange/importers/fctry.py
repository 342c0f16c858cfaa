"""fctry: the run state ``state.json``, ``inbox.json``, and the entries of ``memory.md``."""

import re
from typing import Any

from pydantic import ValidationError

from graphmem.constants import IMPORT_NOTE_BYTES
from graphmem.core.foreign.reading import CAMEL, Fields, ForeignInput, Source, json_of, time_of
from graphmem.kernel.ledger.codec import complaint
from graphmem.kernel.model.run_state import RunState, with_texts
from graphmem.kernel.ndjson import Row
from graphmem.names import mark
from graphmem.patterns import lazy_re

NAME = "fctry"
HOLDS = "a folder .fctry, with state.json, inbox.json or memory.md"
ENTRY = lazy_re(r"^### (\S+) \| ([a-z-]+) \| (.*)$", re.MULTILINE)
FIELD = lazy_re(r"^\*\*([A-Za-z-]+):\*\* ?(.*)$")
STATE = {"currentCommand", "workflowStep", "specVersion", "completedSteps", "readinessSummary", "buildRun"}
OF_STATE = {"readinessSummary": "readiness", "timestamp": "at"}  # what graphmem calls otherwise
NAMED_FREELY = ("readiness", "agent_outputs")  # fields whose parts have names that the project chose
ITEM = {"id", "type", "content", "timestamp"}  # of an item of the inbox
MOVES = ("processing", "processed", "error", "incorporated")  # of an item of the inbox
DECISIONS = ("decision-record", "conversation-digest")
GONE = ("superseded", "consolidated")  # statuses of an entry that no longer counts


def is_meant(source: Source) -> bool:
    """Return whether a folder, or its ``.fctry``, holds what this module reads."""
    folder = _place_of(source)
    state, memory, inbox = (folder.below(name) for name in ("state.json", "memory.md", "inbox.json"))
    return (
        not STATE.isdisjoint((state.document if state else None) or {})
        or (memory is not None and ENTRY.search(_text_of(memory)) is not None)
        or any(isinstance(one, dict) and one.keys() >= ITEM for one in (_items_of(inbox) if inbox else None) or [])
    )


def _place_of(source: Source) -> Source:
    """Return the folder of fctry in a project, or the one that was named."""
    inner = Source(source.path / ".fctry")
    return inner if inner.is_folder else source


def read(source: Source) -> ForeignInput:
    """Return the inbox and the memory of a project."""
    reading, folder = ForeignInput(NAME), _place_of(source)
    state = folder.below("state.json")
    for name, value in sorted(((state.document if state else None) or {}).items()):
        _add_state(reading, name, value)
    if inbox := folder.below("inbox.json"):
        _add_inbox(reading, inbox)
    if memory := folder.below("memory.md"):
        text = _text_of(memory)
        parts = list(ENTRY.finditer(text))
        for one, after in zip(parts, [*parts[1:], None], strict=True):
            _add_entry(reading, one, text[one.end() : after.start() if after else len(text)])
    return reading


def _add_state(reading: ForeignInput, name: str, value: Any) -> None:
    """Add a field of the run state, where graphmem has one for it."""
    reading.read["state field"] += 1
    field, place = _snake(name), f"state.json: {name}"
    if field == "last_updated" or field not in RunState.model_fields:
        return reading.skip(place, "the run state has no such field")
    made = value if field in NAMED_FREELY else _snaked(value)
    if field == "build_run" and isinstance(made, dict) and isinstance(made.get("chunks"), list):
        made["chunks"] = [with_texts(one) for one in made["chunks"]]
    try:
        RunState.model_validate({field: made})
    except ValidationError as error:
        return reading.skip(place, f"it is no {field} of a run state: {complaint(error)[0]}")
    reading.run[field] = made
    return None


def _snake(name: str) -> str:
    """Return a name in camel case as graphmem writes it."""
    return OF_STATE.get(name) or CAMEL.sub("_", name).lower()


def _snaked(value: Any) -> Any:
    """Return a value with the names in it as graphmem writes them."""
    if isinstance(value, dict):
        return {_snake(name): _snaked(part) for name, part in value.items()}
    return [_snaked(part) for part in value] if isinstance(value, list) else value


def _text_of(memory: Source) -> str:
    """Return the text of the memory."""
    return memory.read(IMPORT_NOTE_BYTES).decode("utf-8", "replace")


def _items_of(inbox: Source) -> list[Any] | None:
    """Return what is in the list of an inbox; None where the file holds no list."""
    items = json_of(inbox.read())
    return items if isinstance(items, list) else None


def _add_inbox(reading: ForeignInput, inbox: Source) -> None:
    """Add the items of the inbox, as the events that added and moved them."""
    items = _items_of(inbox)
    if items is None:
        reading.read["item"] += 1
        return reading.skip(inbox.name, "it is not a list of items")
    for number, one in enumerate(items, 1):
        reading.read["item"] += 1
        fields = Fields(one if isinstance(one, dict) else {})
        place = f"{inbox.name}: {number}"
        identity, content, at = fields.text("id"), fields.text("content"), fields.time("timestamp")
        if identity is None or content is None or at is None:
            reading.skip(place, "an item needs an id, a content and a timestamp")
            continue
        status = fields.left.pop("status", "pending")
        data: Row = {"type": fields.left.pop("type", "feature"), "content": content, **fields.rest(NAME)}
        event = {"kind": "event", "id": identity, "type": "inbox-added", "at": at, "data": data}
        reading.add(event, place)
        if status in MOVES:
            moved = {"kind": "event", "id": f"{identity}:{status}", "type": "inbox-moved", "at": at}
            reading.add(moved | {"subject": identity, "data": {"to": status}}, place)
    return None


def _add_entry(reading: ForeignInput, head: "re.Match[str]", text: str) -> None:
    """Add an entry of the memory: a decision, a constraint for a preference, a pattern for a lesson."""
    reading.read["entry"] += 1
    time, sort, project = head.groups()
    place = f"memory.md: {time} {sort}"
    said = _fields_of(text)
    content = said.pop("Content", "").strip()
    if not content:
        return reading.skip(place, "it has no content")
    at = time_of(time)
    row: Row = {"sources": [reading.origin(f"{time}/{sort}/{mark(content)}")]} | ({"created_at": at} if at else {})
    if sort in DECISIONS:
        row |= {"kind": "decision", "decision": content}
    elif sort == "user-preference":
        row |= {"kind": "constraint", "constraint": content, "source": said.get("Authority", "user")}
    elif sort == "cross-project-lesson":
        row |= {"kind": "pattern", "trigger": said.get("Section") or content, "insight": content}
    else:
        return reading.skip(place, f"{sort!r} is not a type of entry that is known here")
    if said.get("Status") in GONE:
        row |= {"archived_at": at or "1970-01-01T00:00:00.000Z", "archive_reason": f"{said['Status']} in fctry"}
    return reading.add(row | {"x_fctry": {"type": sort, "project": project, **said}}, place)


def _fields_of(text: str) -> dict[str, Any]:
    """Return the fields of an entry; a line that begins none goes on with the one before it."""
    found: dict[str, Any] = {}
    name = ""
    for line in text.strip("\n").splitlines():
        if field := FIELD.match(line):
            name = field[1]
            found[name] = field[2]
        elif name:
            found[name] += f"\n{line}"
    return {key: value.strip() for key, value in found.items()}
