"""Makes ``graphmem/api.pyi``, the types of the Python API, from the operations in the registry."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

import graphmem
from graphmem.kernel import registry
from graphmem.kernel.answer import Holds
from graphmem.kernel.registry import OPERATIONS, Operation
from tests.operations import NOUNS

WIDTH = 120
ORDERED = ("command:",)  # parameters whose items have an order
HEAD = """# The public names; made from ``graphmem/__init__.py`` by ``python -m tests.generate``.
# ruff: noqa: I001
# fmt: off
"""
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
    for name, operation in registry.methods().items():
        noun, _, verb = name.rpartition(".")
        methods[noun].append(method(OPERATIONS[operation], verb))
    nouns = [
        f'class {class_of(noun)}({"OpenStore" if noun == "store" else "Operations"}):\n    """{said}"""\n'
        + groups(noun)
        + "".join(methods[noun])
        for noun, said in NOUNS.items()
    ]
    imports = {"graphmem.kernel.handle": ["Handle", "OpenStore", "Operations"]}
    for name, place in vars(graphmem)["_MODULES"].items():
        imports.setdefault(place, []).append(name)
    del imports["graphmem.api"]
    lines = "".join(imported(place, names) for place, names in sorted(imports.items()))
    memory = "class Memory(Handle):\n" + groups("") + "".join(methods[""])
    return HEAD + lines + "\n" + "\n".join([*nouns, memory])


def class_of(noun: str) -> str:
    """Return the class of the operations of a noun."""
    return noun.rpartition(".")[2].title()


def groups(owner: str) -> str:
    """Return the properties of a class that are the nouns below it."""
    below = [noun for noun in NOUNS if noun.rpartition(".")[0] == owner]
    return "".join(
        f"    @cached_property\n    def {noun.rpartition('.')[2]}(self) -> {class_of(noun)}: ...\n" for noun in below
    )


def imported(place: str, names: Sequence[str]) -> str:
    """Return an import, on several lines where one is too short; a public name is one of the stub too."""
    names = [f"{name} as {name}" if name in vars(graphmem)["_MODULES"] else name for name in names]
    return wrapped(f"from {place} import (", names, ")\n")


def returned(row: Operation) -> Any:
    """Return the type of an answer with what it holds, such as the record of ``Changed[Failure]``."""
    return get_type_hints(row.function, include_extras=True)["return"]


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
