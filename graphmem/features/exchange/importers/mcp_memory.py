"""
The reference memory server of the Model Context Protocol: a JSON line for each entity and each relation.

A failure, a pattern, a lesson, a decision or a constraint is an entity of that type, called by its reference, with its
texts as observations, ``fix: …``. The server drops fields that it does not know: the form alone says what it is.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from graphmem.core.foreign.reading import (
    OWN,
    Fields,
    ForeignInput,
    Source,
    kept_in,
    own_fields,
    ref_in,
    take_own,
    with_own,
)
from graphmem.errors import Refused
from graphmem.kernel.model.field import VALUE_BYTES
from graphmem.kernel.model.relation import MAX_WEIGHT
from graphmem.kernel.model.vocabulary import BUILT_IN_RELATIONS, RESERVED
from graphmem.kernel.ndjson import Row, encode
from graphmem.names import text_key

NAME = "mcp-memory"
TEXTS = {  # of the kinds that are entities of their own type, the fields that are observations, the first always there
    "failure": ("trigger", "fix", "symptom"), "pattern": ("trigger", "insight"), "lesson": ("description",),
    "decision": ("decision", "reasoning"), "constraint": ("constraint",),
}  # fmt: skip
KINDS = ("entity", *TEXTS)  # of records that the form holds
HOLDS = "a JSON line for each entity (name, entityType, observations) and relation (from, to, relationType)"
KEPT = "x_mcp_memory"  # the field of what has no place of its own
OBSERVATION = "observation"  # the type of an observation that does not fit into the value of its entity


def is_meant(source: Source) -> bool:
    """Return whether a file holds what this module reads."""
    found = source.first_object or {}
    return _is_graph(source) or {"name", "entityType"} <= found.keys() or {"from", "to", "relationType"} <= found.keys()


def read(source: Source) -> ForeignInput:
    """Return the entities and relations of a file."""
    reading = ForeignInput(NAME)
    lines = _lines_of(source.document or {}) if _is_graph(source) else source.objects(reading)
    _read_lines(reading, _united(reading, lines))
    return reading


def _is_graph(source: Source) -> bool:
    """Return whether a file holds the whole graph as one document, as the server's ``read_graph`` prints it."""
    graph = source.document or {}
    return isinstance(graph.get("entities"), list) and isinstance(graph.get("relations"), list)


def _lines_of(graph: Row) -> Iterator[tuple[str, Row]]:
    """Yield the entities and relations of a graph as the server prints it, each with its place."""
    for part in ("entities", "relations"):
        listed = graph.get(part)
        for number, one in enumerate(listed if isinstance(listed, list) else (), 1):
            if isinstance(one, dict):
                yield f"{part} {number}", one


