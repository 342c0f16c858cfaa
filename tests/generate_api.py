"""Makes ``graphmem/api.pyi``, the types of the Python API, from the operations in the registry."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from graphmem.kernel.answer import Holds
from graphmem.kernel.registry import OPERATIONS, Operation, features
from tests.operations import NOUNS, ROWS

WIDTH = 120
ORDERED = ("command:",)  # parameters whose items have an order
HEAD = """# The types of the Python API; made from the operations in the registry by ``python -m tests.generate``.
# ruff: noqa: A002, E501, I001
# fmt: off
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

"""


def api_stub() -> str:
    """Return the text of the stub."""
    methods: dict[str, list[str]] = {noun: [] for noun in ("", *NOUNS)}
    names = {name: name for name in OPERATIONS}
    for feature in features().values():
        names |= feature.also
    for name, operation in names.items():
        noun, _, verb = name.rpartition(".")
        methods[noun].append(method(OPERATIONS[operation], verb))
    nouns = [
        f'class {noun.title()}(Operations):\n    """{said}"""\n' + "".join(methods[noun])
        for noun, said in NOUNS.items()
    ]
    imports: dict[str, set[str]] = {
        "graphmem.kernel.dispatch": {"Log"}, "graphmem.kernel.handle": {"Handle", "Operations"},
    }  # fmt: skip
    for row in ROWS:
        for answer in answers(returned(row)):
            imports.setdefault(answer.__module__, set()).add(answer.__name__)
    lines = "".join(imported(place, sorted(names)) for place, names in sorted(imports.items()))
    memory = "class Memory(Handle):\n" + "".join(
        f"    @cached_property\n    def {noun}(self) -> {noun.title()}: ...\n" for noun in NOUNS
    )
    return HEAD + lines + "\n" + "\n".join([*nouns, memory + "".join(methods[""])])


def imported(place: str, names: Sequence[str]) -> str:
    """Return an import, on several lines where one is too short."""
    return wrapped(f"from {place} import (", names, ")\n")


def returned(row: Operation) -> Any:
    """Return the type of an answer with what it holds, such as the record of ``Changed[Failure]``."""
    return get_type_hints(row.function, include_extras=True)["return"]


def answers(answer: Any) -> Iterator[type]:
    """Yield the models in the type of an answer."""
    if isinstance(answer, Holds):
        yield from answers(answer.kind)
    if isinstance(answer, type) and issubclass(answer, BaseModel):
        yield answer
    for part in get_args(answer):
        yield from answers(part)


def method(row: Operation, verb: str) -> str:
    """Return the method of an operation: its types, and what it does."""
    static = "" if row.needs_store else "    @staticmethod\n"
    head = wrapped(f"    def {verb}(", parameters(row), f") -> {spelled(returned(row))}:")
    return f'{static}{head}\n        """{row.meaning}"""\n'


def wrapped(before: str, parts: Sequence[str], after: str) -> str:
    """Return parts between brackets, on as many lines as they need."""
    line = f"{before}{', '.join(parts)}{after}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(before) - len(before.lstrip()) + 4)
    rows, row = list[str](), indent
    for part in parts:
        if len(row) + len(part) + 2 > WIDTH and row.strip():
            rows.append(row.rstrip())
            row = indent
        row += f"{part}, "
    return "\n".join([before, *rows, row.rstrip(), f"{indent[4:]}{after}"])


def parameters(row: Operation) -> list[str]:
    """Return the parameters of a method as its head has them."""
    found = ["self"] if row.needs_store else []
    for name, one in row.signature.parameters.items():
        if one.kind is one.KEYWORD_ONLY and "*" not in found:
            found.append("*")
        field = row.request.model_fields.get(name)
        if one.kind is one.VAR_KEYWORD:
            found.append(f"**{name}: object")
        elif field is None:
            found.append(f"{name}: Log" + (" = ()" if one.default == () else ""))
        else:
            part = f"{name}: {taken(field)}{default(field)}"
            found.append(part.replace("Collection[", "Sequence[") if part.startswith(ORDERED) else part)
    return found


def taken(field: FieldInfo) -> str:
    """Return the type of what a parameter takes: any collection, a path as text too, an object as its parts."""
    return spelled(field.annotation, is_taken=True)


def spelled(annotation: Any, *, is_taken: bool = False) -> str:
    """Return a type as it is written."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is NoneType or annotation is None:
        return "None"
    if origin is Annotated:
        held = [f"[{spelled(one.kind)}]" for one in annotation.__metadata__ if isinstance(one, Holds)]
        return "".join([spelled(parts[0], is_taken=is_taken), *held])
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
