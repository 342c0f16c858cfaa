"""
Ask: Cypher of users, read-only and bounded, and the stored queries by name.

The graph is asked in another process, which may take long, while no moment of the store is open.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import Annotated, Any

from pydantic import Field, JsonValue

from graphmem.constants import (
    CYPHER_MOST_ROWS,
    CYPHER_MOST_S,
    CYPHER_ROW_LIMIT,
    CYPHER_TIMEOUT_S,
    DOUBTS_OF_ROWS,
    SHOWN_FINDINGS,
)
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.doubts import Doubter
from graphmem.errors import NotFound, Refused, Usage
from graphmem.features.cypher.project_queries import SAMPLE, project_queries
from graphmem.features.cypher.stored_query import Stored, all_stored, refuse_parameters, stored
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.finding import Finding
from graphmem.kernel.graph import GraphAnswer
from graphmem.kernel.model import MODELS, MemoryRecord
from graphmem.kernel.model.vocabulary import KINDS
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.suggest import did_you_mean
from graphmem.names import label, relation_label, split_ref
from graphmem.patterns import lazy_re

Parameters = Annotated[Mapping[str, object] | None, Field(description="Values of the query's parameters, by name")]
Timeout = Annotated[
    float | None,
    Field(
        gt=0,
        le=CYPHER_MOST_S,
        description=f"Seconds that the query may take; the setting ({CYPHER_TIMEOUT_S:g}) if not given",
    ),
]
MostRows = Annotated[
    int | None,
    Field(
        ge=1,
        le=CYPHER_MOST_ROWS,
        description=f"Return at most this many rows; the setting ({CYPHER_ROW_LIMIT:,}) if not given",
    ),
]


class CypherRequest(Request):
    """A Cypher query to run, read-only and bounded."""

    query: str = Field(description="One reading statement, or a stored query's name")
    parameters: Parameters = None
    timeout_s: Timeout = None
    limit: MostRows = None


class CypherNamedRequest(Request):
    """A stored query to run by its name."""

    name: str = Field(description="Name of a stored query, such as failure/solutions")
    parameters: Parameters = None
    timeout_s: Timeout = None
    limit: MostRows = None


class CypherRows(Answer):
    """
    The answer to a Cypher query.

    ``doubts`` is what speaks against relying on the records in the rows, nodes and references, the first hundred.
    """

    columns: list[str]
    types: list[str]
    rows: list[list[JsonValue]]
    truncated: bool
    doubts: dict[str, list[Doubt]] = {}


class StoredQuery(Part):
    """A query that anyone may run by its name: one of graphmem's ``queries/``, or of the project's."""

    name: str
    sentence: str
    parameters: dict[str, str]
    columns: list[str]
    is_of_project: bool = False


class QueryList(Answer):
    """Every stored query that reads."""

    results: list[StoredQuery]


HITS = 'give a list: -p \'hits:=[{"ref": "failure/a", "similarity": 0.9}]\''
NAME = lazy_re(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*")  # of a stored query; no statement is like that


@operation(
    "cypher",
    positional=2,
    past=True,
    scoped=True,
    raises={
        "Refused": "a statement that is not allowed; the hint names the command that does it",
        "Usage": "a parameter that is missing or that the query does not have",
        "BadInput": "the engine does not understand it",
        "Unavailable": "it ran out of time or memory",
    },
    leaves=("parameters",),
    takes={"timeout_s": Taken("SECONDS", flag="--timeout")},
    help="Ask the graph in Cypher: read-only, bounded in time, memory and rows.",
    example="graphmem cypher 'MATCH (p:Pattern)-[:SOLVES]->(f:Failure {name: $name}) RETURN p.name'"
    " -p name=import-error",
)
def cypher(client: Client, request: CypherRequest) -> CypherRows:
    """Run a Cypher query, read-only and bounded in time, memory and rows."""
    query, parameters = request.query, request.parameters or {}
    if NAME.fullmatch(query):
        named = {"name": query, **request.model_dump(exclude={"query"})}
        return cypher_named(client, CypherNamedRequest(**named))
    checked = client.graph.require_read(query)
    refuse_parameters("the query", checked.parameters, parameters)
    _refuse_unseen(client, checked.labels)
    return run(client, partial(client.graph.cypher, query, parameters), request)


@operation("cypher_named", positional=2, past=True, scoped=True)
def cypher_named(client: Client, request: CypherNamedRequest) -> CypherRows:
    """Run a stored query by its name, such as ``failure/solutions``."""
    name, parameters = request.name, request.parameters or {}
    query = _stored_here(client, name)
    if query.is_write:
        raise Refused(f"stored query {name!r} writes", hint="the files are the truth; see: graphmem --help")
    extra = _names_asked(query)
    refuse_parameters(f"query {name!r}", frozenset({*query.parameters, *extra}), parameters)
    with client.reading() as snapshot:
        given, names = _filled(snapshot, query, parameters, extra)
    _refuse_unseen(client, client.graph.require_read(query.filled(names)).labels)
    answer = run(client, partial(client.graph.cypher, query.filled(names), given), request)
    if answer.columns != list(query.columns):  # graphmem's own are compared by its tests
        raise Refused(
            f"query {name!r} returns the columns {', '.join(answer.columns)}, and its header declares"
            f" {', '.join(query.columns)}",
            hint="correct the file, so that callers can rely on it",
        )
    return answer


def _stored_here(client: Client, name: str) -> Stored:
    """
    Return a stored query, graphmem's own or one of the project.

    Raises:
        NotFound: no stored query has that name.
        Refused: the project has one, and its file is wrong.
    """
    if name in all_stored():
        return stored(name)
    queries, findings = _seen_queries(client)
    for finding in findings:
        if finding.file == f"queries/{name}.cypher":
            raise Refused(f"{finding.file}: {finding.message}", hint=finding.expected or None)
    if name not in queries:
        known = [*queries, *(query.name for query in all_stored().values() if not query.is_write)]
        raise NotFound(f"no stored query {name!r}", hint=did_you_mean(name, known) or "see: graphmem cypher --list")
    return queries[name]


def _refuse_unseen(client: Client, labels: Collection[str]) -> None:
    """
    Raise ``Refused`` for a query that names a kind that the caller may not see.

    A type of the project that it may not see is not in its graph: to this caller there is none of that name.
    """
    client.refuse_unseen(kind for kind in KINDS if label(kind) in labels)


def _seen_queries(client: Client) -> tuple[dict[str, Stored], list[Finding]]:
    """Return the project's stored queries and what is wrong with them; none that names what the caller may not see."""
    queries, findings = project_queries(client.layout, client.graph)
    sees = client.rights.sees
    if client.whole is None or sees is None:
        return queries, findings
    whole, seen = client.whole.catalog.vocabulary, client.catalog.vocabulary
    hidden = {label(name) for name in whole.record_types if name not in sees}
    hidden |= {relation_label(name) for name in whole.relations if name not in seen.relations}
    labels = {name: client.graph.require_read(query.filled(SAMPLE)).labels for name, query in queries.items()}
    return {name: query for name, query in queries.items() if hidden.isdisjoint(labels[name])}, []


