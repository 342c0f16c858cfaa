"""What Cypher queries take and return."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from graphmem.constants import CYPHER_MOST_ROWS, CYPHER_MOST_S
from graphmem.contract.answer import Answer, Part
from graphmem.contract.request import Request

Parameters = Annotated[Mapping[str, object] | None, Field(description="Values of the query's parameters, by name")]
Timeout = Annotated[
    float | None,
    Field(gt=0, le=CYPHER_MOST_S, description="Seconds that the query may take; the setting's value if not given"),
]
MostRows = Annotated[
    int | None,
    Field(gt=0, le=CYPHER_MOST_ROWS, description="Return at most this many rows; the setting's value if not given"),
]


class CypherRequest(Request):
    """A Cypher query to run, read-only and bounded."""

    query: str = Field(description="One reading statement of Cypher")
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
    """The answer to a Cypher query."""

    columns: list[str]
    types: list[str]
    rows: list[list[JsonValue]]
    truncated: bool


class StoredQuery(Part):
    """A query of ``queries/`` that anyone may run by its name."""

    name: str
    sentence: str
    parameters: dict[str, str]
    columns: list[str]


class QueryList(Answer):
    """Every stored query that reads."""

    results: list[StoredQuery]
