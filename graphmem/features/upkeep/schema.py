"""The JSON Schemas of what is stored, what operations take, and what they answer."""

import json
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from graphmem.kernel.answer import Answer
from graphmem.kernel.registry import OPERATIONS, operation
from graphmem.kernel.request import NoParameters, Request
from graphmem.kernel.system.files import shipped

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class SchemaRequest(Request):
    """Which JSON Schema to return."""

    of: Literal["records", "requests", "answers"] = Field(
        "records", description="Of the rows in files, of what operations take, or of what they answer"
    )


class SchemaShown(Answer):
    """A JSON Schema, with an entry in ``$defs`` for each kind of row, or for each operation."""

    document: dict[str, Any]


@operation(
    "schema",
    positional=1,
    needs_store=False,
    arguments=1,
    example="graphmem schema requests",
    not_over_http="`/openapi.json` has the schemas",
)
def schema(request: SchemaRequest) -> SchemaShown:
    """Return the JSON Schema of the rows in files, of what operations take, or of what they answer."""
    if request.of == "records":
        return SchemaShown(document=json.loads(shipped("schema").joinpath("records.schema.json").read_bytes()))
    entries: dict[str, Any] = {}
    for row in OPERATIONS.values():
        if request.of == "answers":
            entries[row.name] = TypeAdapter(row.answer).json_schema(mode="serialization")
        elif row.request is not NoParameters:
            entries[row.name] = row.request.model_json_schema()
    for entry in list(entries.values()):
        entries |= entry.pop("$defs", {})
    title = f"{request.of.capitalize()} of graphmem's operations"
    return SchemaShown(document={"$schema": DIALECT, "title": title, "$defs": entries})


def one_a_line(schema: dict[str, Any]) -> bytes:
    """Return a schema as JSON with an entry of ``$defs`` on each line, so that a diff shows what changed."""
    entries = (f"{json.dumps(name)}: {_compact(entry)}" for name, entry in sorted(schema["$defs"].items()))
    others = (f"{json.dumps(name)}: {_compact(value)}" for name, value in sorted(schema.items()) if name != "$defs")
    return ('{"$defs": {\n' + ",\n".join(entries) + "\n},\n" + ",\n".join(others) + "}\n").encode()


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
