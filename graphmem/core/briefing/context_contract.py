"""What the context for a prompt takes and returns."""

from typing import ClassVar, Literal

from pydantic import Field

from graphmem.constants import CONTEXT_BUDGET
from graphmem.core.evidence.citation_contract import Cited, Fix, VariantFix
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.score import Tier
from graphmem.core.search.query_contract import Certainty, Factors, ProfileName
from graphmem.kernel.answer import Answer, Part, Shown, Store
from graphmem.kernel.model import AnyRecord
from graphmem.kernel.model.experience import Complexity, ExperienceType
from graphmem.kernel.parameters import Strict, Texts
from graphmem.kernel.request import Request


class ContextRequest(Request):
    """For which task to return what the project remembers."""

    asks: ClassVar[bool] = True

    objective: str = Field(description="What is to be done, in words")
    tags: Texts = Field((), description="Tags of the task")
    files: Texts = Field((), description="Files and folders that the task is about")
    framework: str | None = Field(
        None, description="Framework or tool that the work is built with; that of the current task if not given"
    )
    tiers: tuple[Tier, ...] = Field((), description="Take these tiers instead of the usual ones")
    complexity: Complexity | None = Field(None, description="Complexity of the task; for a hard one more is taken")
    domain: str | None = Field(None, description="Domain whose lessons to take, beside the general ones")
    archetype: str | None = Field(None, description="Kind of project whose hints to take")
    task_type: ExperienceType | None = Field(None, description="Type of task whose experiences to take")
    session: str | None = Field(None, description="Session whose decisions and constraints to take, by name")
    budget: int = Field(CONTEXT_BUDGET, ge=1, description="Largest size of the block, in tokens")
    profile: ProfileName = None
    strict: Strict = False
    explain: bool = Field(False, description="Show what each score is made of, and what is left out")


class ContextEntry(Part):
    """
    A record of a context block, with its text there; score and relevance where a query found it.

    ``contradicts`` are the others of the block that say the opposite.
    ``because`` says which tag, file or framework of the task it carries, such as "cites src/auth/token.py".
    """

    section: str
    ref: str
    store: Store = "project"
    tier: Tier
    similarity: float
    relevance: float | None = None
    score: float | None = None
    factors: Factors | None = None
    because: str | None = None
    solved_by: list[str] = Field(default_factory=list)
    contradicts: list[str] = []
    access_count: int = 0
    last_accessed: str | None = None
    text: str
    record: Shown[AnyRecord]
    fixes: list[Fix] = []
    variant_fix: VariantFix | None = None
    cites: list[Cited] = []
    doubts: list[Doubt] = []


class LeftOut(Part):
    """A record that is not in a context block, and why: nothing near is known, its tier is not taken, the budget."""

    ref: str
    reason: Literal["known", "tier", "budget"]
    similarity: float


class ContextBlock(Answer):
    """
    What a project remembers for an objective; ``text`` is the block, ``refs`` are what it hands out.

    ``known``, ``certainty`` and ``probability`` are those of `query` for the objective. ``note`` says why the block is
    empty, or what it left out; ``left_out`` has each, the nearest first. ``asked`` names the objective in a report, for
    30 days.
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
    known: bool
    certainty: Certainty
    probability: float
    asked: str | None = None
