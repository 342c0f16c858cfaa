"""The answer of every operation: one model each, the same JSON from every front end (docs/reference/json.md)."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SerializeAsAny, SkipValidation

from graphmem.model import AnyRecord, Pattern
from graphmem.model.blackboard import CurrentSession, CurrentTask, Preferences
from graphmem.model.experience import Complexity, Confidence, ExperienceType, Outcome
from graphmem.model.insight import Category
from graphmem.model.record import Alternate, Record
from graphmem.model.vocabulary import EntityType, RelationType

# A record was checked when it was read; the name it is shown by, such as ``beta~0a1b2c``, is none it could be given.
if TYPE_CHECKING:
    Shown: TypeAlias = AnyRecord
    ShownPattern: TypeAlias = Pattern
else:
    Shown = ShownPattern = Annotated[SerializeAsAny[Record], SkipValidation]

Tier = Literal["critical", "productive", "exploration", "background"]
Band = Literal["exact", "critical", "productive", "exploration", "background"]
Action = Literal["created", "merged", "updated", "unchanged", "archived", "restored"]


class Answer(BaseModel):
    """Base of all answers: a value."""

    model_config = ConfigDict(
        defer_build=True, frozen=True, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


class Finding(Answer):
    """One thing that a check found, and where."""

    file: str
    line: int | None
    column: int | None
    code: str
    severity: Literal["error", "warning"]
    message: str
    expected: str
    fix: str | None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}, expected {self.expected}"


class Variant(Answer):
    """A record that is similar to a new one and yet another; ``differs`` names what tells them apart, where it can."""

    ref: str
    similarity: float
    differs: list[str] = []


class Changed(Answer):
    """
    What a command did to one record; ``ref`` is the record that now holds it.

    ``merged_by`` is what spoke for a merge beside the same telling words: the meaning, or an equal signature.
    ``set_aside`` are the texts that this change keeps as alternates, beside the current ones.
    """

    ref: str
    action: Action
    merged_into: str | None = None
    merged_by: Literal["similarity", "signature"] | None = None
    similarity: float | None = None
    variants: list[Variant] = []
    set_aside: list[Alternate] = []
    record: Shown


class Update(Answer):
    """A record that ``add --ndjson`` changed, and which of its fields."""

    ref: str
    fields: list[str]


class BulkAdded(Answer):
    """What ``add --ndjson`` did; of what it updated the first hundred, ``results`` only when asked for."""

    created: int
    merged: int
    updated: int
    unchanged: int
    relations: int
    updates: list[Update] = []
    results: list[Changed] = []


class Edge(Answer):
    """An edge by the current references of its ends; ``direction`` says how a path walks it."""

    source: str = Field(alias="from")
    type: str
    target: str = Field(alias="to")
    weight: float
    note: str | None = None
    direction: Literal["out", "in"] | None = None


Freshness = Literal["fresh", "moved", "changed", "gone", "unknown"]


class Cited(Answer):
    """
    Code that a record cites, and whether it is in the working tree as it was.

    ``moved_to`` is where it went: unchanged where it is ``moved``, with another text where it is ``changed``.
    """

    cite: str
    path: str | None
    symbol: str | None
    state: Freshness
    moved_to: str | None = None


class Fix(Answer):
    """
    A fix of a failure: its current one, or one that a merge set aside, with the time when it was given, where known.

    Fixes are listed by what helped, then the newest first; a report on the failure counts for the first to try then.
    """

    text: str
    at: str | None
    help_ratio: float
    is_current: bool


class Got(Answer):
    """One record with its edges, how often this machine handed it out, and how the code that it cites is now."""

    ref: str
    record: Shown
    relations: list[Edge]
    access_count: int = 0
    last_accessed: str | None = None
    fixes: list[Fix] = []
    cites: list[Cited] = []


class StaleRecord(Answer):
    """A record of which not all cited code is as it was; ``cites`` are all of them."""

    ref: str
    cites: list[Cited]
    record: Shown


class StaleRecords(Answer):
    """The live records whose cited code moved, changed or is gone, among ``checked`` that cite code."""

    results: list[StaleRecord]
    checked: int


class Listed(Answer):
    """A record in a list."""

    ref: str
    record: Shown


class Listing(Answer):
    """Records that fit, and how many there are without the limit."""

    results: list[Listed]
    total: int


class Linked(Answer):
    """What ``link`` and ``unlink`` did."""

    edge: Edge
    action: Literal["created", "updated", "unchanged", "removed"]


class Reported(Answer):
    """What is known of a memory's worth after a report."""

    ref: str
    helped: int
    failed: int
    help_ratio: float
    action: Literal["created", "updated", "unchanged"]


