"""What is generated from the models and the queries is what stands in the files."""

import json
from typing import Any

import pytest

from graphmem.features.upkeep.schema import one_a_line
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.model.record import limits, row_fields
from graphmem.kernel.system.files import shipped
from tests.generate import generated
from tests.generate_schema import records_schema, row_names


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The JSON Schema of the records."""
    made: dict[str, Any] = json.loads(records_schema())
    return made


def test_every_generated_file_is_what_the_code_makes() -> None:
    for name, made in generated().items():
        folder, *parts = name.split("/")
        found = shipped(folder).joinpath(*parts).read_bytes().replace(b"\r\n", b"\n")
        assert found == made, f"{name}: run: python -m tests.generate"


@pytest.mark.parametrize("kind", MODELS)
def test_the_schema_has_every_field_its_default_and_its_limit(kind: str, document: dict[str, Any]) -> None:
    entry = document["$defs"][kind]
    model = MODELS[kind]
    fields = {alias: default for _, alias, default in row_fields(model) if alias in row_names(model)}
    assert ("created_at" in fields) == (kind not in FACTS)
    assert entry["properties"].keys() == fields.keys()
    assert set(entry["required"]) == {alias for alias, default in fields.items() if default is ...}
    assert entry["properties"]["kind"]["const"] == kind
    assert {name for name, found in entry["properties"].items() if "x-limit" in found} == limits(
        model
    ).keys() & fields.keys()
    assert entry["additionalProperties"] is True


def test_every_reference_of_the_schema_leads_somewhere(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for part in text.split('"$ref": "#/$defs/')[1:]:
        assert part.split('"')[0] in document["$defs"]
    assert [part["$ref"] for part in document["oneOf"]] == [f"#/$defs/{kind}" for kind in MODELS]


def test_the_schema_is_sorted_and_ends_with_a_line_end(document: dict[str, Any]) -> None:
    assert records_schema() == one_a_line(document)
