"""The application: a route for each operation, its description in OpenAPI, and errors as problem details."""

import json
import logging
import os
import tempfile
from asyncio import get_running_loop
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from hashlib import sha256
from threading import Event
from typing import Annotated, Any, BinaryIO, Literal

from fastapi import Body, Depends, FastAPI
from fastapi import Request as Call
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from graphmem import __version__
from graphmem.api import Memory
from graphmem.core.records.read import write_rows
from graphmem.doors.http.etags import tagged
from graphmem.doors.http.events import add_events
from graphmem.doors.http.guard import DOCS, HEALTH, METRICS, ROWS, STREAM, TYPES
from graphmem.doors.http.mcp import McpRoute
from graphmem.doors.http.metrics import PLAIN, Metrics
from graphmem.doors.http.operations import IN_JSON_ONLY, Route, operations
from graphmem.doors.http.page import HEADERS, page_of
from graphmem.doors.http.problems import MEANINGS, MEDIA_TYPE, Problem, problem, problem_of
from graphmem.doors.http.view import add_view
from graphmem.errors import AlreadyDone, GraphmemError
from graphmem.kernel.dispatch import Caller
from graphmem.kernel.ledger import undo
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from graphmem.kernel.machine.service_state import Done, ServiceStatus
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.record import Record
from graphmem.kernel.store.attempt import attempt
from graphmem.kernel.system.surroundings import Surroundings, called_from
from graphmem.kernel.telemetry import observed
from graphmem.names import inert
from graphmem.patterns import lazy_re

WORKERS = 8  # operations that run at the same time; each has a connection of its own
KEPT_IN_MEMORY = 2**20  # bytes of lines; more are in a temporary file while they come
ABOUT = (
    "The memory of a project, as the command line has it. Every operation is a POST with a JSON object, and answers "
    "with the document that the command prints with --json."
)
KNOWN = {
    "name": "If-None-Match", "in": "header", "required": False, "schema": {"type": "string"},
    "description": "Tags of answers that the caller has; where one is still right, the answer is 304",
}  # fmt: skip
ID = lazy_re(r"[ -~]{1,255}")  # of a request
REPLAYED = "Idempotency-Replayed"  # header of an answer to a request that had been carried out before
KEY = {
    "name": "Idempotency-Key", "in": "header", "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    "description": "An id of the request, one for each: sent again under the same id, it is not carried out twice, and "
    "gets the answer of the first time",
}  # fmt: skip
UNCHANGED = {"description": "The caller has the answer, as the header ETag says"}
log = logging.getLogger("graphmem.doors.http")


def make_app(memory: Memory, health: Callable[[], ServiceStatus], metrics: Metrics, ended: Event) -> FastAPI:
    """Return the application for a memory; ``health`` says how its service is, ``metrics`` what it did."""
    memory.store.runtime.asks_others = False  # who has a token is not always the user
    app = FastAPI(
        title="graphmem",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # these pages load scripts from another host
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=True,
    )
    workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="http")
    caller = Surroundings(str(memory.store.client.root), dict(os.environ))  # a path counts from the project

    def done(work: Callable[[Memory], Response]) -> Response:
        with called_from(caller):
            return work(memory)

    async def run(work: Callable[[Memory], Response]) -> Response:
        return await get_running_loop().run_in_executor(workers, copy_context().run, done, work)  # spans have parents

    for operation in operations().values():
        _add_route(app, operation, run)
        if operation.stream is not None and operation.name not in IN_JSON_ONLY:
            _add_stream(app, operation, run)
    _add_rows(app, run)
    add_events(app, memory, workers, ended)
    _add_health(app, health)
    _add_metrics(app, metrics)
    add_view(app)
    _add_handlers(app)
    McpRoute(memory).add_to(app)
    app.openapi = partial(described, app)  # type: ignore[method-assign]
    app.get(DOCS, include_in_schema=False)(partial(shown_page, app))
    return app


def _add_route(app: FastAPI, operation: Route, run: Callable[..., Any]) -> None:
    """Add the route that takes the parameters of an operation as a JSON object."""
    needs_body = any(field.is_required() for field in operation.body.model_fields.values())

    async def call(request: Call, body: Any) -> Response:
        given, known = operation.body() if body is None else body, request.headers.get("if-none-match")
        caller: Caller = request.scope["caller"]
        caller.admit(operation.row, given)

        def work(memory: Memory) -> Response:
            def run() -> Response:
                return _answer(operation.call(memory.store.runtime, caller, given))

            if operation.is_read:
                return tagged(memory, caller, operation.name, given, known, run)
            return _once(memory, _request_of(request, operation, given.model_dump_json()), run)

        return await run(work)  # type: ignore[no-any-return]

    call.__annotations__["body"] = Annotated[operation.body, Body()]
    call.__defaults__ = () if needs_body else (None,)
    more = _shared(operation)
    if operation.is_read:
        more["responses"] = {304: UNCHANGED, **more["responses"]}
    more["openapi_extra"] = {"parameters": [KNOWN if operation.is_read else KEY]}
    app.post(operation.path, **more)(call)


