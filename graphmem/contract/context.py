"""The context for a prompt."""

from typing import Literal

from pydantic import Field

from graphmem.contract.answer import Answer, Part, Shown
from graphmem.contract.citations import Cited, Fix
from graphmem.contract.query import Factors, Tier


class ContextEntry(Part):
    """A record of a context block, with its text there; score and relevance where a query found it."""

    section: str
    ref: str
    tier: Tier
    similarity: float
    relevance: float | None = None
    score: float | None = None
    factors: Factors | None = None
    solved_by: list[str] = Field(default_factory=list)
    access_count: int = 0
    last_accessed: str | None = None
    text: str
    record: Shown
    fixes: list[Fix] = []
    cites: list[Cited] = []


class LeftOut(Part):
    """A record that is not in a context block, and why."""

    ref: str
    reason: Literal["tier", "budget"]
    similarity: float


class ContextBlock(Answer):
    """
    What a project remembers for an objective; ``text`` is the block, ``refs`` are what it hands out.

    ``note`` says why the block is empty, or what it left out; ``left_out`` has each, the nearest first.
    """

    objective: str
    text: str
    tokens: int
    budget: int
    refs: list[str]
    entries: list[ContextEntry]
    left_out: list[LeftOut]
    note: str | None = None
    search: Literal["semantic+lexical", "lexical"]
