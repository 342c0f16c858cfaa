"""What Cypher queries take and return."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from graphmem.constants import CYPHER_MOST_ROWS, CYPHER_MOST_S, CYPHER_ROW_LIMIT, CYPHER_TIMEOUT_S
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.request import Request

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
