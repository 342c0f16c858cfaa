"""What Cypher queries return."""

from pydantic import JsonValue

from graphmem.contract.answer import Answer, Part


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