class BulkReported(Answer):
    """What a batch of reports did."""

    created: int
    updated: int
    unchanged: int


class SeenLesson(Answer):
    """A lesson that a run saw: by which rule, in which finding; ``overlap`` is of keywords, ``similarity`` a cosine."""

    ref: str
    rule: Literal["keywords", "similarity", "new"]
    finding: str
    overlap: float | None = None
    similarity: float | None = None


class Moved(Answer):
    """A lesson whose frequency a run changed; ``faded`` when it counts as archived now."""

    ref: str
    before: int
    after: int
    faded: bool


class Learned(Answer):
    """What a run taught; ``passed_over`` are findings that are no warning, or that a forgotten lesson says."""

    run: str
    action: Literal["created", "updated", "unchanged"]
    seen: list[SeenLesson]
    created: list[str]
    passed_over: int
    moved: list[Moved]


class Injected(Answer):
    """Lessons for a prompt, and the block that says them; empty where none is eligible."""

    text: str
    lessons: list[Listed]


class OfferedLesson(Answer):
    """A lesson of an experience."""

    text: str
    ref: str
    confidence: Confidence
    outcome: Outcome


class Recalled(Answer):
    """Experiences with tasks of a kind, newest first, and their lessons, those of sure or successful ones first."""

    experiences: list[Listed]
    lessons: list[OfferedLesson]


class Promotion(Answer):
    """What several experiences agree on; ``said`` is in whose words."""

    ref: str
    action: Literal["created", "updated"]
    category: Category
    statement: str
    experiences: list[str]
    occurrences: int
    confidence: Confidence
    said: list[str]


class Promoted(Answer):
    """What was promoted; ``done`` is false where it was only shown."""

    done: bool
    promotions: list[Promotion]


class PrunedRecord(Answer):
    """A record that goes, and why."""

    ref: str
    importance: float | None
    age_days: float
    reason: str


class Pruned(Answer):
    """What was archived; ``done`` is false where it was only shown."""

    done: bool
    records: list[PrunedRecord]


class SessionContext(Answer):
    """What is current: of this machine the task, the preferences and the session; of the project the rest."""

    current_task: CurrentTask | None
    recent_decisions: list[Listed]
    active_constraints: list[Listed]
    user_preferences: Preferences
    session: CurrentSession


class Reached(Answer):
    """A record that ``related`` reached, with the strongest path to it."""

    ref: str
    strength: float
    hops: int
    path: list[Edge]
    record: Shown


class Related(Answer):
    """Strongest first; ``exhaustive`` is false where the search ended at its budget."""

    start: str
    results: list[Reached]
    exhaustive: bool
    truncated: bool


