"""Values of a FalkorDB server: parameters as it reads them, and its rows as JSON values."""

import json
import math
from typing import Any

from graphmem.errors import BadInput
from graphmem.patterns import lazy_re

NAME = lazy_re(r"[A-Za-z_][A-Za-z0-9_]*")
ENDS = ("source", "target")  # properties of a relation there: the references of its ends
NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


def literal(value: object) -> str:
    """Return a JSON value as a literal of Cypher; ``BadInput`` for the key of a map that could end the literal."""
    if isinstance(value, str):  # a text ends at a zero there
        text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "\ufffd")
        return f'"{text}"'
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        for key in value:
            if not NAME.fullmatch(str(key)):
                raise BadInput(f"a parameter has the key {key!r}", hint="keys are of A-Z a-z 0-9 _")
        return f"{{{', '.join(f'`{key}`: {literal(one)}' for key, one in value.items())}}}"
    return json.dumps(value)


def json_of(value: Any) -> object:
    """Return a value as JSON, with nodes, relations and paths as the local graph gives them."""
    if hasattr(value, "edges"):
        mixed: list[Any] = [None] * (len(value.nodes()) + len(value.edges()))
        mixed[::2], mixed[1::2] = value.nodes(), value.edges()
        value = mixed
    if hasattr(value, "labels"):
        node = {"ref": value.properties.get("ref"), "label": next(iter(value.labels or ()), None)}
        return {**node, "properties": json_of(value.properties)}
    if hasattr(value, "relation"):
        source, target = (value.properties.get(end) for end in ENDS)
        own = {name: one for name, one in value.properties.items() if name not in ENDS}
        return {"type": value.relation, "from": source, "to": target, "properties": json_of(own)}
    if isinstance(value, float) and not math.isfinite(value):
        return NOT_FINITE.get(value, "NaN")
    if isinstance(value, list):
        return [json_of(item) for item in value]
    if isinstance(value, dict):
        return {str(key): json_of(item) for key, item in value.items()}
    return value if value is None or isinstance(value, str | int | float) else str(value)  # such as a duration
