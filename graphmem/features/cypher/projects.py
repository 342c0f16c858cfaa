"""Cypher over many projects: push the graph of a memory to a server, and ask the graphs that are there."""

import time
from typing import TYPE_CHECKING, Any

from pydantic import Field

from graphmem.errors import Usage
from graphmem.features.cypher.engines import open_server
from graphmem.features.cypher.operations import NAME, CypherRows, MostRows, Parameters, Timeout
from graphmem.features.cypher.stored_query import refuse_parameters, stored
from graphmem.kernel.answer import Answer
from graphmem.kernel.registry import operation
from graphmem.kernel.request import Request
from graphmem.kernel.settings.config import graph_address
from graphmem.kernel.store.runtime import Client
from graphmem.names import GIVEN_SLUG, label, relation_label, split_ref

if TYPE_CHECKING:
    from graphmem.features.cypher.engines.falkordb.server import GraphServer


class GraphPushRequest(Request):
    """Where to write the graph of this memory."""

    url: str | None = Field(None, description="The server, as falkordb://HOST:PORT; GRAPHMEM_GRAPH if not given")
    project: str | None = Field(None, description="Name of the project there; that of GRAPHMEM_STORE if not given")


class GraphPushed(Answer):
    """What a server has now; ``changed`` is false, and nothing is counted, where it had the same already."""

    project: str
    server: str
    changed: bool
    records: int
    relations: int


class CypherProjectsRequest(Request):
    """A Cypher query to run on the graphs of several projects."""

    query: str = Field(description="One reading statement, or a stored query's name")
    projects: list[str] = Field(min_length=1, description="Names of projects, or all")
    parameters: Parameters = None
    timeout_s: Timeout = None
    limit: MostRows = None


@operation(
    "graph.push",
    positional=1,
    arguments=1,
    at_home=True,
    not_over_http="writes to another server with the rights of the caller",
    example="graphmem graph push falkordb://graphs.example:6379 --project shop",
)
def push(client: Client, request: GraphPushRequest) -> GraphPushed:
    """
    Write the graph of this memory to a FalkorDB server, in the place of the one that the project has there.

    The graph there is a copy for queries: it can be deleted and pushed again at any time.

    Raises:
        Usage: no server is named, or no project.
        Unavailable: the server cannot be reached or refuses, or its client is not installed.
    """
    project = request.project or getattr(client.ledger.place, "project", None)  # of a memory in a server
    if project in (None, "all"):
        raise Usage("the project has no name in the graph server", hint="give it one with --project NAME")
    if not GIVEN_SLUG.fullmatch(project):
        raise Usage(f"{project!r} is not the name of a project", hint="a name is of a-z 0-9 - _ . such as shop")
    client.sync()
    with _server(client, request.url) as server, client.catalog.unchanging():
        counts = server.push(project, client.catalog)
    records, relations = counts or (0, 0)
    is_new = counts is not None
    return GraphPushed(project=project, server=server.shown, changed=is_new, records=records, relations=relations)


@operation(
    "cypher_projects",
    at_home=True,
    not_over_http="asks the graphs of other projects with the rights of the caller",
)
def cypher_projects(client: Client, request: CypherProjectsRequest) -> CypherRows:
    """
    Run a Cypher query, or a stored one by its name, on the graph of each project, and put the rows together.

    The first column, ``project``, is added. Each graph answers for itself: an aggregate, such as ``count``, is one of
    its project, ``ORDER BY`` and ``LIMIT`` count within it, and no pattern leads from one project to another.

    Raises:
        Refused: a statement that is not allowed.
        Usage: no server is named, a parameter is missing, or a column of the query is called ``project``.
        NotFound: a project has no graph in the server.
        Unavailable: the server cannot be reached, or it ran out of time.
    """
    text, parameters = _statement(client, request)
    settings = client.settings
    timeout_s = settings.cypher.timeout if request.timeout_s is None else request.timeout_s
    limit = settings.cypher.limit if request.limit is None else request.limit
    end = time.monotonic() + timeout_s
    columns: list[str] = []
    rows: list[list[Any]] = []
    with _server(client, timeout_s=timeout_s) as server:
        for name in server.asked(request.projects):
            left_s = max(0.001, end - time.monotonic())
            columns, found = server.query(name, text, parameters, left_s, limit + 1 - len(rows))
            if "project" in columns:
                raise Usage("a column of the query is called 'project'", hint="call it something else, with AS")
            rows += [[name, *row] for row in found]
            if len(rows) > limit:
                break
    kinds = ["STRING", *("ANY" for _ in columns)]
    return CypherRows(columns=["project", *columns], types=kinds, rows=rows[:limit], truncated=len(rows) > limit)


def _server(client: Client, given: str | None = None, **limits: float) -> "GraphServer":
    """Connect to the server that is given, or to the user's own."""
    address = graph_address(given) if given else client.settings.graph.url
    if not address:
        raise Usage("no graph server is named", hint="set GRAPHMEM_GRAPH, or url below [graph] in your own config file")
    return open_server(address, **limits)


def _statement(client: Client, request: CypherProjectsRequest) -> tuple[str, dict[str, object]]:
    """Return the statement, which only reads, and its parameters."""
    given = dict(request.parameters or {})
    text = request.query
    if NAME.fullmatch(text):
        query = stored(text)
        names = {"relation": relation_label(str(given.pop("relation", ""))), "label": label("failure")}
        if "relation" in query.placeholders and not NAME.fullmatch(f"x/{names['relation'].lower()}"):
            raise Usage(f"query {query.name!r} misses parameter 'relation'", hint="give it as -p relation=causes")
        if "ref" in query.parameters:
            names["label"] = label(split_ref(str(given.get("ref", "failure/")))[0])
        text = query.filled(names, "open")
    refuse_parameters("the query", client.graph.require_read(text).parameters, given)
    return text, given