def _add_stream(app: FastAPI, operation: Route, run: Callable[..., Any]) -> None:
    """Add the route that takes the lines of an operation as the body, and its parameters in the query string."""

    async def call(request: Call) -> Response:
        given = operation.request.model_validate(dict(request.query_params))
        with tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY) as lines:
            content = sha256(given.model_dump_json().encode())
            async for part in request.stream():  # all of it before the first line is used: a slow caller holds no lock
                lines.write(part)
                content.update(part)
            lines.seek(0)
            asked = _request_of(request, operation, content.hexdigest())
            work = partial(operation.call, caller=request.scope["caller"], given=given, lines=lines)
            return await run(lambda memory: _once(memory, asked, lambda: _answer(work(memory.store.runtime))))  # type: ignore[no-any-return]

    fields = operation.request.model_json_schema()["properties"]
    parameters = [
        {"name": name, "in": "query", "required": False, "description": field.pop("description", ""), "schema": field}
        for name, field in fields.items()
    ]
    content = {media_type: {"schema": {"type": "string"}} for media_type in TYPES[True]}
    own = [] if operation.is_read else [KEY]
    extra = {"parameters": [*own, *parameters], "requestBody": {"required": True, "content": content}}
    more = _shared(operation)
    more["operation_id"] += STREAM.replace("/", ".")
    app.post(operation.path + STREAM, openapi_extra=extra, **more)(call)


def _request_of(call: Call, operation: Route, content: str) -> RequestUnderWay | None:
    """
    Return the request that a caller sent, with its id; None without one.

    Raises:
        HTTPException: the id cannot be one.
    """
    given = call.headers.get("idempotency-key")
    if given is None or operation.is_read:
        return None
    if not ID.fullmatch(given):
        raise HTTPException(400, "the header Idempotency-Key has from 1 to 255 printable ASCII characters")
    return RequestUnderWay(f"http {given}", f"{operation.name} {content}", scope=call.scope["caller"].scope)


def _once(memory: Memory, asked: RequestUnderWay | None, work: Callable[[], Response]) -> Response:
    """Carry a request out; one that was carried out before gets the answer of the first time."""
    if asked is None:
        return work()
    client = memory.store.client
    with carried_out(asked):
        try:
            asked.refuse_done(client.state, partial(undo.has_happened, client.layout))
            response = work()
        except AlreadyDone as error:
            body = error.answer if isinstance(error.answer, str) else Done().model_dump_json()
            return Response(body, media_type="application/json", headers={REPLAYED: "true"})
        asked.keep(bytes(response.body).decode())
        return response


def _add_rows(app: FastAPI, run: Callable[..., Any]) -> None:
    """Add the route that streams all rows; they are collected first, so that a slow caller holds no transaction."""

    def collected(memory: Memory) -> Response:
        lines: BinaryIO = tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY)  # type: ignore[assignment] # noqa: SIM115
        with observed("operation", "rows"):
            attempt(memory.store.client, partial(write_rows, memory.store.client, lines))
        return StreamingResponse(_parts_of(lines), media_type=TYPES[True][0])

    async def call(request: Call) -> Response:
        caller, known = request.scope["caller"], request.headers.get("if-none-match")
        caller.require_all_kinds("rows")
        return await run(lambda memory: tagged(memory, caller, "rows", None, known, lambda: collected(memory)))  # type: ignore[no-any-return]

    shown = {"description": "The rows, one JSON object a line", "content": {TYPES[True][0]: {"schema": {}}}}
    app.get(
        ROWS, operation_id="rows", tags=["read"], response_class=Response, openapi_extra={"parameters": [KNOWN]},
        summary="Return every row of the files, at one moment", responses={200: shown, 304: UNCHANGED, **_problems()},
    )(call)  # fmt: skip