class Connection(Answer):
    """The strongest path between two records; strength 0 and no path where there is none."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    strength: float
    hops: int
    path: list[Edge]
    exhaustive: bool = True


class Solution(Answer):
    """A pattern that solves a failure, or one near it; ``path`` leads from the failure to the pattern."""

    ref: str
    strength: float
    help_ratio: float
    path: list[Edge]
    record: ShownPattern
    cites: list[Cited] = []


class Solutions(Answer):
    """The fixes of the failure itself; then the patterns, direct solutions first, strongest first."""

    failure: str
    fixes: list[Fix] = []
    results: list[Solution]


class Factors(Answer):
    """What a score is made of; ``reranked`` is what the reranker gave, if there is one and it looked at the record."""

    semantic: float
    lexical: float
    exact: float
    graph: float
    reranked: float | None
    cost: float
    help_ratio: float
    age_decay: float
    freshness: float = 1.0


class Hit(Answer):
    """A record that a query found; results are in the order of ``band``, then ``score``."""

    ref: str
    score: float
    relevance: float
    similarity: float
    tier: Tier
    band: Band
    factors: Factors
    record: Shown
    fixes: list[Fix] = []
    cites: list[Cited] = []


class ContextEntry(Answer):
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


class LeftOut(Answer):
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


class Found(Answer):
    """What a query found, best first; ``reranker`` is the model that reordered it, if one did."""

    query: str
    results: list[Hit]
    search: Literal["semantic+lexical", "lexical"]
    reranker: str | None


class Matched(Answer):
    """
    A known failure that a log tells of, and by what it was found.

    ``line`` and ``text`` are where the log first says so, ``lines`` all such lines, up to 1,000. By ``line`` the log
    holds the trigger itself, by ``match`` its expression hits, ``signature`` is the same error, ``near`` the same error
    in another place, ``similarity`` one of a similar meaning, or of the same words where there is no model; then
    ``differs`` are the words that tell the two apart.
    ``cites`` are those of the failure and of the patterns that solve it.
    """

    ref: str
    by: Literal["line", "match", "signature", "near", "similarity"]
    line: int
    text: str
    lines: list[int]
    similarity: float | None = None
    differs: list[str] = []
    solved_by: list[Listed] = []
    record: Shown
    fixes: list[Fix] = []
    cites: list[Cited] = []


class MatchedLog(Answer):
    """
    What a log tells of, by its lines, surest first.

    ``cut`` counts the lines of which only the beginning was looked at, ``unread`` those after so many errors that their
    own were not looked up. The expressions of the failures in ``slow`` were left aside, for want of time.
    ``unknown`` holds errors that no failure has the signature of, each as a trigger that would find it again.
    """

    results: list[Matched]
    lines: int
    cut: int
    unread: int = 0
    slow: list[str]
    unknown: list[str] = []


class Ran(Answer):
    """
    What the memory has to say after a command ran.

    After a failing run ``log`` is what its output tells of, and ``again`` are those failures whose fix had been shown
    in this session before. After a pass ``helped`` are the memories that a report was written for, ``unknown`` errors
    of the failing runs before that nobody knows yet, ``unfixed`` their known failures that no fix is known for.
    """

    status: int
    log: MatchedLog | None = None
    again: list[str] = []
    helped: list[str] = []
    unknown: list[str] = []
    unfixed: list[str] = []


class Parts(Answer):
    """The three parts of the similarity of two campaigns."""

    objective: float
    files: float
    size: float


class SimilarCampaign(Answer):
    """A finished campaign that resembles the one asked about."""

    ref: str
    similarity: float
    parts: Parts
    outcome: str | None
    blocked_by: list[str]
    solved_by: list[str]
    record: Shown


class Similar(Answer):
    """Finished campaigns, most similar first."""

    objective: str
    results: list[SimilarCampaign]


class CypherRows(Answer):
    """The answer to a Cypher query."""

    columns: list[str]
    types: list[str]
    rows: list[list[JsonValue]]
    truncated: bool


class StoredQuery(Answer):
    """A query of ``queries/`` that anyone may run by its name."""

    name: str
    sentence: str
    parameters: dict[str, str]
    columns: list[str]


class QueryList(Answer):
    """Every stored query that reads."""

    results: list[StoredQuery]


class Connectivity(Answer):
    """
    How well the memory hangs together; what happened, runs and events, is left out.

    ``component_sizes`` says how many components have each size, ``unsolved`` names the failures most worth solving.
    """

    edges_per_node: float
    isolated_share: float
    components: int
    largest_component: int
    component_sizes: dict[int, int]
    unsolved_failures: int
    unsolved: list[str]


class Capacity(Answer):
    """How many records of a kind there are, how many may stay, and how many ``prune`` would archive now."""

    kind: Literal["failure", "pattern", "experience"]
    used: int
    limit: int
    prunable: int


class ImportanceBand(Answer):
    """How many memories have an importance from ``low`` up to where the next band begins."""

    low: float
    number: int


class Worth(Answer):
    """What the failures and patterns are worth; a ratio is a share of them."""

    memories: int
    mean_importance: float
    stale_ratio: float
    untested_ratio: float
    importances: list[ImportanceBand]


class Coverage(Answer):
    """How many failures a pattern solves, how many have only a fix of their own, and how many neither."""

    solved: int
    fix_only: int
    unsolved: int


class Week(Answer):
    """The reports of a week, named by its Monday."""

    week: str
    helped: int
    failed: int


class Estimated(Answer):
    """How many experiences were estimated like this and turned out like that."""

    estimated: Complexity
    actual: Complexity
    number: int


class Accuracy(Answer):
    """How the complexity of a type of task is estimated; ``mean_difference`` is actual minus estimated, in steps."""

    task_type: ExperienceType
    experiences: int
    mean_difference: float
    equal_ratio: float
    pairs: list[Estimated]


class Stats(Answer):
    """
    The health of a store: how much there is, what it is worth, how it hangs together, how good estimates are.

    ``tiers`` sorts the failures and patterns by an objective, where one was given; ``cold_start`` is true as long as
    there are so few experiences that each new one has confidence low.
    """

    records: dict[str, int]
    entities: dict[str, int]
    relations: dict[str, int]
    archived: int
    search: Literal["lexical", "exact", "sketch"]  # how the nearest are found: no model, all rows, short vectors first
    connectivity: Connectivity
    capacity: list[Capacity]
    worth: Worth
    tiers: dict[Tier, int] | None
    coverage: Coverage
    feedback: list[Week]
    estimates: list[Accuracy]
    cold_start: bool


LoopStage = Literal["captured", "injected", "used", "helped"]


class StageReached(Answer):
    """The failures that came to a stage of the loop."""

    stage: LoopStage
    number: int
    refs: list[str]


class Loop(Answer):
    """
    Whether learning happens: how far failures came in the last campaigns and runs.

    ``since`` is where these begin, ``null`` for the beginning of everything. ``reports`` counts those on failures and
    on patterns that solve them. ``broken`` is the first stage that nothing came to, ``null`` where nothing is broken or
    nothing is there yet; ``verdict`` says it in words.
    """

    since: str | None
    campaigns: list[str]
    runs: list[str]
    tasks: int
    reports: int
    stages: list[StageReached]
    is_learning: bool
    broken: LoopStage | None
    verdict: str


class Checked(Answer):
    """What a check found; ``ok`` is false where there is an error."""

    ok: bool
    findings: list[Finding]


class Doctored(Checked):
    """What ``doctor`` found, and with ``--fix --yes`` what is left; ``mended`` is what it mended."""

    mended: list[Finding]


class ExportedFile(Answer):
    """One file of an export."""

    rows: int
    sha256: str
    changed: bool


class Exported(Answer):
    """Every data file in canonical form."""

    files: dict[str, ExportedFile]


class Rebuilt(Answer):
    """What a rebuild made."""

    records: int
    relations: int
    embedded: int
    seconds: float


class CampaignTasks(Answer):
    """A campaign with its tasks, in the order of the plan."""

    campaign: str
    record: Shown
    tasks: list[Shown]


class Ready(Answer):
    """The tasks of a campaign that can start now."""

    campaign: str
    ready: list[Shown]


class Write(Answer):
    """A write of this clone: how many rows it added, changed and removed, and the first of them."""

    at: str
    command: str
    added: int
    changed: int
    removed: int
    rows: list[str]


class Writes(Answer):
    """Writes of this clone, the last first: those that ``undo`` took back, or with ``--list`` could take back."""

    writes: list[Write]


class Purged(Answer):
    """What ``purge`` destroyed, or would; ``rows`` counts the rows that go by file, ``history`` cleans git's own."""

    done: bool
    records: list[str]
    rows: dict[str, int]
    changed: list[str]
    vectors: int
    history: list[str]


