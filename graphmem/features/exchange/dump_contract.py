"""What a dump takes and returns."""

from typing import Literal

from pydantic import Field

from graphmem.constants import LEAST_RULES, RULES_BUDGET
from graphmem.kernel.answer import Answer
from graphmem.kernel.request import Request

DumpFormat = Literal[
    "ndjson", "csv", "markdown", "mcp-memory", "beads", "okf", "graphml", "dot", "mermaid", "jsonld", "html", "rules"
]


class DumpRequest(Request):
    """Which rows to return, in which form."""

    format: DumpFormat = Field("ndjson", description="The form to return them in")
    kinds: tuple[str, ...] = Field(
        (), description="A kind, an entity type or a relation type; all that the form can hold if not given"
    )
    budget: int | None = Field(
        None,
        ge=LEAST_RULES,
        description=f"Largest size of the rules for an agent, in tokens; {RULES_BUDGET:,} if not given",
    )


class Dump(Answer):
    """
    Rows in the form that was asked for, and how many of each kind the form has no place for.

    Of ``rules`` the files are those of all agents, and what is left out has no room within the budget.
    """

    format: DumpFormat = "ndjson"
    rows: int
    left_out: dict[str, int]
    files: dict[str, str]  # what each holds, by its name: one file, or the pages of a folder