def _parts_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield what a file holds from its start, and close it."""
    with file:
        file.seek(0)
        while part := file.read(2**16):
            yield part


def _shared(operation: Route) -> dict[str, Any]:
    """Return what all routes of an operation have."""

    async def admit(call: Call) -> None:  # before the body is read
        call.scope["caller"].admit(operation.row)

    return {
        "operation_id": operation.name,
        "summary": operation.row.meaning,
        "tags": ["read" if operation.is_read else "write"],
        "response_model": operation.row.answer,
        "response_description": "The answer",
        "responses": _problems(),
        "dependencies": [Depends(admit)],
    }


def _problems() -> dict[int | str, dict[str, Any]]:
    """Return the descriptions of the answers that are errors, by status."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": text, "content": content} for status, text in MEANINGS.items()}


def _add_health(app: FastAPI, health: Callable[[], ServiceStatus]) -> None:
    """Add the route that says whether the service answers; the rest of its state is for callers who may see all."""

    async def call(request: Call) -> Response:
        caller: Caller | None = request.scope["caller"]
        return _answer(health() if caller and not caller.is_limited else ServiceStatus(ok=True, store=""))

    app.get(HEALTH, response_model=ServiceStatus, summary="Say that the service answers", operation_id="healthz")(call)


def _add_metrics(app: FastAPI, metrics: Metrics) -> None:
    """Add the route that Prometheus reads."""

    async def call() -> Response:
        return Response(metrics.text(), media_type=PLAIN)

    shown = {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "The metrics"}
    app.get(METRICS, response_class=Response, responses={200: shown}, summary="What was done, for Prometheus",
            operation_id="metrics")(call)  # fmt: skip


def _answer(found: BaseModel | Sequence[str]) -> Response:
    """Return an answer as the command line prints it."""
    if isinstance(found, BaseModel):
        text = found.model_dump_json(by_alias=True)
    else:
        text = json.dumps(found, ensure_ascii=False)
    return Response(inert(text), media_type="application/json")


def described(app: FastAPI) -> dict[str, Any]:
    """Return the description of the application in OpenAPI."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            separate_input_output_schemas=True,
        )
        parts = made.setdefault("components", {})
        kinds: list[tuple[type[BaseModel], Literal["serialization"]]] = [
            (model, "serialization") for model in MODELS.values() if issubclass(model, Record)
        ]
        of_kinds, made_for_them = models_json_schema(kinds, ref_template="#/components/schemas/{model}")
        parts["schemas"] |= made_for_them["$defs"] | {"Record": {"anyOf": list(of_kinds.values())}}
        of_problem = Problem.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
        parts["schemas"] |= of_problem.pop("$defs", {}) | {"Problem": of_problem}
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
        made["paths"][HEALTH]["get"]["security"] = []
        app.openapi_schema = made
    return app.openapi_schema


async def shown_page(app: FastAPI) -> Response:
    """Return the description as a page."""
    return Response(page_of(described(app)), media_type="text/html", headers=HEADERS)


# --- errors -----------------------------------------------------------------------------------------------------------


def _add_handlers(app: FastAPI) -> None:
    """Let every error be a problem document."""

    async def of_graphmem(call: Call, error: Exception) -> Response:
        assert isinstance(error, GraphmemError)
        return problem_of(error)

    async def of_body(call: Call, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            detail = f"the body is not JSON: {first['ctx']['error']}, at character {first['loc'][-1]}"
            return problem(400, "bad_json", detail, hint="a JSON object")
        return problem(422, "usage", "the body is missing", hint="a JSON object", title="The call is wrong")

    async def of_http(call: Call, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        words = {400: "the body is not JSON", 404: f"no route {call.url.path[:80]!r}", 413: "the body is too large"}
        codes = {400: "bad_json", 404: "no_route", 405: "wrong_method", 413: "too_large"}
        hints = {404: "the routes are in /openapi.json", 405: "operations are POST"}
        status = error.status_code
        detail = words.get(status, str(error.detail))
        return problem(status, codes.get(status, "usage"), detail, hint=hints.get(status), headers=error.headers)

    async def of_system(call: Call, error: Exception) -> Response:
        return problem(503, "unavailable", str(error) or "out of memory")

    async def of_bug(call: Call, error: Exception) -> Response:
        log.exception("a request failed", exc_info=error)
        hint = "this is a fault of graphmem; please report it"
        return problem(500, "bug", type(error).__name__, hint=hint)

    app.add_exception_handler(GraphmemError, of_graphmem)
    app.add_exception_handler(RequestValidationError, of_body)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(OSError, of_system)
    app.add_exception_handler(MemoryError, of_system)
    app.add_exception_handler(Exception, of_bug)
