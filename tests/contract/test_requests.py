"""Requests: described, checked by name, value and what would be right, and the same after JSON."""

from collections.abc import Callable

import pytest

from graphmem import BadInput, GraphmemError, Memory, Usage
from graphmem.kernel.request import Request
from tests.operations import REQUESTS


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_described(name: str) -> None:
    request = REQUESTS[name]
    assert request.__doc__ and request.__doc__ != Request.__doc__
    for field in request.model_fields.values():
        assert field.description and field.description[0].isupper() and not field.description.endswith(".")


def test_a_request_that_does_not_check_out_says_what_would_be_right() -> None:
    query = REQUESTS["query"]
    for given, message, hint in (
        (["x"], "request is ['x']", "an object"),
        ({}, "parameter 'text' is missing", "An error message, a symbol, or a sentence"),
        ({"text": 3}, "text is 3", "a text"),
        ({"text": "x", "kinds": "failure"}, "kinds is 'failure'", "a list"),
        ({"text": "x", "kinds": ["failure", 7]}, "kinds[1] is 7", "a text"),
        ({"text": "x", "limit": 0}, "limit 0 is out of bounds", "at least 1"),
        ({"text": "x", "limit": "-2"}, "limit -2 is out of bounds", "at least 1"),
        ({"text": "x", "limit": "many"}, "limit is 'many'", "a whole number"),
        ({"text": "x", "limit": "n" * 90}, f"limit is '{'n' * 79}…", "a whole number"),
        ({"text": "x", "min_similarity": float("nan")}, "min_similarity nan is out of bounds", "from 0 to 1"),
        (
            {"text": "x", "most": 3},
            "unknown parameter 'most'",
            "known: text, kinds, limit, min_similarity, profile, strict, candidates",
        ),
    ):
        with pytest.raises(Usage) as caught:
            query.model_validate(given)
        assert (caught.value.message, caught.value.hint) == (message, hint)


SAMPLES = {"string": "x", "object": {"x": 1}, "array": ["x"], "boolean": True, "integer": 1, "number": 1.0}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_the_same_after_json(name: str) -> None:
    """A server and a client in another language build it from the schema."""
    request = REQUESTS[name]
    schema = request.model_json_schema()
    required = {field: schema["properties"][field] for field in schema.get("required", ())}
    given = {
        field: next(iter(found.get("enum") or found.get("examples") or [SAMPLES[found.get("type", "string")]]))
        for field, found in required.items()
    }
    made = request.model_validate(given)
    assert request.model_validate_json(made.model_dump_json()) == made
    assert schema["additionalProperties"] is False


def test_a_bad_request_is_refused_before_anything_is_done(memory: Memory) -> None:
    with pytest.raises(BadInput, match="tags is 'build'") as caught:
        memory.failures.add("boom", tags="build")
    assert caught.value.details == {"request": "AddFailureRequest", "field": "tags"}
    with pytest.raises(Usage, match="limit 0 is out of bounds"):
        memory.query("boom", limit=0)
    with pytest.raises(BadInput, match="unknown status 'active'"):
        memory.campaigns.complete("boom", status="active")  # type: ignore[arg-type]
    assert memory.list().total == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda memory, text: memory.failures.add(text),
        lambda memory, text: memory.feedback("x", helped=True, question=text),
    ],
)
def test_half_a_character_is_refused_by_name(memory: Memory, ask: Callable[[Memory, str], object]) -> None:
    with pytest.raises(GraphmemError, match="half a character"):
        ask(memory, "a bad \udcff byte")


@pytest.mark.parametrize("half", ["\ud83d", "\ude00", "\udcff"])
def test_half_a_character_harms_no_question(memory: Memory, half: str) -> None:
    """A transcript or a prompt may have been cut in the middle of one."""
    memory.failures.add("KeyError: cart total", fix="sum it first", name="cart")
    text = f"KeyError: cart total {half}"
    assert memory.query(text).results[0].ref == "failure/cart"
    assert "failure/cart" in memory.context(text, tags=[half], files=[half]).text
    assert memory.similar(f"an objective {half}").results == []
    assert memory.match(f"fix {half}\nKeyError: cart total\n").results[0].ref == "failure/cart"
    assert memory.match([f"{half} x\n", "KeyError: cart total\n"]).results[0].line == 2


def test_a_number_that_no_index_holds_is_refused() -> None:
    for value in (2**63, -(2**63), 10**400):
        with pytest.raises(GraphmemError, match="is out of bounds"):
            REQUESTS["names"].model_validate({"limit": value})
    assert REQUESTS["names"].model_validate({"limit": 2**63 - 1})
