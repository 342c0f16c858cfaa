"""One contract: each method of the API, and each option of the command line, is what its request says."""

import inspect
import pkgutil
import typing
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from types import UnionType
from typing import Any

import pytest

from graphmem import BadInput, GraphmemError, Memory, Usage, api, contract
from graphmem.api import Noun
from graphmem.contract.operations import REQUESTS
from graphmem.contract.request import Request

STREAMS = ("lines", "events", "log")  # input that is read once, line by line; no request holds it


def operations() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each public method of the memory and its nouns, by the name that a caller writes after ``memory.``."""
    owners: list[type] = [Memory, *Noun.__subclasses__()]
    for owner in owners:
        prefix = "" if owner is Memory else f"{owner.__name__.lower()}."
        for name, found in vars(owner).items():
            method = found.__func__ if isinstance(found, staticmethod) else found
            if inspect.isfunction(method) and not name.startswith("_"):
                yield f"{prefix}{name}", inspect.unwrap(method)


METHODS = dict(operations())
NAMES = {  # that only a type checker sees in api.py
    name: found for file in pkgutil.iter_modules(contract.__path__)
    for name, found in vars(import_module(f"graphmem.contract.{file.name}")).items()
}  # fmt: skip


def parameters(method: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a method that a request can hold."""
    found = inspect.signature(method).parameters.values()
    return [parameter for parameter in found if parameter.name not in ("self", *STREAMS)]


def as_field(annotation: Any) -> Any:
    """Return the type of a parameter as a request has it: any collection becomes a tuple, a text of a path a path."""
    if annotation == Path | str:
        return Path
    origin, parts = typing.get_origin(annotation), tuple(map(as_field, typing.get_args(annotation)))
    if origin in (Collection, Sequence):
        return tuple[parts[0], ...]  # type: ignore[valid-type]
    if origin in (UnionType, typing.Union):
        return reduce(or_, parts)
    return annotation


def test_every_method_with_parameters_has_a_request() -> None:
    assert {name for name, method in METHODS.items() if parameters(method)} == REQUESTS.keys()


@pytest.mark.parametrize("name", REQUESTS)
def test_the_parameters_of_a_method_are_the_fields_of_its_request(name: str) -> None:
    method, fields = METHODS[name], REQUESTS[name].model_fields
    types = typing.get_type_hints(method, {**NAMES, **vars(api)})
    of_method = [(one.name, one.default, as_field(types[one.name])) for one in parameters(method)]
    of_request = [
        (field_name, inspect.Parameter.empty if field.is_required() else field.default, as_field(field.annotation))
        for field_name, field in fields.items()
    ]
    assert of_method == of_request


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
            "known: text, kinds, limit, min_similarity, profile, strict",
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
        field: found["enum"][0] if "enum" in found else SAMPLES[found.get("type", "string")]
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
        lambda memory, text: memory.query(text),
        lambda memory, text: memory.context(text),
        lambda memory, text: memory.context("x", tags=[text]),
        lambda memory, text: memory.failures.add(text),
        lambda memory, text: memory.feedback("x", helped=True, question=text),
    ],
)
def test_half_a_character_is_refused_by_name(memory: Memory, ask: Callable[[Memory, str], object]) -> None:
    with pytest.raises(GraphmemError, match="half a character"):
        ask(memory, "a bad \udcff byte")


def test_a_number_that_no_index_holds_is_refused() -> None:
    for value in (2**63, -(2**63), 10**400):
        with pytest.raises(GraphmemError, match="is out of bounds"):
            REQUESTS["names"].model_validate({"limit": value})
    assert REQUESTS["names"].model_validate({"limit": 2**63 - 1})
