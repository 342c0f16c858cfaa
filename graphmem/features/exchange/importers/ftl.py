"""ftl: its SQLite database ``.ftl/ftl.db``, with failures, patterns, campaigns, workspaces and explorations."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from graphmem.core.foreign.reading import Fields, ForeignInput, Source, json_of, rings, slug_of
from graphmem.core.records.moves import PHASE_MOVES
from graphmem.errors import BadInput, Refused
from graphmem.kernel.model.campaign import CampaignStatus
from graphmem.kernel.model.field import TEXT_BYTES
from graphmem.kernel.model.task import TaskStatus, TaskType
from graphmem.kernel.ndjson import Row
from graphmem.kernel.system.foreign_sqlite import is_database, rows_of

NAME = "ftl"
HOLDS = "a SQLite database with the tables memory, memory_edge, campaign and workspace"
MADE = ("memory", "memory_edge", "campaign", "workspace", "exploration", "event", "phase_state")
OTHERS = ("archive", "plan", "benchmark", "explorer_result")  # tables of what follows from these, or is of a moment
NEEDED = {
    "memory": {"id", "type", "name"}, "memory_edge": {"from_id", "to_id"}, "campaign": {"id"},
    "workspace": {"campaign_id", "seq"},
}  # fmt: skip
DERIVED = ("embedding", "objective_embedding", "importance", "id")
SYMMETRIC = ("co_occurs", "variant")
INVERSE = {"solved_by": "solves", "caused_by": "causes"}
THOUSAND = 1_000  # tokens: graphmem counts them in thousands
MOST_REPORTS = 1_000  # of one memory, that are made of its counts
LARGEST = 2**53  # of a count
MOVED_AT = ("at", "timestamp", "started_at", "updated_at")  # fields with the time of a move from phase to phase
BLOCKED = "BLOCKED:"  # begins what a blocked workspace delivered


def is_meant(source: Source) -> bool:
    """Return whether a file is what this module reads."""
    head = source.read(16)
    return is_database(head) and {"memory", "workspace"} <= rows_of(source.read(), ("memory", "workspace")).keys()


def read(source: Source) -> ForeignInput:
    """Return what a database remembers."""
    log = source.path.with_name(f"{source.name}-wal")
    if log.exists() and log.stat().st_size:
        raise Refused(
            f"{source.name!r} is being written: what is in {log.name!r} is missing from it",
            hint="end what uses it, then import again",
        )
    tables = rows_of(source.read(), (*MADE, *OTHERS))
    for table, columns in NEEDED.items():
        if (
            missing := columns.difference(*(row.keys() for row in tables.get(table, ())[:1]))
            if tables.get(table)
            else ()
        ):
            raise BadInput(f"table {table!r} has no column {min(missing)!r}", hint="a database of ftl as it is now")
    reading = ForeignInput(NAME)
    refs = {row["id"]: f"{row['type']}/{slug_of(str(row['name']))}" for row in tables.get("memory", ())}
    for row in tables.get("memory", ()):
        _add_memory(reading, row, refs)
    for row in tables.get("memory_edge", ()):
        _add_edge(reading, f"memory_edge {row.get('id')}", refs, row)
    FtlCampaigns(reading, tables, frozenset(refs.values())).run()
    for row in tables.get("exploration", ()):
        _add_exploration(reading, row)
    for row in tables.get("event", ()):
        _add_event(reading, row)
    for row in tables.get("phase_state", ()):
        _add_phases(reading, row)
    for name in OTHERS:
        for row in tables.get(name, ()):
            reading.read[name] += 1
            reading.skip(f"{name} {row.get('id')}", "it is of a moment there, or follows from what is imported")
    return reading


def _fields_of(row: Mapping[str, Any]) -> Fields:
    """Return the columns of a row: JSON as what it says, without vectors and what is counted here."""
    kept = {name: value for name, value in row.items() if name not in DERIVED and not isinstance(value, bytes)}
    found = {name: json_of(value) if str(value)[:1] in ("[", "{") else value for name, value in kept.items()}
    return Fields({name: value if value is not None else kept[name] for name, value in found.items()})


def _times(fields: Fields, *names: str) -> Row:
    """Take times by their names; they are in UTC."""
    return {name: at for name in names if (at := fields.time(name)) is not None}


def _add_memory(reading: ForeignInput, row: Mapping[str, Any], refs: Mapping[int, str]) -> None:
    """Add a failure or a pattern, its reports, and the relations that it names."""
    kind, name = row.get("type"), str(row.get("name"))
    reading.read["memory"] += 1
    place = f"memory {row.get('id')}"
    if kind not in ("failure", "pattern"):
        return reading.skip(place, f"{kind!r} is neither a failure nor a pattern")
    fields = _fields_of(row)
    for taken in ("type", "name"):
        fields.left.pop(taken, None)
    record: Row = {"kind": kind, "name": slug_of(name), **_times(fields, "created_at")}
    record["sources"] = sorted({reading.origin(f"{kind}/{name}"), *fields.texts("source")})
    for field, column in (("trigger", "trigger"), ("fix" if kind == "failure" else "insight", "resolution")):
        record |= {field: text} if (text := fields.text(column)) else {}
    record |= {"match": text} if kind == "failure" and (text := fields.text("match")) else {}
    cost = fields.left.get("cost")
    if isinstance(cost, int | float) and cost >= 0:
        record["cost" if kind == "failure" else "saved"] = fields.left.pop("cost") / THOUSAND
    related, crossed = fields.left.pop("related_typed", None), fields.left.pop("cross_relationships", None)
    helped, failed = (fields.left.pop(f"times_{word}", 0) for word in ("helped", "failed"))
    counts = [number if isinstance(number, int) and number > 0 else 0 for number in (helped, failed)]
    if max(counts) > MOST_REPORTS:  # more than anybody made there; the counts go on from it
        record |= dict(zip(("helped", "failed"), (min(number, LARGEST) for number in counts), strict=True))
        counts = [0, 0]
    reading.add(record | fields.rest(NAME), place)
    ref = f"{kind}/{record['name']}"
    for is_helped, number in zip((True, False), counts, strict=True):
        for one in range(number):
            said = {"kind": "feedback", "ref": ref, "helped": is_helped, "note": "counted by ftl"}
            word = "helped" if is_helped else "failed"
            number_of = reading.origin(f"{kind}/{name}/{word}/{one + 1}")
            reading.add(said | {"id": number_of, "at": record.get("created_at", "1970-01-01T00:00:00.000Z")}, place)
    for own, others in ((related, kind), (crossed, "pattern" if kind == "failure" else "failure")):
        for word, names in (own if isinstance(own, dict) else {}).items():
            for other in names if isinstance(names, list) else []:
                reading.read["relation"] += 1
                link(reading, place, ref, word, f"{others}/{slug_of(str(other))}", refs, is_crossed=own is crossed)
    return None


def _add_edge(reading: ForeignInput, place: str, refs: Mapping[int, str], row: Mapping[str, Any]) -> None:
    """Add a relation with its weight."""
    reading.read["relation"] += 1
    source, target = refs.get(row["from_id"]), refs.get(row["to_id"])
    if source is None or target is None:
        reading.dangling += 1
        return
    link(reading, place, source, str(row.get("rel_type")), target, refs, weight=row.get("weight"))


def link(
    reading: ForeignInput,
    place: str,
    source: str,
    word: str,
    target: str,
    refs: Mapping[int, str],
    *,
    weight: object = None,
    is_crossed: bool = False,
) -> None:
    """Add an edge: of a failure that names a pattern as ``solves``, the pattern is what solves."""
    if target not in refs.values():
        reading.dangling += 1
        return None
    turned = word in INVERSE or (is_crossed and source.startswith("failure/") and word == "solves")
    if word == "solved_by":  # a pattern names the failure that it solves
        turned = source.startswith("failure/")
    word = INVERSE.get(word, word)
    source, target = (target, source) if turned else (source, target)
    if word in SYMMETRIC and target < source:
        source, target = target, source
    if source == target:
        return reading.skip(place, f"{source} is related to itself")
    row: Row = {"kind": "relation", "from": source, "type": word, "to": target}
    if word not in ("solves", "causes", "prerequisite", *SYMMETRIC):
        row["type"] = reading.relation_type(word, source.partition("/")[0], target.partition("/")[0])
    if isinstance(weight, int | float) and 0 < weight <= 2:
        row["weight"] = weight
    return reading.add(row, place)


def _add_exploration(reading: ForeignInput, row: Mapping[str, Any]) -> None:
    """Add an exploration, each mode as it was reported."""
    reading.read["exploration"] += 1
    place = f"exploration {row.get('id')}"
    fields = _fields_of(row)
    said = fields.text("objective")
    if said is None:
        return reading.skip(place, "it has no objective")
    record: Row = {
        "kind": "exploration",
        "objective": said,
        "sources": [reading.origin(f"exploration/{row.get('id')}")],
    }
    for mode in ("structure", "pattern", "memory", "delta"):
        value = fields.left.get(mode)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if value else ""
        if text and len(text.encode()) <= 16 * 1024:
            record[mode] = text
            del fields.left[mode]
    return reading.add(record | _times(fields, "created_at") | fields.rest(NAME), place)


def _add_event(reading: ForeignInput, row: Mapping[str, Any]) -> None:
    """Add something that happened."""
    reading.read["event"] += 1
    fields = _fields_of(row)
    place, sort, at = f"event {row.get('id')}", fields.text("event_type", 200), fields.time("timestamp")
    if sort is None or at is None:
        return reading.skip(place, "an event needs an event_type and a timestamp")
    number = reading.origin(f"event/{row.get('id')}")
    return reading.add({"kind": "event", "id": number, "type": sort, "at": at, "data": fields.left or None}, place)


def _add_phases(reading: ForeignInput, row: Mapping[str, Any]) -> None:
    """Add the moves that led to the phase of the work, or where none are noted, one to that phase."""
    reading.read["phase_state"] += 1
    fields, place, made = _fields_of(row).left, f"phase_state {row.get('id')}", 0
    noted = fields.get("transitions")
    now = {"to": fields.get("phase"), **{name: fields[name] for name in MOVED_AT if name in fields}}
    for number, one in enumerate(noted if isinstance(noted, list) and noted else [now]):
        move = Fields(one if isinstance(one, dict) else {})
        before, after = move.left.get("from") or "none", move.left.get("to")
        at = next(filter(None, map(move.time, MOVED_AT)), None)
        if before in PHASE_MOVES and after in PHASE_MOVES and at is not None:
            event = {"kind": "event", "id": reading.origin(f"phase/{row.get('id')}/{number}"), "type": "phase-moved"}
            reading.add(event | {"at": at, "data": {"from": before, "to": after}}, place)
            made += 1
    if not made:
        reading.skip(place, "it names no phase with a time")


class FtlCampaigns:
    """The campaigns of a database with their tasks: those that have a workspace, and those that are only planned."""

    def __init__(self, reading: ForeignInput, tables: Mapping[str, list[Row]], memories: frozenset[str]) -> None:
        self.reading, self.memories = reading, memories
        self.campaigns = {row["id"]: row for row in tables.get("campaign", ()) if isinstance(row["id"], int)}
        self.workspaces: dict[int, dict[str, Row]] = {number: {} for number in self.campaigns}
        for row in tables.get("workspace", ()):
            reading.read["workspace"] += 1
            if row["campaign_id"] in self.campaigns:
                self.workspaces[row["campaign_id"]][str(row["seq"])] = row
            else:
                reading.skip(f"workspace {row.get('id')}", f"campaign {row['campaign_id']} is not there")

    def run(self) -> None:
        """Make the rows of all campaigns."""
        for number, row in self.campaigns.items():
            self.reading.read["campaign"] += 1
            self.add(number, row)

    def add(self, number: int, row: Row) -> None:
        """Add a campaign and its tasks."""
        place, key = f"campaign {number}", f"ftl-{number}"
        fields = _fields_of(row)
        said = fields.text("objective")
        planned = fields.left.pop("tasks", [])
        record: Row = {
            "kind": "campaign", "name": key, "objective": said or f"Campaign {number}", **_times(fields, "created_at"),
            "sources": [self.reading.origin(f"campaign/{number}")],
            **fields.chosen("status", get_args(CampaignStatus)),
        }  # fmt: skip
        if record.get("status", "active") != "active":
            record |= _times(fields, "completed_at")
        for field in ("framework", "outcome"):
            record |= {field: text} if (text := fields.text(field)) else {}
        self.reading.add(record | fields.rest(NAME), place)
        listed = planned if isinstance(planned, list) else []
        tasks = {str(one["seq"]): one for one in listed if isinstance(one, dict) and one.get("seq") is not None}
        names = {seq: self.name(key, seq, tasks, number) for seq in {**tasks, **self.workspaces[number]}}
        needs = {seq: [one for one in _needs_of(tasks.get(seq, {})) if one in names] for seq in names}
        closing = rings(needs)
        for seq, name in names.items():
            depends = [f"task/{names[one]}" for one in needs[seq] if (seq, one) not in closing]
            self.reading.read["dependency"] += len(_needs_of(tasks.get(seq, {})))
            self.reading.dangling += len(_needs_of(tasks.get(seq, {}))) - len(needs[seq])
            for one in needs[seq]:
                if (seq, one) in closing:
                    self.reading.skip(place, f"task {seq} needs {one}, which waits for it already")
            self.add_task(number, seq, name, tasks.get(seq, {}), depends)

    def name(self, key: str, seq: str, tasks: Mapping[str, Row], number: int) -> str:
        """Return the key of a task."""
        slug = (self.workspaces[number].get(seq) or tasks.get(seq, {})).get("slug")
        return f"{key}/{seq[-3:].rjust(3, '0') if seq.isdigit() else '000'}-{slug_of(str(slug or seq))}"

    def add_task(self, number: int, seq: str, name: str, planned: Row, depends: list[str]) -> None:
        """Add a task: what its workspace says, and where it has none, what was planned."""
        self.reading.read["task"] += 1
        place = f"campaign {number} task {seq}"
        there = self.workspaces[number].get(seq, {})
        fields = Fields({**_fields_of(planned).left, **_fields_of(there).left})
        for taken in ("seq", "slug", "workspace_id", "campaign_id", "depends"):
            fields.left.pop(taken, None)
        record: Row = {
            "kind": "task", "name": name, "campaign": f"campaign/ftl-{number}", "depends": depends,
            "objective": fields.text("objective") or str(planned.get("slug") or seq),
            "sources": [self.reading.origin(f"task/{number}/{seq}")],
            **_times(fields, "created_at", "started_at", "completed_at", "blocked_at"),
            **fields.chosen("status", get_args(TaskStatus)), **fields.chosen("type", get_args(TaskType)),
        }  # fmt: skip
        for field in ("verify", "verify_source", "framework", "delivered", "blocked_reason"):
            record |= {field: text} if (text := fields.text(field)) else {}
        if record.get("status") == "blocked" and str(record.get("delivered")).startswith(BLOCKED):
            record["blocked_reason"] = record.pop("delivered").removeprefix(BLOCKED).strip() or "blocked"
        record |= {"delta": files} if (files := fields.texts("delta")) else {}
        record |= self.knowledge(fields)
        for field, most in (("budget", LARGEST), ("spent", LARGEST), ("framework_confidence", 1)):
            value = fields.left.get(field)
            if isinstance(value, int | float) and 0 <= value <= most:
                record[field] = float(fields.left.pop(field))
        self.reading.add(record | fields.rest(NAME), place, *(("depends", ref) for ref in depends))

    def knowledge(self, fields: Fields) -> Row:
        """Take what a workspace was given to work with, and what it used; what has another form stays as it is."""
        found: Row = {}
        idioms = fields.left.get("idioms")
        if isinstance(idioms, dict):
            taken = Fields({name: [one] if isinstance(one, str) else one for name, one in idioms.items()})
            made = {name: texts for name in ("required", "forbidden") if (texts := taken.texts(name))}
            if made and taken.left.keys().isdisjoint(("required", "forbidden")):
                found["idioms"] = {name: idioms[name] for name in taken.left} | made
                del fields.left["idioms"]
        for field in ("prior_knowledge", "utilized"):
            refs = list(_memories_in(fields.left.get(field)))
            if refs and self.memories.issuperset(refs):
                found[field] = sorted(set(refs))
                del fields.left[field]
        for field in ("lineage", "code_contexts"):
            value = fields.left.get(field)
            parts = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
            if field == "code_contexts":
                parts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in parts]
            if parts and all(len(str(one).encode("utf-8", "replace")) <= TEXT_BYTES for one in parts):
                found[field] = parts
                del fields.left[field]
        if "preflight" in fields.left:
            found["preflight"] = fields.left.pop("preflight")
        return found


def _memories_in(value: Any) -> Iterator[str]:
    """Yield the references of the memories that a workspace names, as objects with type and name, or by kind."""
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        yield f"{value.get('type')}/{slug_of(value['name'])}"
    elif isinstance(value, dict):
        for kind, listed in value.items():
            for one in listed if isinstance(listed, list) else []:
                yield from _memories_in({"type": kind.removesuffix("s"), **one} if isinstance(one, dict) else None)
    elif isinstance(value, list):
        for one in value:
            yield from _memories_in(one)


def _needs_of(task: Mapping[str, Any]) -> list[str]:
    """Return the numbers of the tasks that a planned task needs."""
    given = task.get("depends")
    found = given if isinstance(given, list) else [given]
    return [str(one) for one in found if one not in (None, "", "none")]