def _filled(
    snapshot: Snapshot, query: Stored, parameters: Mapping[str, object], extra: Collection[str]
) -> tuple[dict[str, object], dict[str, str]]:
    """Return the parameters of a stored query and the names for its placeholders; ``extra`` are asked of the user."""
    names = {}
    if "relation" in extra:
        kind = str(parameters["relation"])
        known = snapshot.vocabulary.relations
        if kind.lower() not in known:
            raise Usage(
                f"relation type {kind!r} is unknown", hint=did_you_mean(kind, known) or f"known: {', '.join(known)}"
            )
        names["relation"] = relation_label(kind)
    declared = query.parameters
    given = {key: _with_current_refs(snapshot, key, value) for key, value in parameters.items() if key in declared}
    if "label" in extra:
        record_types = {label(record_type): record_type for record_type in snapshot.vocabulary.record_types}
        record_type = record_types.get(str(parameters["label"]), str(parameters["label"]))
        if record_type not in record_types.values():
            raise Usage(
                f"{record_type!r} is not a label",
                hint=did_you_mean(record_type, record_types) or f"known: {', '.join(record_types)}",
            )
        names["label"] = label(record_type)
    elif "label" in query.placeholders:
        names["label"] = label(split_ref(str(given["ref"]))[0])
    return given, names


