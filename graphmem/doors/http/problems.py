"""Errors as problem details (RFC 9457)."""

import json
from collections.abc import Mapping

from pydantic import BaseModel, Field, JsonValue
from starlette.responses import Response

from graphmem.errors import BadInput, Conflict, Damaged, GraphmemError, Locked, NotFound, Refused, Unavailable, Usage
from graphmem.names import inert

MEDIA_TYPE = "application/problem+json"
STATUS: tuple[tuple[type[GraphmemError], int, str], ...] = (  # the first class that fits
    (NotFound, 404, "Not found"),
    (Usage, 422, "The call is wrong"),
    (BadInput, 422, "The input does not check out"),
    (Conflict, 409, "Conflict"),
    (Refused, 403, "Refused"),
    (Locked, 503, "Another process writes"),
    (Unavailable, 503, "Unavailable"),
    (Damaged, 500, "The store is damaged"),
    (GraphmemError, 500, "Error"),
)
MEANINGS = {
    400: "The body is not JSON",
    401: "The token is missing or wrong",
    403: "A rule forbids it, or the token or the origin does not allow it",
    404: "No record, route or query has that name",
    405: "The route takes another method",
    409: "Something else already holds the name, or the record changed meanwhile",
    413: "The body is too large",
    415: "The body is of another type",
    421: "The request is for another host",
    422: "The input does not check out",
    500: "The store is damaged, or a fault of graphmem",
    503: "It cannot be done now: another process writes, or time is up",
}


class Problem(BaseModel):
    """What went wrong; ``code``, ``detail``, ``hint`` and ``details`` are those of the error, as in errors.md."""

    type: str = Field("about:blank", description="Always about:blank; code says which error it is")
    title: str = Field(description="The class of the error")
    status: int = Field(description="Status of the answer")
    detail: str = Field(description="What was refused, and which value")
    code: str = Field(description="The class of the error, for a program")
    hint: str | None = Field(None, description="What would be right")
    details: dict[str, JsonValue] = Field({}, description="The facts")


def problem_of(error: GraphmemError) -> Response:
    """Return the answer for an error."""
    status, title = next((status, title) for kind, status, title in STATUS if isinstance(error, kind))
    return problem(status, error.code, error.message, hint=error.hint, details=error.details, title=title)


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str | None = None,
    details: Mapping[str, object] | None = None,
    title: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer for what went wrong."""
    shown = {
        "type": "about:blank",
        "title": title or MEANINGS.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
        "hint": hint,
        "details": dict(details or {}),
    }
    text = inert(json.dumps(shown, default=str, ensure_ascii=False, separators=(",", ":")))
    retry = {"Retry-After": "1"} if code == Locked.code else {}  # what is missing, such as git, is missing then too
    content = text.encode("utf-8", "backslashreplace")
    return Response(content, status, media_type=MEDIA_TYPE, headers={**retry, **(headers or {})})
