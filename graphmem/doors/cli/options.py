"""Options and arguments of commands, made from the fields of requests: their meaning, default, limits and choices."""

import re
from typing import Any, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from graphmem.errors import GraphmemError
from graphmem.kernel.request import Request, bounds, literals

FLAGS: dict[tuple[object, object], str] = {}  # the option of each field of a request, by the names of both


def option(
    request: type[Request], name: str, *flags: str, meaning: str | None = None, note: str = "", **more: Any
) -> Any:
    """
    Return the option for a field of a request; for one that is true by default it is a flag that makes it false.

    Args:
        flags: of the option; made from the name if not given, of a list without its ``s``.
        meaning: what the option does, if the description of the field does not say it.
        note: a clause that is true on the command line only, such as "- reads standard input".
        more: what the command line adds, such as a metavar.
    """
    field = request.model_fields[name]
    word = name.removesuffix("s") if _is_list(field) else name
    flags = flags or (f"--{'no-' * is_negated(field)}{word.replace('_', '-')}",)
    FLAGS[request.__name__, name] = max(flags, key=len)
    description = field.description or ""
    negation = f"Do not {description[:1].lower()}{description[1:]}" if is_negated(field) else None
    clauses = "; ".join(filter(None, [meaning or negation or description, note, "may be repeated" * _is_list(field)]))
    return typer.Option(_default_of(field), *flags, help=f"{clauses}{limits(field)}", **more)


def argument(request: type[Request], name: str, **more: Any) -> Any:
    """Return the argument for a field of a request; ``more`` is what the command line adds, such as a metavar."""
    field = request.model_fields[name]
    return typer.Argument(_default_of(field), help=f"{field.description}{limits(field)}", **more)


def _default_of(field: FieldInfo) -> Any:
    """Return the default as the parser has it: ``...`` for a value that is required, None for an empty list."""
    if is_negated(field):
        return False
    return ... if field.is_required() else None if field.default == () else field.default


def is_negated(field: FieldInfo) -> bool:
    """Return whether the flag of a field makes it false: it is true by default."""
    return field.default is True


def limits(field: FieldInfo) -> str:
    """Return the end of a help text: the choices, and the limits where there is a largest value."""
    choices = literals(field.annotation)
    among = f" One of: {', '.join(choices)}." if choices else ""
    has_most = any(hasattr(bound, "le") for bound in field.metadata)
    return f".{among}{f' [{bounds(field)}]' if has_most else ''}"


def _is_list(field: FieldInfo) -> bool:
    """Return whether a field holds several values."""
    return any(get_origin(part) is tuple for part in (field.annotation, *get_args(field.annotation)))


def in_options(error: GraphmemError) -> str:
    """Return the message of an error with the option of the command line for the parameter of the request."""
    field = str(error.details.get("field"))
    flag = FLAGS.get((error.details.get("request"), field))
    return re.sub(rf"\b{field}\b(\[\d+\])?", flag, error.message, count=1) if flag else error.message
