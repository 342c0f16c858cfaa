"""The reference memory server of the Model Context Protocol: a JSON line for each entity and each relation."""

from graphmem.importers.reading import Fields, ForeignInput, Source
from graphmem.model.field import VALUE_BYTES
from graphmem.names import text_key
from graphmem.ndjson import Row

NAME = "mcp-memory"
HOLDS = "a JSON line for each entity (name, entityType, observations) and relation (from, to, relationType)"
OBSERVATION = "observation"  # the type of an observation that does not fit into the value of its entity


def is_meant(source: Source) -> bool:
    """Return whether a file holds what this module reads."""
    found = source.first_object or {}
    return {"name", "entityType"} <= found.keys() or {"from", "to", "relationType"} <= found.keys()


def read(source: Source) -> ForeignInput:
    """Return the entities and relations of a file."""
    reading = ForeignInput(NAME)
    types: dict[str, str] = {}
    relations: list[tuple[str, Row]] = []
    for place, line in source.objects(reading):
        if "relationType" in line:
            relations.append((place, line))
        elif "entityType" in line:
            add_entity(reading, place, line, types)
        else:
            reading.read["line"] += 1
            reading.skip(place, "it is neither an entity nor a relation: no entityType, no relationType")
    for place, line in relations:
        add_relation(reading, place, line, types)
    return reading


def add_entity(reading: ForeignInput, place: str, line: Row, types: dict[str, str]) -> None:
    """Add an entity with its observations."""
    reading.read["entity"] += 1
    given = line.get("observations")
    reading.read["observation"] += len(given) if isinstance(given, list) else 0
    fields = Fields(line)
    fields.left.pop("type", None)
    name, word = fields.text("name"), fields.text("entityType")
    if name is None or word is None:
        return reading.skip(place, "an entity needs a name and an entityType, both texts")
    if name in types:
        return reading.skip(place, f"entity {name!r} is there twice")
    types[name] = reading.entity_type(word)
    if types[name] != word:
        fields.left["entityType"] = word
    created = fields.time("createdAt")
    times = {"created_at": created} if created else {}
    texts = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    value = "\n".join(texts)
    is_kept = len(value.encode()) <= VALUE_BYTES
    if is_kept and texts == given and value.split("\n") == texts:
        fields.left.pop("observations")
    row: Row = {"kind": "entity", "type": types[name], "name": name, "sources": [reading.origin(name)], **times}
    if is_kept and value:
        row["value"] = value
    reading.add(row | fields.rest(NAME), place)
    if not is_kept:
        for text in texts:
            add_observation(reading, place, text, f"{types[name]}/{name}", times)
    return None


def add_observation(reading: ForeignInput, place: str, text: str, ref: str, times: Row) -> None:
    """Add an observation as an entity of its own, with an edge to what it is of."""
    name = text_key(text[:60], f"{ref} {text}")
    kind = reading.entity_type(OBSERVATION)
    row = {"kind": "entity", "type": kind, "name": name, "value": text, "sources": [reading.origin(f"{kind}/{name}")]}
    reading.add(row | times, place)
    made = reading.relation_type("observation_of", kind, ref.partition("/")[0])
    reading.add({"kind": "relation", "from": f"{kind}/{name}", "type": made, "to": ref, **times}, place)


def add_relation(reading: ForeignInput, place: str, line: Row, types: dict[str, str]) -> None:
    """Add a relation, of a type that is declared from what occurs."""
    reading.read["relation"] += 1
    fields = Fields(line)
    fields.left.pop("type", None)
    source, target, word = fields.text("from"), fields.text("to"), fields.text("relationType")
    if source is None or target is None or word is None:
        return reading.skip(place, "a relation needs from, to and relationType, all texts")
    if source not in types or target not in types:
        reading.dangling += 1
        return None
    if source == target:
        return reading.skip(place, f"{source!r} is related to itself")
    made = reading.relation_type(word, types[source], types[target])
    if made != word:
        fields.left["relationType"] = word
    created = fields.time("createdAt")
    ends = {"from": f"{types[source]}/{source}", "type": made, "to": f"{types[target]}/{target}"}
    row = {"kind": "relation", **ends, **({"created_at": created} if created else {})}
    return reading.add(row | fields.rest(NAME), place)