def _with_current_refs(snapshot: Snapshot, name: str, value: object) -> object:
    """Return the value of a parameter; where it holds references or names, the current references of the records."""
    if name in ("ref", "target"):
        number = snapshot.resolve(str(value))
        return snapshot.catalog.refs([number])[number]
    return _current_hits(snapshot, value) if name == "hits" else value


def _current_hits(snapshot: Snapshot, hits: Any) -> list[dict[str, object]]:
    """Return hits with the current references of their records."""
    try:
        found = [(hit["ref"], float(hit["similarity"])) for hit in hits]
    except (TypeError, KeyError, ValueError):
        found = []
    if not found:  # of none the engine does not know the type
        raise Usage(f"parameter 'hits' is {hits!r}", hint=HITS)
    return [{"ref": _with_current_refs(snapshot, "ref", ref), "similarity": score} for ref, score in found]


def run(client: Client, query: Callable[..., GraphAnswer], request: CypherRequest | CypherNamedRequest) -> CypherRows:
    """Run a checked query on the graph as the files are now, within its bounds or those of the settings."""
    settings = client.settings.cypher
    timeout_s = settings.timeout if request.timeout_s is None else request.timeout_s
    limit = settings.limit if request.limit is None else request.limit
    client.sync()
    answer = query(timeout_s=timeout_s, limit=limit)
    doubtable = [kind for kind in KINDS if issubclass(MODELS[kind], MemoryRecord)]
    with client.reading() as snapshot:
        doubter, refs = Doubter(snapshot), islice(_refs_in(answer, doubtable), DOUBTS_OF_ROWS)
        records = snapshot.catalog.records(snapshot.catalog.known(list(refs)).values()).values()
        return CypherRows.model_validate(
            {
                "columns": answer.columns,
                "types": answer.types,
                "rows": answer.rows,
                "truncated": answer.truncated,
                "doubts": {one.ref: found for one in records if (found := doubter.of(one))},
            }
        )


def _refs_in(answer: GraphAnswer, record_types: Collection[str]) -> Iterator[str]:
    """Yield the references in rows, once each: those of nodes, and texts that are one."""
    seen = set[str]()
    for value in chain(*answer.rows):
        found = value.get("ref") if isinstance(value, dict) else value
        if isinstance(found, str) and found not in seen and split_ref(found)[0] in record_types:
            seen.add(found)
            yield found


def _names_asked(query: Stored) -> set[str]:
    """Return what a user has to name for a stored query: a relation type; a kind or type, where no ``ref`` tells it."""
    asked = {"relation"} & query.placeholders
    return asked | {"label"} if "label" in query.placeholders and "ref" not in query.parameters else asked


@operation("queries", scoped=True)
def query_list(snapshot: Snapshot) -> QueryList:
    """Return the stored queries that read, with their parameters and columns."""
    own, findings = _seen_queries(snapshot.client)
    for finding in findings[:SHOWN_FINDINGS]:
        snapshot.notify_once(f"{finding.severity}: {finding}")
    if len(findings) > SHOWN_FINDINGS:
        snapshot.notify_once(f"and {len(findings) - SHOWN_FINDINGS:,} more; see: graphmem validate")
    return QueryList(
        results=[
            StoredQuery(
                name=query.name,
                sentence=query.sentence,
                columns=list(query.columns),
                parameters={**query.parameters, **dict.fromkeys(sorted(_names_asked(query)), "NAME")},
                is_of_project=query.name in own,
            )
            for query in (*all_stored().values(), *own.values())
            if not query.is_write
        ]
    )
