"""What ``stats`` takes and returns."""

from typing import Literal

from pydantic import Field

from graphmem.core.evidence.score import Tier
from graphmem.core.plans.campaign_contract import CampaignSizes
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.model.experience import Complexity, ExperienceType
from graphmem.kernel.request import Request


class StatsRequest(Request):
    """For which objective to count the tiers."""

    objective: str | None = Field(None, description="Also count how near the memories are to this objective")


class Connectivity(Part):
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


class Capacity(Part):
    """How many records of a kind there are, how many may stay, and how many ``prune`` would archive now."""

    kind: Literal["failure", "pattern", "experience"]
    used: int
    limit: int
    prunable: int


class ImportanceBand(Part):
    """How many memories have an importance from ``low`` up to where the next band begins."""

    low: float
    number: int


class Worth(Part):
    """What the failures and patterns are worth; a ratio is a share of them."""

    memories: int
    mean_importance: float
    stale_ratio: float
    untested_ratio: float
    importances: list[ImportanceBand]


class Coverage(Part):
    """How many failures a pattern solves, how many have only a fix of their own, and how many neither."""

    solved: int
    fix_only: int
    unsolved: int


class Week(Part):
    """The reports of a week, named by its Monday."""

    week: str
    helped: int
    failed: int


class Estimated(Part):
    """Number of experiences with this estimated and this actual complexity."""

    estimated: Complexity
    actual: Complexity
    number: int


class Accuracy(Part):
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
    there are so few experiences that each new one has confidence low. ``candidates`` are the ids of those of most worth
    that wait for a review.
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
    campaigns: CampaignSizes | None
    cold_start: bool
    candidates: list[str] = []
