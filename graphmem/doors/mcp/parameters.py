"""The parameters of a tool: their JSON Schema and their checks, both from the requests of ``contract``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from graphmem.core.replies.reply import WHOLE, View
from graphmem.errors import GraphmemError, Usage
from graphmem.kernel.registry import OPERATIONS
from graphmem.kernel.request import Request, shown

UNSHOWN = ("title", "default")  # of a schema: what a model does not need to call a tool


@dataclass(frozen=True)
class ToolOperation:
    """
    One thing that a tool does.

    Args:
        name: of the operation, as in ``OPERATIONS``.
        fields: of its request that the tool takes, separated by blanks.
        renamed: what the tool calls a field; another name for what every operation of the tool takes.
        text: the parameter for the lines that the operation reads, which no request has.
        usual: values of parameters that are not given, where an agent is better off with others than a person.
        is_cut: it cuts its answer at a ``limit``, so it has to be asked for one more than are shown.
    """

    name: str
    fields: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    usual: Mapping[str, object] = field(default_factory=dict)
    is_cut: bool = False

    @property
    def request(self) -> type[Request]:
        """The request of the operation."""
        return OPERATIONS[self.name].request

    @cached_property
    def names(self) -> dict[str, str]:
        """The fields of the request, by the names of the tool's parameters."""
        return {self.renamed.get(name, name): name for name in self.fields.split()}

    def is_switch(self, name: str) -> bool:
        """Return whether a field of the request is true or false."""
        return self.request.model_fields[name].annotation is bool

    def parse(self, given: Mapping[str, object], limit: int) -> tuple[Request, str | None]:
        """Return the request, and the text of which it reads the lines; raise an error in graphmem's words."""
        text = given.get(self.text) if self.text else None
        if self.text and not isinstance(text, str):
            what = f"{self.text} is {shown(text)}" if self.text in given else f"parameter {self.text!r} is missing"
            raise Usage(what, hint="a text")
        fields = {self.names[name]: value for name, value in given.items() if name != self.text}
        for name, value in given.items():  # pydantic takes "yes" and 1 for true, which a model may not have meant
            if name in self.names and self.is_switch(self.names[name]) and not isinstance(value, bool):
                raise Usage(f"{name} is {shown(value)}", hint="true or false")
        try:
            request = self.request(**fields, **({"limit": limit} if self.is_cut else {}))
        except GraphmemError as error:
            raise _in_parameters(error, {name: shown for shown, name in self.names.items()}) from None
        return request, cast(str | None, text)


def _in_parameters(error: GraphmemError, names: Mapping[str, str]) -> GraphmemError:
    """Return an error about a field of a request with the name of the tool's parameter."""
    name = str(error.details.get("field"))
    called = names.get(name, name)
    message = error.message if called == name else error.message.replace(name, called, 1)
    return type(error)(message, hint=error.hint, details={**error.details, "field": called})


def _property_of(request: type[Request], name: str) -> dict[str, Any]:
    """Return the JSON Schema of a field of a request, as short as it goes."""
    found = request.model_json_schema()["properties"][name]
    kinds = [kind for kind in found.pop("anyOf", ()) if kind != {"type": "null"}]
    return _plain({**(kinds[0] if kinds else {}), **found})


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without titles and defaults, its names in order."""
    items = {"items": _plain(schema["items"])} if "items" in schema else {}
    return {name: value for name, value in sorted({**schema, **items}.items()) if name not in UNSHOWN}


@dataclass(frozen=True)
class Parameters:
    """
    The parameters of a tool with one or several operations.

    Args:
        operations: by the value of the parameter that chooses among them; under an empty text where there is one.
        choice: the name of that parameter.
        meaning: its description.
        default: its value where it is not given; None where it is required.
        has_view: every operation takes the parameters of ``View`` too.
        words: descriptions that are better than those of the fields, for want of room or where fields share a name.
    """

    operations: Mapping[str, ToolOperation]
    choice: str = ""
    meaning: str = ""
    default: str | None = None
    has_view: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the tool's input."""
        properties: dict[str, Any] = {}
        if self.choice:
            default = {} if self.default is None else {"default": self.default}
            properties[self.choice] = {
                "type": "string", "enum": list(self.operations), "description": self.meaning, **default
            }  # fmt: skip
        for name in self.names:
            properties[name] = self.property(name)
        properties |= {name: _property_of(View, name) for name in self.own}
        required = [self.choice] if self.choice and self.default is None else []
        required += [name for name in self.names if all(self.requires(one, name) for one in self.operations.values())]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    @property
    def own(self) -> list[str]:
        """The parameters that say how much to show."""
        return list(View.model_fields) if self.has_view else []

    @cached_property
    def names(self) -> list[str]:
        """The parameters that the requests have, in the order of the operations."""
        found = [name for one in self.operations.values() for name in (*filter(None, [one.text]), *one.names)]
        return list(dict.fromkeys(found))

    def requires(self, operation: ToolOperation, name: str) -> bool:
        """Return whether an operation cannot do without a parameter."""
        if name == operation.text:
            return True
        return name in operation.names and operation.request.model_fields[operation.names[name]].is_required()

    def property(self, name: str) -> dict[str, Any]:
        """Return the JSON Schema of a parameter; where few operations take it, its description says which."""
        fields = {value: one for value, one in self.operations.items() if name in one.names}
        found = [_property_of(one.request, one.names[name]) for one in fields.values()] or [{"type": "string"}]
        texts = {value: str(made.get("description")) for value, made in zip(fields, found, strict=False)}
        word = "; ".join(f"{value}: {text}" for value, text in texts.items())
        if len(set(texts.values())) == 1:
            is_common = len(fields) * 2 > len(self.operations)
            word = f"{'' if is_common else ', '.join(fields) + ': '}{found[0]['description']}"
        return {**found[0], "description": self.words.get(name) or word}

    def parse(self, given: Mapping[str, object]) -> tuple[str, Request, str | None, View]:
        """
        Return which operation is meant, its request, its text if it reads one, and how much to show.

        Raises:
            GraphmemError: in graphmem's words.
        """
        chosen = given.get(self.choice) if self.choice else ""
        value = self.default if chosen is None else chosen  # a client may write what it does not give as null
        if not isinstance(value, str) or value not in self.operations:
            what = f"parameter {self.choice!r} is missing" if value is None else f"unknown {self.choice} {shown(value)}"
            raise Usage(what, hint=f"one of: {', '.join(self.operations)}")
        operation = self.operations[value]
        names = [*filter(None, [operation.text]), *operation.names, *self.own]
        rest = {name: found for name, found in given.items() if name != self.choice and found is not None}
        if unknown := [name for name in rest if name not in names]:
            of = f" of {self.choice} {value!r}" if self.choice else ""
            raise Usage(f"unknown parameter {unknown[0]!r}{of}", hint=f"known: {', '.join(names)}")
        view = View(**{name: rest.pop(name) for name in self.own if name in rest})
        request, text = operation.parse({**operation.usual, **rest}, view.start + view.limit + 1)
        return value, request, text, view if self.has_view else WHOLE
