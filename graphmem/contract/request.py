"""The base of all requests: one model an operation, checked once, for every front end (docs/reference/requests.md)."""

import re
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic.fields import FieldInfo

from graphmem.errors import GraphmemError, Usage

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
SURROGATE = re.compile(r"[\ud800-\udfff]")  # no UTF-8 has one; no index, model or file takes it
WORDS = {"ge": "at least", "gt": "above", "le": "at most"}


class Request(BaseModel):
    """
    Base of all requests: the parameters of an operation with their types, defaults, limits, choices and descriptions.

    A request that does not check out raises ``refusal``; ``details["field"]`` names the parameter.
    """

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")

    refusal: ClassVar[type[GraphmemError]] = Usage

    @model_validator(mode="wrap")
    @classmethod
    def check(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Raise an error in graphmem's words instead of those of pydantic."""
        try:
            made = handler(given)
        except ValidationError as error:
            raise refused(cls, error) from None
        for name, value in made:
            if isinstance(value, int) and abs(value) > LARGEST:
                raise cls.refusal(f"{name} {shown(value)} is out of bounds", hint=f"at most {LARGEST:,}")
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and not text.isascii() and SURROGATE.search(text):
                    message, field = f"{name} {shown(text)} holds half a character (a lone surrogate)", {"field": name}
                    raise cls.refusal(message, hint="a text of whole characters", details=field)
        return made


class NoParameters(Request):
    """No parameters."""


def refused(request: type[Request], error: ValidationError) -> GraphmemError:
    """Return the error of the first parameter that does not check out: its name, its value and what would be right."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "request"
    item = "".join(f"[{place}]" for place in first["loc"][1:] if isinstance(place, int))
    message, hint = f"{name}{item} is {shown(first['input'])}", TYPES.get(first["type"].partition("_")[0])
    if first["type"] == "extra_forbidden":
        message, hint = f"unknown parameter {name!r}", f"known: {', '.join(request.model_fields) or 'none'}"
    elif first["type"] == "missing":
        message, hint = f"parameter {name!r} is missing", request.model_fields[name].description
    elif first["type"] == "literal_error":
        message, hint = f"unknown {name}{item} {shown(first['input'])}", f"one of: {', '.join(choices(request, name))}"
    elif first["type"].startswith(("greater", "less")):
        message, hint = f"{name} {number(first['input'])} is out of bounds", bounds(request.model_fields[name])
    return request.refusal(message, hint=hint, details={"request": request.__name__, "field": name})


def number(value: object) -> str:
    """Return a number that was given, as a number or as text."""
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)[:SHOWN]


def shown(value: object) -> str:
    """Return the beginning of a value."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def choices(request: type[Request], name: str) -> list[str]:
    """Return the values that a parameter can have, or nothing where it can have any of its type."""
    return literals(request.model_fields[name].annotation)


def literals(annotation: Any) -> list[str]:
    """Return the values of the ``Literal`` in an annotation, if there is one."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [value for part in get_args(annotation) for value in literals(part)]


def bounds(field: FieldInfo) -> str:
    """Return the least and the largest value of a number in words, or an empty text where it has no bounds."""
    found = {
        name: f"{getattr(bound, name):,.10g}" for bound in field.metadata for name in WORDS if hasattr(bound, name)
    }
    if found.keys() == {"ge", "le"}:
        return f"from {found['ge']} to {found['le']}"
    return ", ".join(f"{WORDS[name]} {bound}" for name, bound in found.items())
