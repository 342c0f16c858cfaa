"""The demo data as it ships: enough of it, whole, canonical, and with its licences."""

import re
from collections import Counter
from importlib.resources import files

import orjson
import pytest

from graphmem.kernel.model import MODELS
from graphmem.kernel.model.vocabulary import BUILT_IN_RELATIONS, RelationType
from graphmem.names import SLUG

DEMO = files("graphmem.doors.cli") / "demo_data"
LINES = (DEMO / "rows.ndjson").read_bytes().splitlines(keepends=True)
ROWS = [orjson.loads(line) for line in LINES]
RECORDS = {f"{row.get('type', row['kind'])}/{row['name']}": row for row in ROWS if row["kind"] != "relation"}
RELATIONS = [row for row in ROWS if row["kind"] == "relation"]


def front_matter(folder: str) -> dict[str, dict[str, object]]:
    """Return the front matter of the type files in a folder, by the name of the file."""
    yaml = pytest.importorskip("yaml")
    found = (path for path in (DEMO / "types" / folder).iterdir() if path.name.endswith(".md"))
    return {path.name.removesuffix(".md"): yaml.safe_load(path.read_text("utf-8").split("---")[1]) for path in found}


def test_the_excerpt_is_as_large_as_promised_and_small_enough_to_ship() -> None:
    kinds = Counter(row["kind"] for row in ROWS)
    assert kinds["failure"] + kinds["pattern"] >= 300
    assert kinds["relation"] >= 500
    assert sum(map(len, LINES)) < 600_000


def test_every_line_is_canonical() -> None:
    for row, line in zip(ROWS, LINES, strict=True):
        assert orjson.dumps(row, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE) == line


def test_every_row_is_a_record_graphmem_takes() -> None:
    for row in ROWS:
        made = MODELS[row["kind"]].model_validate({**row, "created_at": "2026-01-01T00:00:00.000Z"})
        assert {**made.to_row(), "created_at": None} == {**row, "created_at": None}


def test_no_record_and_no_edge_stands_twice() -> None:
    assert len(RECORDS) + len(RELATIONS) == len(ROWS)
    symmetric = {name for name, relation in BUILT_IN_RELATIONS.items() if relation.symmetric}
    ends = [
        (r["type"], *(sorted((r["from"], r["to"])) if r["type"] in symmetric else (r["from"], r["to"])))
        for r in RELATIONS
    ]
    assert len(set(ends)) == len(ends)


def test_every_end_is_there_and_allowed_by_its_type() -> None:
    entities = front_matter("entities")
    made = {name: RelationType.model_validate(front) for name, front in front_matter("relations").items()}
    types = {**BUILT_IN_RELATIONS, **made}
    assert {row["type"] for row in ROWS if row["kind"] == "entity"} == set(entities)
    assert {row["type"] for row in RELATIONS} >= set(made)
    for row in RELATIONS:
        assert {row["from"], row["to"]} <= RECORDS.keys()
        assert types[row["type"]].allows(row["from"].split("/")[0], row["to"].split("/")[0])


def test_names_are_slugs_and_match_expressions_compile() -> None:
    for row in RECORDS.values():
        assert SLUG.fullmatch(row["name"]), row["name"]
        if "match" in row:
            assert len(row["match"]) <= 1_000
            re.compile(row["match"])


def test_a_message_of_a_linter_is_found_by_its_match_expression() -> None:
    messages = {
        "src/app.py:1:8: F401 [*] `os` imported but unused": "failure/ruff-f401-unused-import",
        "`subprocess` call with `shell=True` identified, security issue": (
            "failure/ruff-s602-subprocess-popen-with-shell-equals-true"
        ),
        'app.py:3: error: Item "None" of "U | None" has no attribute "name"  [union-attr]': "failure/mypy-union-attr",
    }
    for message, ref in messages.items():
        assert [r for r, row in RECORDS.items() if "match" in row and re.search(row["match"], message)] == [ref]


def test_nobody_is_named_by_an_address() -> None:
    """The sources were cleaned of addresses; a new excerpt must be, too."""
    for line in LINES:
        assert not re.search(rb"[\w.+-]+@[\w-]+\.[a-z]{2,}", line, re.IGNORECASE)
        assert b"<email>" not in line and b"<token>" not in line


def test_the_notice_names_sources_and_licences() -> None:
    notice = (DEMO / "NOTICE.md").read_text("utf-8")
    for text in (
        "© 2025 The MITRE Corporation. This work is reproduced and distributed with the permission of",
        "royalty-free license to use Common Attack Pattern Enumeration and Classification (CAPEC™)",
        "royalty-free license to use ATT&CK®",
        "https://github.com/mitre/cti",
        "Copyright (c) 2022 Charles Marsh",
        "https://github.com/astral-sh/ruff",
        "Jukka Lehtosalo and contributors",
        "https://github.com/python/mypy",
        "Permission is hereby granted, free of charge",
    ):
        assert text in notice