class Trust(Answer):
    """The project's settings that count only when they are trusted, whether they are, and why not."""

    settings: dict[str, JsonValue]
    trusted: bool
    reason: str | None


class Initialised(Answer):
    """What ``init`` made or found."""

    path: str
    created: bool
    registered: list[str]


class Resolved(Answer):
    """The files whose conflicts were resolved, and what is still wrong with them."""

    files: list[str]
    findings: list[Finding]


class TypeList(Answer):
    """The types of a project, and graphmem's own relations."""

    entities: list[EntityType]
    relations: list[RelationType]


class FieldChange(Answer):
    """A field of a row before and after; ``null`` where it was not there."""

    field: str
    old: JsonValue
    new: JsonValue


Became = Literal["created", "changed", "renamed", "archived", "superseded", "restored", "removed"]


class RowChange(Answer):
    """
    What became of one row; ``row`` is the row after it, or the one that was removed.

    ``ref`` is a record by its name then, an edge as ``from -type-> to``, a report as the memory and its task.
    """

    ref: str
    kind: str
    action: Became
    fields: list[FieldChange]
    row: dict[str, JsonValue]


class Difference(Answer):
    """What changed in the memory from one state to another; ``after`` is ``null`` for the files as they are now."""

    before: str | None
    after: str | None
    summary: str
    changes: list[RowChange]
    skipped: int


class Revision(Answer):
    """A commit that changed a record, and how; without a commit it is not committed yet."""

    commit: str | None
    at: str | None
    author: str | None
    subject: str | None
    change: RowChange


class History(Answer):
    """The commits that changed a record, newest first; ``shallow`` where the clone lacks the oldest ones."""

    ref: str
    results: list[Revision]
    truncated: bool
    shallow: bool
