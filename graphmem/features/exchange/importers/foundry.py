"""Foundry's flow memory: its vocabulary and its rows, which are entities and edges already."""

from graphmem.core.foreign.notes import parsed
from graphmem.core.foreign.reading import Fields, ForeignInput, Source, type_name
from graphmem.errors import Refused
from graphmem.kernel.model.vocabulary import EntityType, RelationType
from graphmem.kernel.ndjson import Row
from graphmem.kernel.system import safe_files

NAME = "foundry"
HOLDS = "the folder of a project with foundry/memory, and rows in foundry-memory/relations"
VOCABULARY = "foundry/memory"
ROWS = ("foundry-memory/relations", "foundry/memory/relations")  # now, and in older versions
ENDS = ("from_type", "from_name", "to_type", "to_name")


def is_meant(source: Source) -> bool:
    """Return whether a folder holds what this module reads."""
    return source.is_folder and any(safe_files.is_folder(source.path / rows) for rows in ROWS)


def read(source: Source) -> ForeignInput:
    """Return the types and the rows of a project."""
    reading = ForeignInput(NAME)
    prose = {group: _texts(source, group) for group in ("entities", "edges")}
    files = [path for rows in ROWS for path in safe_files.files(source.path / rows) if path.suffix == ".ndjson"]
    edges: list[tuple[str, str, Row]] = []
    for path in files:
        for place, row in Source(path).objects(reading):
            if set(ENDS) <= row.keys():
                edges.append((path.stem, place, row))
            else:
                add_entity(reading, path.stem, place, row, prose["entities"].get(path.stem, ""))
    for name, place, row in edges:
        _add_edge(reading, name, place, row)
    for name, made in list(reading.types.items()):
        group = "entities" if isinstance(made, EntityType) else "edges"
        reading.types[name] = made.model_copy(update={"prose": prose[group].get(name, "")})
    return reading


def _texts(source: Source, group: str) -> dict[str, str]:
    """Return the prose of the project's types by name."""
    found: dict[str, str] = {}
    for path in safe_files.files(source.path / VOCABULARY / group):
        try:
            found[type_name(path.stem)] = parsed(path)[1]
        except (OSError, ValueError) as error:
            raise Refused(f"{VOCABULARY}/{group}/{path.name} cannot be read: {error}") from None
    return found


def add_entity(reading: ForeignInput, kind: str, place: str, row: Row, prose: str) -> None:
    """Add an entity."""
    reading.read["entity"] += 1
    fields = Fields(row)
    name = fields.text("name")
    if fields.left.pop("embedding", None) is not None:
        reading.skip(place, "its embedding is left out: vectors are made here")
    if name is None:
        return reading.skip(place, "an entity needs a name")
    made = reading.entity_type(kind)
    value = fields.text("value")
    entity = {"kind": "entity", "type": made, "name": name, "sources": [reading.origin(f"{kind}/{name}")]}
    return reading.add(entity | ({"value": value} if value else {}) | fields.rest(NAME), place)


def _add_edge(reading: ForeignInput, name: str, place: str, row: Row) -> None:
    """Add an edge, of weight 1."""
    reading.read["edge"] += 1
    fields = Fields(row)
    ends = [fields.text(end) for end in ENDS]
    from_type, from_name, to_type, to_name = ends
    if from_type is None or from_name is None or to_type is None or to_name is None:
        return reading.skip(place, f"an edge needs {', '.join(ENDS)}, all texts")
    source, target = reading.entity_type(from_type), reading.entity_type(to_type)
    made = reading.relation_type(name, source, target)
    assert isinstance(reading.types[made], RelationType)
    edge = {"kind": "relation", "from": f"{source}/{from_name}", "type": made, "to": f"{target}/{to_name}"}
    return reading.add(edge | {"weight": 1.0} | fields.rest(NAME), place)
