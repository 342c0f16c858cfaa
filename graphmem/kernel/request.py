"""The base of all requests: one model an operation, checked once, for every front end (docs/reference/requests.md)."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from graphmem.errors import BadInput, GraphmemError, Usage
from graphmem.patterns import lazy_re

LARGEST = 2**63 - 1  # the index has no larger whole numbers
SHOWN = 80  # characters of a value that an error shows
TYPES = {
    "bool": "true or false",
    "dict": "an object",
    "finite": "a finite number",
    "float": "a number",
    "int": "a whole number",
    "mapping": "an object",
    "model": "an object",
    "path": "a path",
    "string": "a text",
    "tuple": "a list",
}
SURROGATE = lazy_re(r"[\ud800-\udfff]")  # no UTF-8 has one; no index, model or file takes it
EXPECTED = "expected "  # begins what a check of our own raises about the value of a field
WORDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


class Request(BaseModel):
    """
    Base of all requests: the parameters of an operation with their types, defaults, limits, choices and descriptions.

    A request that does not check out raises ``refusal``; ``details["field"]`` names the parameter. Half a character is
    refused in a text that is stored, and stands as U+FFFD in one that only asks (``asks``): it is what is left where a
    transcript or a prompt was cut.
    """

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")

    refusal: ClassVar[type[GraphmemError]] = Usage
    asks: ClassVar[bool] = False

    @model_validator(mode="wrap")
    @classmethod
    def complain_plainly(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Raise an error in graphmem's words instead of those of pydantic."""
        if cls.asks and isinstance(given, Mapping):
            given = {name: _whole(value) for name, value in given.items()}
        try:
            made = handler(given)
        except ValidationError as error:
            raise _refused(cls, error) from None
        for name, value in vars(made).items():
            if value is None or value is False:
                continue
            if isinstance(value, int) and abs(value) > LARGEST:
                raise cls.refusal(f"{name} {shown(value)} is out of bounds", hint=f"at most {LARGEST:,}")
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and not text.isascii() and SURROGATE.search(text):
                    message, field = f"{name} {shown(text)} holds half a character (a lone surrogate)", {"field": name}
                    raise cls.refusal(message, hint="a text of whole characters", details=field)
        return made


def _whole(value: object) -> object:
    """Return a text, or a list of texts, with U+FFFD in the place of each half of a character."""
    if isinstance(value, str):
        return value if value.isascii() else SURROGATE.sub("\ufffd", value)
    return [_whole(part) for part in value] if isinstance(value, list | tuple) else value


class NoParameters(Request):
    """No parameters."""


class InputRequest(Request):
    """Base of the requests with what is to be stored: one that does not check out is bad input."""

    refusal: ClassVar[type[GraphmemError]] = BadInput


def _refused(request: type[Request], error: ValidationError) -> GraphmemError:
    """Return the error of the first parameter that does not check out: its name, its value and what would be right."""
    name, message, hint = complaint(request, error)
    return request.refusal(message, hint=hint, details={"request": request.__name__, "field": name or "request"})


def complaint(model: type[BaseModel], error: ValidationError, owner: str = "") -> tuple[str, str, str | None]:
    """
    Return the first field that does not check out, what is wrong with it, and what would be right.

    Args:
        owner: has the field, for the message, such as ``task 1``; without one it is a parameter of a request.
    """
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    item = "".join(f"[{place}]" for place in first["loc"][1:] if isinstance(place, int))
    called = f"{name}{item} of {owner}" if name and owner else f"{name}{item}" or owner or "request"
    sort = first["type"]
    if sort == "extra_forbidden":
        return name, f"unknown parameter {name!r}", f"known: {', '.join(model.model_fields) or 'none'}"
    if sort == "missing":
        missing = f"{owner} has no {name}" if owner else f"parameter {name!r} is missing"
        return name, missing, model.model_fields[name].description
    if sort == "literal_error":
        return name, f"unknown {called} {shown(first['input'])}", f"one of: {', '.join(_choices(model, name))}"
    if sort.startswith(("greater", "less")):
        return name, f"{called} {number(first['input'])} is out of bounds", bounds(model.model_fields[name])
    if sort == "value_error" and not name:  # of the whole, which says itself what is wrong
        return name, f"{called}: {first['msg'].removeprefix('Value error, ')}", None
    return name, f"{called} is {shown(first['input'])}", right_value(first)


def right_value(error: ErrorDetails) -> str | None:
    """Return what would be right in the place of a value, as a noun with what belongs to it; None if it is unknown."""
    sort, context = error["type"], error.get("ctx", {})
    if sort == "literal_error":
        return str(context["expected"])
    if sort.startswith(("greater", "less")):
        bound = next(name for name in WORDS if name in context)
        return f"a number {'of ' * WORDS[bound].startswith('at ')}{WORDS[bound]} {context[bound]:,.10g}"
    said = error["msg"].removeprefix("Value error, ")
    if sort == "value_error" and said.startswith(EXPECTED):
        return said.removeprefix(EXPECTED)
    return TYPES.get(sort.partition("_")[0])


def number(value: object) -> str:
    """Return a number that was given, as a number or as text."""
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)[:SHOWN]


def shown(value: object) -> str:
    """Return the beginning of a value."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _choices(model: type[BaseModel], name: str) -> list[str]:
    """Return the values that a parameter can have, or nothing where it can have any of its type."""
    return literals(model.model_fields[name].annotation)


def literals(annotation: Any) -> list[str]:
    """Return the values of the ``Literal`` in an annotation, if there is one."""
    if get_origin(annotation) is Literal:
        return [*map(str, get_args(annotation))]
    return [value for part in get_args(annotation) for value in literals(part)]


def bounds(field: FieldInfo) -> str:
    """Return the least and the largest value of a number in words, or an empty text where it has no bounds."""
    found = {
        name: f"{getattr(bound, name):,.10g}" for bound in _constraints(field) for name in WORDS if hasattr(bound, name)
    }
    if found.keys() == {"ge", "le"}:
        return f"from {found['ge']} to {found['le']}"
    return ", ".join(f"{WORDS[name]} {bound}" for name, bound in found.items())


def _constraints(field: FieldInfo) -> Iterator[object]:
    """Yield what the values of a field must fulfil, also where it can be ``None``."""
    yield from field.metadata
    for part in get_args(field.annotation):
        for item in getattr(part, "__metadata__", ()):
            yield from item.metadata if isinstance(item, FieldInfo) else (item,)
