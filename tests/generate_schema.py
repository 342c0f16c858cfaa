"""What is made of the models: ``schema/records.schema.json``, and for the merge driver ``schema/merge.json``."""

import json
from typing import Any, Literal, get_args, get_origin

from pydantic.json_schema import models_json_schema

from graphmem.features.upkeep.schema import DIALECT, one_a_line
from graphmem.kernel.model import MODELS, Fact, Record
from graphmem.kernel.model.authors import SIGNATURE
from graphmem.kernel.model.field import as_day, as_set, as_versions, passes_through
from graphmem.kernel.model.record import Frozen, limits, row_fields
from graphmem.kernel.model.vocabulary import BUILT_IN_RELATIONS


def records_schema() -> bytes:
    """Return one document with an entry in ``$defs`` for every kind; ``x-limit`` is what a command takes in at most."""
    _, document = models_json_schema([(model, "validation") for model in MODELS.values()], by_alias=True)
    entries: dict[str, Any] = document["$defs"]
    for model in MODELS.values():
        _describe(entries[model.__name__], model)
    names = {f"#/$defs/{model.__name__}": f"#/$defs/{kind}" for kind, model in MODELS.items()}
    for kind, model in MODELS.items():
        entries[kind] = entries.pop(model.__name__)
    schema = {
        "$schema": DIALECT,
        "$defs": entries,
        "title": "A row of graphmem's ledger",
        "description": "One line of a data file; fields that are not listed are kept.",
        "oneOf": [{"$ref": name} for name in names.values()],
    }
    return one_a_line(schema)


def _describe(entry: dict[str, Any], model: type[Frozen]) -> None:
    """Make of a model's schema that of its rows: what no row has is left out, the limits are added."""
    properties = entry["properties"]
    for name in set(properties) - set(row_names(model)):
        del properties[name]
        entry["required"] = [other for other in entry["required"] if other != name]
    for field, limit in ((name, limit) for name, limit in limits(model).items() if name in properties):
        sizes = {"bytes": limit.size, "items": limit.items, "characters": limit.characters}
        properties[field]["x-limit"] = {name: size for name, size in sizes.items() if size}


def row_names(model: type[Frozen]) -> list[str]:
    """Return the fields that rows of a model have; a fact has one time, and what identifies it for its name."""
    names = [alias for _, alias, _ in row_fields(model) if alias not in model.derived]
    if issubclass(model, Fact):
        return [name for name in names if name == "kind" or name not in Record.model_fields]
    return [name for name in names if not (name == "created_at" and "at" in names)]


def merge_rules() -> bytes:
    """Return how two branches are merged: the rule of each field of each kind, and which fields say one thing."""
    rules = {
        kind: {
            "fields": {
                alias: rule(model, name, alias) for name, alias, _ in row_fields(model) if alias in row_names(model)
            },
            "states": model.states,
        }
        for kind, model in MODELS.items()
    }
    symmetric = sorted(name for name, made in BUILT_IN_RELATIONS.items() if made.symmetric)
    return (json.dumps({"kinds": rules, "symmetric": symmetric}, indent=2, sort_keys=True) + "\n").encode()


def rule(model: type[Frozen], name: str, alias: str) -> str:
    """Return the rule of a field: key, own (a rule that only this field has), state, set, map, text or value."""
    if alias in ("kind", "key") or alias in model.fixed:
        return "key"
    if alias in SIGNATURE or alias in ("created_at", "edited", "alternates"):
        return "own"
    if any(alias in state for state in model.states):
        return "state"
    field = model.model_fields[name]
    if passes_through(field.metadata, as_set):
        return "set"
    if passes_through(field.metadata, as_versions):
        return "map"
    return "text" if _is_text(field.annotation) else "value"


def _is_text(annotation: Any) -> bool:
    """Return whether a field holds free text."""
    if hasattr(annotation, "__metadata__"):
        return not passes_through(annotation.__metadata__, as_day) and _is_text(annotation.__origin__)
    if get_origin(annotation) is Literal:
        return False
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return annotation is str or (len(parts) == 1 and get_origin(annotation) is not tuple and _is_text(parts[0]))
