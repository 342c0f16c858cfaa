"""Foundry: types and rows as they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory


@pytest.mark.parametrize("rows", ["foundry-memory/relations", "foundry/memory/relations"])
def test_types_keep_their_prose_and_edges_have_weight_one(rows: str, memory: Memory, tmp_path: Path) -> None:
    project = tmp_path / "project"
    files: dict[str, Any] = {
        "foundry/memory/entities/class.md": "---\ntype: class\n---\n\nA class of the code.\n",
        "foundry/memory/edges/calls.md": "---\ntype: calls\nsources: [class]\ntargets: [class]\n---\n\nIt calls.\n",
        f"{rows}/class.ndjson": [
            {"name": "A", "value": "does a", "embedding": [0.1]}, {"name": "B", "value": ""}, {"value": "nameless"},
        ],
        f"{rows}/calls.ndjson": [
            {"from_type": "class", "from_name": "A", "to_type": "class", "to_name": "B"},
            {"from_type": "class", "from_name": "A", "to_type": "class", "to_name": "gone"},
            {"from_type": "class", "from_name": 1, "to_type": "class", "to_name": "B"},
        ],
    }  # fmt: skip
    for name, content in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else "".join(f"{json.dumps(row)}\n" for row in content))
    answer = memory.imports.file(project)
    assert (answer.format, answer.read) == ("foundry", {"edge": 3, "entity": 3})
    assert (answer.created, answer.dangling) == ({"entity": 2, "relation": 1}, 1)
    assert {one.reason for one in answer.skipped} == {
        "its embedding is left out: vectors are made here", "an entity needs a name",
        "an edge needs from_type, from_name, to_type, to_name, all texts",
    }  # fmt: skip
    assert memory.types.show("class").prose == "A class of the code."
    assert memory.types.show("calls").prose == "It calls."
    (edge,) = memory.get("class/A").relations
    assert (edge.type, edge.target, edge.weight) == ("calls", "class/B", 1.0)
    again = memory.imports.file(project)
    assert (again.created, again.updated) == ({}, {})