def _united(reading: ForeignInput, lines: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """Yield lines, those of one entity as one with the observations of all: unions of branches leave several."""
    entities: dict[tuple[str, str], tuple[str, Row]] = {}
    others: list[tuple[str, Row]] = []
    for place, line in lines:
        key = str(line.get("name")), str(line.get("entityType"))
        more = line.get("observations")
        if "entityType" not in line or not isinstance(more, list):
            others.append((place, line))
        elif key in entities:
            reading.read["entity"] += 1
            known = entities[key][1]["observations"]
            fresh = [one for one in more if one not in known]
            reading.read["observation"] += len(more) - len(fresh)
            known += fresh
        else:
            entities[key] = place, {**line, "observations": [*more]}
    yield from entities.values()
    yield from others


def _read_lines(reading: ForeignInput, lines: Iterable[tuple[str, Row]]) -> None:
    """Read entities and relations, each with its place."""
    refs: dict[str, str] = {}  # by name: relations name an entity alone, and mean the first of its name
    relations: list[tuple[str, Row]] = []
    for place, line in lines:
        if "relationType" in line:
            relations.append((place, line))
        elif "entityType" in line:
            add_entity(reading, place, line, refs)
        else:
            reading.read["line"] += 1
            reading.skip(place, "it is neither an entity nor a relation: no entityType, no relationType")
    for place, line in relations:
        add_relation(reading, place, line, refs)


def _kind_of(line: Row, own: Row) -> str | None:
    """Return the kind of the record that graphmem wrote an entity for; None of any other entity."""
    kind, name, given = own.get("kind", line.get("entityType")), line.get("name"), line.get("observations")
    if not isinstance(kind, str) or kind not in TEXTS or not isinstance(name, str) or not isinstance(given, list):
        return None
    is_said = any(isinstance(one, str) and one.startswith(f"{TEXTS[kind][0]}: ") for one in given)
    return kind if is_said and name.startswith(f"{kind}/") else None


def _add_record(reading: ForeignInput, place: str, line: Row, refs: dict[str, str]) -> None:
    """Add a record that graphmem wrote as an entity; observations that are not its texts are kept."""
    own = take_own(line)
    fields, kind = Fields(line), str(_kind_of(line, own))
    _, _, name = str(fields.left.pop("name")).partition("/")
    created = fields.time("createdAt")
    row: Row = {"kind": kind, "name": name, "sources": [reading.origin(line["name"])]}
    row |= {"created_at": created} if created else {}
    rest = []
    for one in fields.left.pop("observations"):
        word, sign, text = one.partition(": ") if isinstance(one, str) else ("", "", "")
        if sign and word in TEXTS[kind] and word not in row:
            row[word] = text
        else:
            rest.append(one)
    fields.left |= {"observations": rest} if rest else {}
    for name_of_field, value in (("type", "entity"), ("entityType", kind)):
        if fields.left.get(name_of_field) == value:
            fields.left.pop(name_of_field)
    refs.setdefault(line["name"], f"{kind}/{own.get('key', name)}")
    reading.add(with_own(row | fields.rest(NAME), own), place)


def add_entity(reading: ForeignInput, place: str, line: Row, refs: dict[str, str]) -> None:
    """Add an entity with its observations, or the record that graphmem wrote as one."""
    reading.read["entity"] += 1
    given = line.get("observations")
    reading.read["observation"] += len(given) if isinstance(given, list) else 0
    if _kind_of(line, kept_in(line, OWN)) is not None:
        return _add_record(reading, place, line, refs)
    own = take_own(line)
    fields = Fields(line)
    fields.left.pop("type", None)
    name, word = fields.text("name"), fields.text("entityType")
    if name is None or word is None:
        return reading.skip(place, "an entity needs a name and an entityType, both texts")
    kind = reading.entity_type(word)
    refs.setdefault(name, f"{kind}/{own.get('key', name)}")
    if kind != word:
        fields.left["entityType"] = word
    created = fields.time("createdAt")
    times = {"created_at": created} if created else {}
    texts = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    value = "\n".join(texts)
    is_kept = len(value.encode()) <= VALUE_BYTES
    if is_kept and texts == given and value.split("\n") == texts:
        fields.left.pop("observations")
    row: Row = {"kind": "entity", "type": kind, "name": name, "sources": [reading.origin(name)], **times}
    if is_kept and value:
        row["value"] = value
    reading.add(with_own(row | fields.rest(NAME), own), place)
    if not is_kept:
        for text in texts:
            _add_observation(reading, place, text, f"{kind}/{name}", times)
    return None


def _add_observation(reading: ForeignInput, place: str, text: str, ref: str, times: Row) -> None:
    """Add an observation as an entity of its own, with an edge to what it is of."""
    name = text_key(text[:60], f"{ref} {text}")
    kind = reading.entity_type(OBSERVATION)
    row = {"kind": "entity", "type": kind, "name": name, "value": text, "sources": [reading.origin(f"{kind}/{name}")]}
    reading.add(row | times, place)
    made = reading.relation_type("observation_of", kind, ref.partition("/")[0])
    reading.add({"kind": "relation", "from": f"{kind}/{name}", "type": made, "to": ref, **times}, place)


def add_relation(reading: ForeignInput, place: str, line: Row, refs: dict[str, str]) -> None:
    """Add a relation, of a type that is declared from what occurs."""
    reading.read["relation"] += 1
    own = take_own(line)
    fields = Fields(line)
    fields.left.pop("type", None)
    source, target, word = fields.text("from"), fields.text("to"), fields.text("relationType")
    if source is None or target is None or word is None:
        return reading.skip(place, "a relation needs from, to and relationType, all texts")
    if source not in refs or target not in refs:
        reading.dangling += 1
        return None
    if source == target:
        return reading.skip(place, f"{source!r} is related to itself")
    ends = refs[source], refs[target]
    sorts = [ref.partition("/")[0] for ref in ends]
    made = own.get("type") if own.get("type") in RESERVED else None  # a type that every project has
    made = made or (word if word in BUILT_IN_RELATIONS and not TEXTS.keys().isdisjoint(sorts) else None)
    made = made or reading.relation_type(word, *sorts)
    if made != word:
        fields.left["relationType"] = word
    created = fields.time("createdAt")
    row: Row = {
        "kind": "relation",
        "from": ends[0],
        "type": made,
        "to": ends[1],
        **({"created_at": created} if created else {}),
    }
    row |= {"note": note} if (note := fields.text("note")) else {}
    if isinstance(weight := fields.left.get("weight"), int | float) and 0 < weight <= MAX_WEIGHT:
        row["weight"] = fields.left.pop("weight")
    return reading.add(with_own(row | fields.rest(NAME), own), place)


def written(entities: Sequence[Row], relations: Sequence[Row]) -> tuple[dict[str, str], Counter[str]]:
    """
    Return live records, and the relations between them, as the server keeps them.

    Raises:
        Refused: two of them have one name, by which the server tells them apart.
    """
    live = [row for row in entities if "archived_at" not in row]
    parts = {ref_in(row) for row in live if _is_part(row)}
    names: dict[str, str] = {}
    taken: set[str] = set()
    lines: list[Row] = []
    rows: list[Row] = []
    for row in live:
        ref, name = ref_in(row), row["name"] if row["kind"] == "entity" else f"{row['kind']}/{row['name']}"
        if ref in parts:
            continue
        if name in taken:
            message = f"two entities are called {name!r}, and mcp-memory has one of a name"
            raise Refused(message, hint="rename one with: graphmem rename")
        taken.add(name)
        names[ref] = name
        lines.append({"type": "entity", "name": name, **_said_in(row), "createdAt": row["created_at"]})
        rows.append(row)
    for row in relations:
        if row["from"] in names and row["to"] in names:
            more: Row = {name: row[name] for name in ("weight", "note") if name in row}
            kept = {"relationType": row["type"], **more, **_kept_of(row)}
            ends = {"from": names[row["from"]], "to": names[row["to"]]}
            lines.append({"type": "relation", **ends, **kept, "createdAt": row["created_at"]})
            rows.append(row)
    counts = Counter(row["kind"] for row in rows) + Counter(entity=len(parts))
    counts["relation"] += sum(row["from"] in parts for row in relations)
    return {"memory.jsonl": "".join(f"{encode(line).decode()}\n" for line in _with_own_fields(lines, rows))}, counts


def _with_own_fields(lines: Sequence[Row], rows: Sequence[Row]) -> Iterator[Row]:
    """Yield lines, each with the fields of its row that reading it alone would make otherwise."""
    reading = ForeignInput(NAME)
    _read_lines(reading, ((str(number), dict(line)) for number, line in enumerate(lines)))
    made = {int(draft.place): draft.row for draft in reversed(reading.drafts)}  # the first of each place
    for number, (line, row) in enumerate(zip(lines, rows, strict=True)):
        own = kept_in(line, OWN) | own_fields(made[number], row)
        yield {**line, OWN: own} if own else line


def _kept_of(row: Row) -> Row:
    """Return the fields of a line that have no place in its row."""
    return {name: value for name, value in kept_in(row, KEPT).items() if name not in ("name", "from", "to", OWN)}


def _said_in(row: Row) -> Row:
    """Return what an entity says of a record; where its form alone would say another kind, with the kind."""
    kept, kind = _kept_of(row), row["kind"]
    if kind == "entity":
        said = {"entityType": row["type"], "observations": _observations(row), **kept}
    else:
        texts = [f"{name}: {row[name]}" for name in TEXTS[kind] if name in row]
        more = kept.pop("observations", [])
        said = {"entityType": kind, **kept, "observations": [*texts, *(more if isinstance(more, list) else [])]}
    line = {"name": row["name"] if kind == "entity" else f"{kind}/{row['name']}", **said}
    return said if (_kind_of(line, {}) or "entity") == kind else {**said, OWN: {"kind": kind}}


def _is_part(row: Row) -> bool:
    """Return whether an entity is an observation that its own entity has as well."""
    return (
        row["kind"] == "entity"
        and row["type"] == OBSERVATION
        and any(source.startswith(f"{NAME}:") for source in row.get("sources", ()))
    )


def _observations(row: Row) -> list[str]:
    """Return the observations in the value of an entity: its lines."""
    return str(row["value"]).split("\n") if row.get("value") else []
