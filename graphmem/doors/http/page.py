"""The description as a page for people: plain HTML made here, which loads nothing and runs nothing."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: auto; padding: 1rem }
code, h2, h3 { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid GrayText; padding-top: 1rem }
h3 { font-size: 1rem }
table { border-collapse: collapse; width: 100% }
th, td { border: 1px solid GrayText; padding: .25rem .5rem; text-align: left; vertical-align: top }
"""
FIRST_ERROR = 400
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    f"style-src 'sha256-{base64.b64encode(sha256(STYLE.encode()).digest()).decode()}'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def page_of(description: dict[str, Any]) -> str:
    """Return a description in OpenAPI as a page."""
    title = f"{description['info']['title']} {description['info']['version']}"
    calls = [
        (method.upper(), path, call)
        for path, methods in description["paths"].items()
        for method, call in methods.items()
    ]
    parts = [
        f"<h1>{escape(title)}</h1><p>{escape(description['info']['description'])}</p>",
        "<p>Send the token in the header <code>Authorization: Bearer TOKEN</code>. The same for programs: "
        '<a href="openapi.json">openapi.json</a>, with a token.</p>',
        "<nav><h2>Calls</h2>",
        _table(["call", "", "what"], ([link(method, path), _access(call), _prose(call["summary"])]
                                     for method, path, call in calls)),
        "</nav><main>",
        *(_section(method, path, call) for method, path, call in calls),
        _errors([call for _, _, call in calls]),
        *(_shape(name, schema) for name, schema in sorted(description["components"]["schemas"].items())),
        "</main>",
    ]  # fmt: skip
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width">'
    return f'<!doctype html><html lang="en"><head>{head}{view}</head><body>{"".join(parts)}</body></html>\n'


def link(method: str, path: str) -> str:
    """Return a call as a link to its section."""
    return f'<a href="#{escape(path)}"><code>{method} {escape(path)}</code></a>'


def _access(call: dict[str, Any]) -> str:
    """Return whether a call reads or writes, as its tag says."""
    return escape(" ".join(call.get("tags", ())))


def _section(method: str, path: str, call: dict[str, Any]) -> str:
    """Return what a call takes and answers."""
    content = call.get("requestBody", {}).get("content", {})
    bodies = [f"<p>Body, {escape(kind)}: {_type_of(found['schema'])}</p>" for kind, found in content.items()]
    rows = [
        [_code(one["name"]), escape(one["in"]), _type_of(one["schema"]), _prose(one.get("description", ""))]
        for one in call.get("parameters", ())
    ]
    answers = [
        [escape(str(status)), _prose(found["description"]), _contents(found.get("content", {}))]
        for status, found in call["responses"].items()
        if int(status) < FIRST_ERROR
    ]
    given = [_table(["parameter", "in", "type", "what"], rows)] if rows else []
    head = f'<h2 id="{escape(path)}">{method} {escape(path)}</h2><p>{_prose(call["summary"])}</p>'
    return head + "".join([*bodies, *given, _table(["status", "what", "answer"], answers)])


def _errors(calls: Iterable[dict[str, Any]]) -> str:
    """Return what the errors of all calls mean, once."""
    found = {status: one["description"] for call in calls for status, one in call["responses"].items()}
    rows = [[escape(status), _prose(found[status])] for status in sorted(found) if int(status) >= FIRST_ERROR]
    head = '<h2 id="errors">Errors</h2><p>Each is a <a href="#Problem">Problem</a>.</p>'
    return head + _table(["status", "what"], rows)


def _prose(text: str) -> str:
    """Return a text, with what it has between backticks as code."""
    return re.sub(r"``(.+?)``", r"<code>\1</code>", escape(text))


def _contents(content: dict[str, Any]) -> str:
    """Return the type of an answer, by media type if it is not JSON."""
    return " or ".join(_type_of(found.get("schema", {})) or escape(kind) for kind, found in content.items())


def _shape(name: str, schema: dict[str, Any]) -> str:
    """Return the fields of an object."""
    needed = schema.get("required", ())
    rows = (
        [_code(field), _type_of(found), "required" if field in needed else _default(found),
         _prose(found.get("description", ""))]
        for field, found in schema.get("properties", {}).items()
    )  # fmt: skip
    fields = _table(["field", "type", "default", "what"], rows) if "properties" in schema else _type_of(schema)
    return f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{_prose(schema.get("description", ""))}</p>{fields}'


def _type_of(schema: dict[str, Any]) -> str:
    """Return the type of a value in words, with links to the objects."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if found := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(map(_type_of, found))
    if "enum" in schema or "const" in schema:
        return " or ".join(_code(json.dumps(value)) for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type_of(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type_of(schema['additionalProperties'])}"
    return escape(schema.get("type", "any value") if schema else "")


def _default(schema: dict[str, Any]) -> str:
    """Return the default of a field, where it has one."""
    return _code(json.dumps(schema["default"])) if "default" in schema else ""


def _code(text: str) -> str:
    """Return a text as it is typed."""
    return f"<code>{escape(text)}</code>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table; its cells are HTML."""

    def cells(name: str, values: Iterable[str]) -> Iterator[str]:
        yield "<tr>"
        yield from (f"<{name}>{value}</{name}>" for value in values)
        yield "</tr>"

    body = "".join("".join(cells("td", row)) for row in rows)
    return f"<table><thead>{''.join(cells('th', heads))}</thead><tbody>{body}</tbody></table>"
