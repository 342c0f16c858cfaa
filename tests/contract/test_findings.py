"""What a check found: one list of codes, and an ``expected`` that names what would be right."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest
from pydantic import ValidationError

import graphmem
from graphmem import BadInput, Memory
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.ledger.codec import complaint, finding
from graphmem.kernel.model import MODELS
from graphmem.kernel.ndjson import BadLine

SOURCES = {path: path.read_text("utf-8") for path in Path(graphmem.__file__).parent.rglob("*.py")}
# How a sentence or a hint begins, which "expected" cannot stand before.
NO_NOUN = re.compile(
    r"(expected|see|did|give|take|use|set|correct|leave|say|input|value|string|must|should|is|are)\b", re.I
)
PLACES = {"BadLine": 1, "Finding.of": 3, "FindingDraft": 4, "BadType": 1}  # of what is expected among the arguments
WRONG: tuple[object, ...] = (
    "",
    "x",
    " x\n",
    7,
    -1,
    1.5,
    float("nan"),
    True,
    [],
    [7],
    ["x", 7],
    {},
    {"x": 7},
    {"x": "y"},
    [{}],
    "2026-01-01",
)


@cache
def calls() -> list[tuple[Path, str, ast.Call]]:
    """Return every call of the package that makes a finding or a bad line."""
    return [
        (path, name, node)
        for path, text in SOURCES.items()
        if any(called in text for called in PLACES)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in PLACES
    ]


def beginnings(given: ast.expr) -> list[str]:
    """Return how the literals in an argument begin."""
    literals = [node for node in ast.walk(given) if isinstance(node, ast.Constant | ast.JoinedStr)]
    firsts = [node.values[0] if isinstance(node, ast.JoinedStr) else node for node in literals]
    return [node.value for node in firsts if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_every_code_has_a_sentence_and_is_used() -> None:
    text = "\n".join(SOURCES.values())
    for code in Code:
        assert code.severity in ("error", "warning")
        assert code.meaning[0].isupper() or code.meaning[0] == "`"
        assert code.meaning.endswith(".")
        assert (
            f"Code.{code.name}" in text
            or f'code="{code}"' in text
            or code in (Code.REFUSED, Code.CONFLICT, Code.BAD_JSON)
        )


def test_a_finding_with_an_unknown_code_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        finding(BadLine("m", "e", code="nonsense"), "f", 1)
    with pytest.raises(ValidationError, match="code"):
        Finding.model_validate({**Finding.of("f", Code.LINK, "m", "e").model_dump(), "code": "nonsense"})
    given = [keyword.value for _, _, call in calls() for keyword in call.keywords if keyword.arg == "code"]
    assert {value.value for value in given if isinstance(value, ast.Constant)} <= set(Code)


def test_what_a_finding_expects_is_a_noun() -> None:
    found = [
        (path.name, call.lineno, text)
        for path, name, call in calls()
        for given in call.args[PLACES[name] : PLACES[name] + 1]
        for text in beginnings(given)
        if NO_NOUN.match(text)
    ]
    assert found == []


@pytest.mark.parametrize("kind", MODELS)
def test_what_a_row_lacks_or_has_wrong_is_said_with_a_noun(kind: str) -> None:
    model = MODELS[kind]
    for name, field in model.model_fields.items():
        for value in WRONG:
            with pytest.raises(ValidationError) as caught:
                model.model_validate({"kind": kind, field.alias or name: value})
            for error in caught.value.errors():
                one = ValidationError.from_exception_data(
                    "row",
                    [
                        {
                            "type": error["type"],
                            "loc": error["loc"],
                            "input": error["input"],
                            "ctx": error.get("ctx", {}),
                        }
                    ],
                )
                message, expected = complaint(one)
                assert "Input should" not in message, (name, value, message)
                assert expected is None or not NO_NOUN.match(expected), (name, value, expected)


def test_a_bad_row_of_an_input_says_what_is_expected_once_and_the_hint_apart(memory: Memory) -> None:
    memory.failures.add("the build is red", name="red-build")
    memory.failures.add("no space is left on the disk", name="other")
    rows = [
        {"kind": "failure", "trigger": "t", "check_after": "soon"},
        {"kind": "failure", "trigger": 7},
        {"kind": "task", "name": "a/001-b", "campaign": "c", "objective": "o", "type": "odd"},
        {"kind": "relation", "from": "failure/red-build", "to": "failure/other", "type": "causse"},
        {"kind": "insight", "category": "x", "name": "i"},
    ]
    with pytest.raises(BadInput) as refused:
        memory.add_rows([json.dumps(row).encode() for row in rows], name="in.ndjson")
    lines = refused.value.message.splitlines()[1:]
    assert lines[0].endswith("field 'check_after' is 'soon', expected a day such as 2027-01-31")
    assert lines[1].endswith("field 'trigger' is 7, expected a text")
    assert lines[2].endswith("field 'type' is 'odd', expected 'spec', 'impl', 'test', 'refactor', 'docs' or 'other'")
    assert "expected" not in lines[3] and lines[3].endswith("(hint: did you mean causes?)")
    assert all(line.count("expected") <= 1 for line in lines)
