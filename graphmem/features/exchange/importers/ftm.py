"""The blackboard of ftm: ``context.json``, ``experiences/*.json`` and ``patterns.json``."""

from collections.abc import Mapping
from typing import Any, get_args

from graphmem.core.foreign.reading import Fields, ForeignInput, Source
from graphmem.kernel.model.experience import Complexity, Confidence, ExperienceType, Outcome
from graphmem.kernel.ndjson import Row
from graphmem.kernel.system import safe_files
from graphmem.names import mark
from graphmem.patterns import lazy_re

NAME = "ftm"
HOLDS = "a blackboard folder, with context.json, experiences/ and patterns.json"
SAYS = ("insight", "pattern", "behavior", "issue", "description")  # where an entry of patterns.json says what it is
CATEGORIES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "codebase_insights": ("codebase_insight", ("file_pattern",)),
    "execution_patterns": ("execution_pattern", ("context", "outcome")),
    "user_behavior": ("user_behavior", ("context",)),
    "recurring_issues": ("recurring_issue", ("symptoms", "root_cause", "resolution")),
}
EXPERIENCE = {"task_type", "description", "approach"}  # what the file of an experience has
CHOICES = {
    "outcome": get_args(Outcome), "confidence": get_args(Confidence),
    "complexity_estimated": get_args(Complexity), "complexity_actual": get_args(Complexity),
}  # fmt: skip
MINUTES = {"m": 1.0, "h": 60.0, "d": 1440.0}
DURATION = lazy_re(r"\s*~?\s*(\d+(?:\.\d+)?)\s*(m|h|d)[a-z]*\s*")
SEEN = (("first_seen", "created_at"), ("last_seen", "last_reinforced", "updated_at"))  # its first and last time
FREQUENCIES = ("rarely", "sometimes", "usually", "always")


def is_meant(source: Source) -> bool:
    """Return whether a folder holds what this module reads."""
    context, patterns = source.below("context.json"), source.below("patterns.json")
    found = (context.document if context else None) or {}
    held = (patterns.document if patterns else None) or {}
    files = safe_files.files(source.path / "experiences") if source.is_folder else []
    experiences = (Source(path).document or {} for path in files if path.suffix == ".json" and path.stem != "index")
    return (
        not {"recent_decisions", "active_constraints"}.isdisjoint(found)
        or not CATEGORIES.keys().isdisjoint(held)
        or any(one.keys() >= EXPERIENCE for one in experiences)
    )


def read(source: Source) -> ForeignInput:
    """Return what a blackboard remembers."""
    reading = ForeignInput(NAME)
    context = source.below("context.json")
    _add_context(reading, (context.document if context else None) or {})
    for path in safe_files.files(source.path / "experiences"):
        if path.suffix == ".json" and path.stem != "index":
            _add_experience(reading, f"experiences/{path.name}", path.stem, Source(path).document)
    patterns = source.below("patterns.json")
    for group, entries in ((patterns.document if patterns else None) or {}).items():
        for number, one in enumerate(entries if isinstance(entries, list) else [entries], 1):
            _add_insight(reading, f"patterns.json: {group} {number}", group, one)
    return reading


def _add_context(reading: ForeignInput, context: Row) -> None:
    """Add the decisions and the constraints of a session."""
    for group, kind in (("recent_decisions", "decision"), ("active_constraints", "constraint")):
        given = context.get(group)
        for number, one in enumerate(given if isinstance(given, list) else [], 1):
            place = f"context.json: {group} {number}"
            reading.read[kind] += 1
            fields = Fields(one if isinstance(one, dict) else {kind: one})
            said = fields.text(kind)
            if said is None:
                reading.skip(place, f"it has no {kind}")
                continue
            row: Row = {"kind": kind, kind: said, "sources": [reading.origin(f"{kind}/{mark(said)}")]}
            row |= _texts(fields, ("reasoning",) if kind == "decision" else ("source",))
            for name, time in (("created_at", "timestamp"), ("expires_at", "expires_at")):
                if (name == "created_at" or kind == "constraint") and (at := fields.time(time)):
                    row[name] = at
            reading.add(row | fields.rest(NAME), place)
    for name in sorted(context.keys() - {"recent_decisions", "active_constraints"}):
        reading.read["session field"] += 1
        reading.skip(f"context.json: {name}", "it is of a session that is under way, not of the project")


def _texts(fields: Fields, names: tuple[str, ...]) -> Row:
    """Take texts by their names."""
    return {name: text for name in names if (text := fields.text(name)) is not None}


def _add_experience(reading: ForeignInput, place: str, name: str, given: Row | None) -> None:
    """Add an experience; it is called as its file is."""
    reading.read["experience"] += 1
    if given is None:
        return reading.skip(place, "it is not a JSON object")
    fields = Fields(given)
    sort = str(fields.left.get("task_type"))
    row: Row = {"kind": "experience", "name": name, "sources": [reading.origin(f"experiences/{name}")]}
    row |= _texts(fields, ("description", "approach"))
    row["task_type"] = fields.left.pop("task_type") if sort in get_args(ExperienceType) else "feature"
    lessons = fields.left.get("lessons")
    if isinstance(lessons, list) and all(isinstance(one, str) for one in lessons):
        row["lessons"] = fields.left.pop("lessons")
    for field, choices in CHOICES.items():
        row |= fields.chosen(field, choices)
    if found := DURATION.fullmatch(str(fields.left.get("time_taken"))):
        row["time_taken"] = float(found[1]) * MINUTES[found[2]]
        del fields.left["time_taken"]
    for field in ("capabilities_used", "tags"):
        row |= {field: taken} if (taken := fields.texts(field)) else {}
    row |= {"created_at": at} if (at := fields.time("recorded_at")) else {}
    return reading.add(row | fields.rest(NAME), place)


def _add_insight(reading: ForeignInput, place: str, group: str, given: Any) -> None:
    """Add an insight of the category that its group says."""
    reading.read["insight"] += 1
    if group not in CATEGORIES or not isinstance(given, dict):
        return reading.skip(place, f"an object in one of {', '.join(CATEGORIES)} would be an insight")
    category, parts = CATEGORIES[group]
    fields = Fields(given)
    said = next((text for name in SAYS if (text := fields.text(name)) is not None), None)
    if said is None:
        return reading.skip(place, f"it says nothing in {', '.join(SAYS)}")
    row: Row = {"kind": "insight", "category": category, "statement": said, "derived_from": []}
    row |= {"sources": [reading.origin(f"{category}/{mark(said)}")], **_texts(fields, parts)}
    row |= fields.chosen("frequency", FREQUENCIES) if category == "user_behavior" else {}
    count = fields.left.get("occurrences")
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        row["imported_occurrences"] = fields.left.pop("occurrences")
    if fields.left.get("confidence") in CHOICES["confidence"]:
        row["imported_confidence"] = fields.left.pop("confidence")
    first, last = (next(filter(None, map(fields.time, names)), None) for names in SEEN)
    row |= {"created_at": at} if (at := first or last) else {}
    row |= {"edited": {"imported_occurrences": last}} if first and last and last > first else {}
    return reading.add(row | fields.rest(NAME), place)
