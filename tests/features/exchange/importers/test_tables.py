"""Tables: a map says which column is which field; all other columns are kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphmem import BadInput, Memory, Usage
from tests.sample import open_memory

CSV = (
    "Key;Error;Fix;Labels;Cost;Seen;Owner\n"
    'E-1;"it goes\nboom";duck;"net, io";2.5;2026-01-02;ada\n'
    "E-2;it goes bang;;;much;;\n"
)
MAP = {"kind": "failure", "id": "Key", "trigger": "Error", "fix": "Fix", "tags": "Labels", "cost": "Cost"}


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_csv_file_becomes_records_of_the_kind_named(tmp_path: Path) -> None:
    path, columns = write(tmp_path, CSV), MAP | {"created_at": "Seen"}
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path, map=columns)
        assert (answer.format, answer.read, answer.created) == ("csv", {"row": 2}, {"failure": 1})
        (skipped,) = answer.skipped
        assert skipped.place == "table.csv:4"
        assert skipped.reason.startswith("field 'cost' is 'much'")
        made: Any = memory.list("failure").results[0].record
        assert (made.trigger, made.fix, made.tags, made.cost) == ("it goes\nboom", "duck", ("io", "net"), 2.5)
        assert made.sources == ("csv:E-1",)
        assert made.x_csv == {"Owner": "ada"}
        assert made.created_at.isoformat() == "2026-01-02T00:00:00+00:00"
        assert memory.imports.file(path, map=columns).unchanged == {"failure": 1}
        newer = write(tmp_path, CSV.replace("duck", "cover"))
        assert memory.imports.file(newer, map=columns).updated == {"failure": 1}


def test_lines_of_json_become_records_and_entities(tmp_path: Path) -> None:
    lines = [{"n": "shop", "v": "sells", "more": [1]}, {"n": "bank", "v": "pays"}]
    path = write(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines), "services.ndjson")
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path, map={"kind": "service", "name": "n", "value": "v"})
        assert (answer.format, answer.created) == ("ndjson", {"entity": 2})
        shop: Any = memory.get("service/shop").record
        assert (shop.value, shop.x_ndjson) == ("sells", {"more": [1]})
        assert memory.imports.file(path, map={"kind": "service", "name": "n", "value": "v"}).unchanged == {"entity": 2}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (None, "a csv file needs a map that says what its rows are"),
        ({"trigger": "Error"}, "a csv file needs a map that says what its rows are"),
        ({"kind": "failure", "triger": "Error"}, "a failure has no field 'triger'"),
        ({"kind": "failure", "trigger": "Eror"}, "'table.csv' has no column 'Eror'"),
        ({"kind": "relation", "note": "Error"}, "a table cannot be of kind 'relation'"),
    ],
)
def test_a_map_that_is_wrong_is_refused(columns: dict[str, str] | None, message: str, tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, pytest.raises((BadInput, Usage)) as caught:
        memory.imports.file(write(tmp_path, CSV), format="csv", map=columns)
    assert caught.value.message == message


def test_a_map_is_for_tables_alone(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="beads says itself what its rows are"):
        memory.imports.file(write(tmp_path, "{}"), format="beads", map=MAP)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n\xff,1\n", "'table.csv' is not UTF-8 at byte 4"),
        (b"Error,b\n" + b"x" * 300_000, "field larger than field limit"),
        (b"", "'table.csv' has no column 'Error'"),
    ],
)
def test_what_is_no_table_is_refused(data: bytes, message: str, memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        memory.imports.file(write(tmp_path, data), map={"kind": "failure", "trigger": "Error"})
    assert message in caught.value.message
