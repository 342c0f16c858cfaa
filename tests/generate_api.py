"""Makes ``graphmem/api.py`` from the table of operations and the descriptions of their requests."""

import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from graphmem.kernel.handle import Handle
from graphmem.kernel.registry import STREAMS, Operation
from tests.operations import NOUNS, ROWS

WIDTH = 120
ORDERED = ("command:",)  # parameters whose items have an order
HEAD = '''"""
The Python API: ``Memory``, one method an operation, grouped by noun.

A method checks its parameters and returns the answer of the operation, a model of ``graphmem.contract``; what a
parameter means and which values it takes is in docs/reference/requests.md.

This file is made from the operations in the registry by ``python -m tests.generate``; a test compares.
"""
# ruff: noqa: A002, E501
# fmt: off

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphmem.kernel.handle import Handle, Operations, call_without_store

if TYPE_CHECKING:
'''
MEMORY = """The memory of one project; any number of threads may use it.

Each thread gets its own connection when it first calls a method. A change of the settings, of what is trusted and
of the types by another process counts from the next call on."""


def api_module() -> str:
    """Return the text of the module."""
    methods: dict[str, list[str]] = {noun: [] for noun in ("", *NOUNS)}
    for row in ROWS:
        for name in (row.name, row.also):
            if name is not None:
                noun, _, verb = name.rpartition(".")
                methods[noun].append(method(row, verb))
    nouns = [
        f'class {noun.title()}(Operations):\n    """{meaning}"""\n\n' + "\n\n".join(methods[noun])
        for noun, meaning in NOUNS.items()
    ]
    imports: dict[str, set[str]] = {"graphmem.kernel.dispatch": {"Log"}}
    for row in ROWS:
        for answer in answers(row.answer):
            imports.setdefault(answer.__module__, set()).add(answer.__name__)
    lines = "".join(imported(place, sorted(names)) for place, names in sorted(imports.items()))
    return HEAD + lines + "\n\n" + "\n\n\n".join([*nouns, memory_class(methods[""])]) + "\n"


def imported(place: str, names: Sequence[str]) -> str:
    """Return an import, on several lines where one is too short."""
    line = f"    from {place} import {', '.join(names)}\n"
    if len(line) <= WIDTH:
        return line
    return f"    from {place} import (\n" + "".join(f"        {name},\n" for name in names) + "    )\n"


def answers(answer: Any) -> Iterator[type]:
    """Yield the models in the type of an answer."""
    if isinstance(answer, type) and issubclass(answer, BaseModel):
        yield answer
    for part in get_args(answer):
        yield from answers(part)


def memory_class(methods: Sequence[str]) -> str:
    """Return the class ``Memory``: a noun as a property each, and the operations that have none."""
    arguments = inspect.cleandoc(Handle.__doc__ or "").partition("\n\n")[2]
    text = textwrap.indent(f"{MEMORY}\n\n{arguments}", "    ")
    nouns = [
        f'    @cached_property\n    def {noun}(self) -> {noun.title()}:\n        """{meaning}"""\n'
        f"        return {noun.title()}(self.runtime, self.caller)"
        for noun, meaning in NOUNS.items()
    ]
    return f'class Memory(Handle):\n    """\n{text}\n    """\n\n' + "\n\n".join([*nouns, *methods])


def method(row: Operation, verb: str) -> str:
    """Return the method of an operation."""
    returns = spelled(row.answer)
    given = [f"{name}={name}" for name in row.request.model_fields if name != row.keywords]
    if row.keywords:
        given.append(f"{row.keywords}={{**({row.keywords} or {{}}), **changes}} if changes else {row.keywords}")
    stream = [row.stream] if row.stream else []
    called = "self.call" if row.needs_store else "call_without_store"
    head = block(f"    def {verb}", parameters(row), f" -> {returns}:")
    call = block(f"        answer: {returns} = {called}", [f'"{row.name}"', *stream, *given], "")
    static = "" if row.needs_store else "    @staticmethod\n"
    return f"{static}{head}\n{docstring(row)}\n{call}\n        return answer"


def parameters(row: Operation) -> list[str]:
    """Return the parameters of a method as its head has them."""
    fields = row.request.model_fields
    required = [name for name, field in fields.items() if field.is_required()]
    positional = len(required) if row.positional is None else row.positional
    named = [f"{name}: {taken(field)}{default(field)}" for name, field in fields.items()]
    named = [part.replace("Collection[", "Sequence[") if part.startswith(ORDERED) else part for part in named]
    by_name = named[positional:]
    found = named[:positional]
    if row.stream == "log":  # a command that passed has none
        by_name.insert(1, "log: Log = ()")
    elif row.stream:
        found.insert(0, f"{row.stream}: Log")
    if row.keywords:
        by_name.append("**changes: object")
    is_starred = by_name and not by_name[0].startswith("**")
    return [*(["self"] if row.needs_store else []), *found, *(["*"] if is_starred else []), *by_name]


def taken(field: FieldInfo) -> str:
    """Return the type of what a parameter takes: any collection, a path as text too, an object as its parts."""
    return spelled(field.annotation, is_taken=True)


def spelled(annotation: Any, *, is_taken: bool = False) -> str:
    """Return a type as it is written."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is NoneType or annotation is None:
        return "None"
    if origin is Annotated:
        return spelled(parts[0], is_taken=is_taken)
    if origin is Literal:
        return f"Literal[{', '.join(json.dumps(value) for value in parts)}]"
    if origin is tuple:
        return f"Collection[{spelled(parts[0], is_taken=is_taken)}]"
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping | Sequence):
        return f"{origin.__name__}[{', '.join(spelled(part, is_taken=is_taken) for part in parts)}]"
    if parts:
        return " | ".join(spelled(part, is_taken=is_taken) for part in parts)
    if is_taken and annotation is Path:
        return "Path | str"
    if is_taken and issubclass(annotation, BaseModel):
        return "Mapping[str, object]"
    return str(annotation.__name__)


def default(field: FieldInfo) -> str:
    """Return the default of a parameter as the head of a method has it."""
    if field.is_required():
        return ""
    value = field.default
    return f" = {json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)}"


def docstring(row: Operation) -> str:
    """Return the docstring of a method: what the operation does, what each parameter is, which errors there are."""
    described = {name: field.description or "" for name, field in row.request.model_fields.items()}
    if row.stream:
        described = {row.stream: STREAMS[row.stream], **described}
    if row.keywords:
        described["changes"] = f"Items of ``{row.keywords}``, as keywords"
    sections = {"Args": described, "Raises": row.raises}
    text = [
        f"        {section}:\n" + "\n".join(entry(name, meaning) for name, meaning in found.items())
        for section, found in sections.items()
        if found
    ]
    if not text:
        return f'        """{row.meaning}"""'
    return "\n\n".join([f'        """\n        {row.meaning}', *text]) + '\n        """'


def entry(name: str, meaning: str) -> str:
    """Return what a docstring says of one parameter or error."""
    made = textwrap.wrap(
        f"{name}: {meaning}.", WIDTH - 12, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return textwrap.indent("\n".join(made), " " * 12).replace("\\", "\\\\")


def block(before: str, parts: Sequence[str], after: str) -> str:
    """Return a head or a call as ``ruff format`` has it: on one line, on three, or with a line a part."""
    line = f"{before}({', '.join(parts)}){after}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(before) - len(before.lstrip()))
    inner = f"{indent}    {', '.join(parts)}"
    if len(inner) > WIDTH:
        inner = "\n".join(f"{indent}    {part}," for part in parts)
    return f"{before}(\n{inner}\n{indent}){after}"
