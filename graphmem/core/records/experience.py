"""Experiences: which are worth offering, which have to go, and what several of them agree on."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from graphmem.constants import KEYWORD_OVERLAP, MOST_EXPERIENCES, OFFERED_EXPERIENCES
from graphmem.core.records.extraction import keywords
from graphmem.kernel.model import Experience
from graphmem.kernel.model.insight import Category

GOING = ("low", "medium")  # confidences, in the order in which experiences go; high never goes by itself


def offered(experiences: Iterable[Experience], task_type: str | None, tags: Collection[str]) -> list[Experience]:
    """Return the experiences of this type of task or with one of these tags, the newest few."""
    fitting = [one for one in experiences if one.task_type == task_type or set(tags) & set(one.tags)]
    return sorted(fitting, key=lambda one: (one.created_at, one.ref), reverse=True)[:OFFERED_EXPERIENCES]


def by_worth(experiences: Iterable[Experience]) -> list[Experience]:
    """Return experiences in the order in which their lessons are offered: sure or successful ones first."""
    return sorted(experiences, key=lambda one: not (one.confidence == "high" or one.outcome == "success"))


def over_bound(experiences: Collection[Experience], bound: int = MOST_EXPERIENCES) -> list[Experience]:
    """Return the experiences to archive to keep a bound: the oldest of low confidence, then medium, never high."""
    going = [one for one in experiences if one.confidence in GOING]
    going.sort(key=lambda one: (GOING.index(one.confidence), one.created_at, one.ref))
    return going[: max(0, len(experiences) - bound)]


@dataclass(frozen=True, order=True)
class Statement:
    """One lesson of one experience."""

    text: str
    experience: str  # reference by key
    day: str
    slug: str
    task_type: str


@dataclass(frozen=True)
class Agreement:
    """What several experiences say: in the words of the one that is most like the others."""

    statement: str
    statements: tuple[Statement, ...]

    @property
    def experiences(self) -> tuple[str, ...]:
        """Who says it, by key, in their order."""
        return tuple(sorted({one.experience for one in self.statements}))

    @property
    def is_enough(self) -> bool:
        """Return whether two of them are of different days and different tasks."""
        return any(one.day != other.day and one.slug != other.slug for one, other in combinations(self.statements, 2))

    @property
    def category(self) -> Category:
        """What it most likely is: what bugs have in common is an issue that recurs."""
        bugs = sum(one.task_type == "bug" for one in self.statements)
        return "recurring_issue" if 2 * bugs > len(self.statements) else "execution_pattern"


def statements_of(experiences: Iterable[Experience]) -> list[Statement]:
    """Return every lesson of some experiences, each once, in an order of their own."""
    return sorted(
        {
            Statement(" ".join(text.split()), one.key_ref, one.day, one.slug, one.task_type)
            for one in experiences
            for text in one.lessons
            if text.strip()
        }
    )


def share_keywords(left: str, right: str) -> bool:
    """Return whether two texts have half of the keywords of the longer one in common."""
    first, second = keywords(left), keywords(right)
    longer = max(len(first), len(second))
    return longer > 0 and len(first & second) >= KEYWORD_OVERLAP * longer


def agreements(statements: Sequence[Statement], is_alike: Callable[[int, int], bool]) -> list[Agreement]:
    """
    Return what lessons of several experiences agree on.

    The lesson that is like most others speaks for them and they are spoken for, then the next: so no chain of lessons
    that are each a little like the next becomes one statement.

    Args:
        statements: in order, each once.
        is_alike: whether two of them, by their places, say the same; the same both ways.
    """
    alike: list[set[int]] = [{place} for place in range(len(statements))]
    for left, right in combinations(range(len(statements)), 2):
        if is_alike(left, right):
            alike[left].add(right)
            alike[right].add(left)
    left_over, found = set(range(len(statements))), list[Agreement]()
    while left_over:
        leader = min(left_over, key=lambda place: (-len(alike[place] & left_over), place))
        group = alike[leader] & left_over
        left_over -= group
        made = Agreement(statements[leader].text, tuple(statements[place] for place in sorted(group)))
        if made.is_enough:
            found.append(made)
    return found
