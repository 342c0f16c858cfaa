"""The JSON Schema of the rows of the ledger, made from the models: ``schema/records.schema.json``."""

import json
from typing import Any

from pydantic.json_schema import models_json_schema

from graphmem.model import MODELS
from graphmem.model.record import Frozen, limits

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def records_schema() -> bytes:
    """Return one document with an entry in ``$defs`` for every kind; ``x-limit`` is what a command takes in at most."""
    _, document = models_json_schema([(model, "validation") for model in MODELS.values()], by_alias=True)
    entries: dict[str, Any] = document["$defs"]
    for model in MODELS.values():
        describe(entries[model.__name__], model)
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
    return (json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def describe(entry: dict[str, Any], model: type[Frozen]) -> None:
    """Make of a model's schema that of its rows: what no row has is left out, the limits are added."""
    properties = entry["properties"]
    if "at" in properties:  # a fact has one time, and no `created_at` beside it
        del properties["created_at"]
        entry["required"].remove("created_at")
    for field, limit in limits(model).items():
        sizes = {"bytes": limit.size, "items": limit.items, "characters": limit.characters}
        properties[field]["x-limit"] = {name: size for name, size in sizes.items() if size}
