"""Adding one record and adding rows in bulk make the same record of the same fields."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphmem import BadInput, Memory
from tests.sample import open_memory

LOCK = "flask==3.0.0\nwerkzeug==3.0.1\n"
CODE = "def login():\n    return 1\n"
RECORDS: list[tuple[str, dict[str, Any]]] = [
    ("failure", {"trigger": "ImportError: cannot import name 'url_quote' from 'werkzeug.urls'", "fix": "pin flask"}),
    ("failure", {"trigger": "\x1b[31mValueError\x1b[0m: bad \x1b[1mvalue\x1b[0m"}),
    ("failure", {"trigger": "login fails", "cites": ["auth.py:login", "auth.py"], "tags": ["b", "a"]}),
    ("pattern", {"trigger": "flask is upgraded", "insight": "read werkzeug's changes", "cites": ["auth.py:login"]}),
    ("pattern", {"trigger": "x", "insight": "use werkzeug", "versions": {"Werkzeug": "2.0"}}),
    ("lesson", {"description": "never \x1b[1mhurry\x1b[0m", "cites": ["auth.py"]}),
]


def project(folder: Path) -> Memory:
    """Make a project with code and a lock file."""
    folder.mkdir()
    (folder / "requirements.txt").write_text(LOCK)
    (folder / "auth.py").write_text(CODE)
    return open_memory(folder)


def row_of(memory: Memory) -> dict[str, Any]:
    """Return the only record of a memory, without its times."""
    (found,) = memory.list().results
    row = json.loads(found.record.model_dump_json(exclude={"created_at", "updated_at", "edited"}))
    return dict(row)


@pytest.mark.parametrize(("kind", "fields"), RECORDS)
def test_one_record_is_the_same_through_both_doors(tmp_path: Path, kind: str, fields: dict[str, Any]) -> None:
    with project(tmp_path / "one") as one, project(tmp_path / "many") as many:
        getattr(one, f"{kind}s").add(**fields)
        many.add_rows([json.dumps({"kind": kind, **fields}).encode()])
        assert row_of(one) == row_of(many)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"kind": "failure", "trigger": "x", "name": "-a"}, "'-a' is not a slug"),
        ({"kind": "failure", "trigger": "x", "cites": ["auth.py:logout"]}, "nothing in auth.py is named 'logout'"),
        ({"kind": "failure", "trigger": "x", "cites": ["gone.py"]}, "there is no such file"),
        ({"kind": "constraint", "constraint": "x", "expires_at": "2020-01-01T00:00:00Z"}, "is in the past"),
    ],
)
def test_what_one_door_refuses_the_other_does_too(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with project(tmp_path / "many") as memory:
        with pytest.raises(BadInput) as refused:
            memory.add_rows([json.dumps(row).encode()])
        assert message in str(refused.value.details["findings"])
        assert memory.list().total == 0


def test_a_cite_of_a_row_is_stale_once_its_code_changed(tmp_path: Path) -> None:
    with project(tmp_path / "many") as memory:
        memory.add_rows([b'{"kind":"failure","trigger":"login fails","cites":["auth.py:login"]}'])
        assert memory.stale().results == []
        (tmp_path / "many/auth.py").write_text("def login():\n    return 2\n")
        assert [found.ref for found in memory.stale().results] == ["failure/login-fails"]


def test_a_row_that_was_written_before_is_taken_as_it_is(tmp_path: Path) -> None:
    row = {"kind": "failure", "trigger": "werkzeug fails", "name": "old", "cites": ["gone.py"],
           "created_at": "2025-01-01T00:00:00.000Z"}  # fmt: skip
    with project(tmp_path / "many") as memory:
        memory.add_rows([json.dumps(row).encode()])
        made = row_of(memory)
        assert (made["cites"], made.get("versions")) == (["gone.py"], {})
