"""
What a memory would have been worth: histories of the public sets, replayed in the order of time.

A problem is asked about, what is found is reported on, and then the problem is captured with what solved it; the clock
of the store is the replayed time. What is relevant comes from the relations of a set and never from its texts: an
earlier problem is, if its solution touched the same file, or if it belongs to the same piece of work.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
import orjson

from graphmem.api import Memory
from graphmem.constants import DEFAULT_MODEL, LEXICAL_WEIGHT, MODEL_COMMAND
from graphmem.core.logs.log_excerpt import kept_question, telling
from graphmem.errors import Unavailable, Usage
from graphmem.kernel.answer import Part
from graphmem.kernel.embed.model import Embedder, find_model
from graphmem.kernel.machine.usage import count
from graphmem.kernel.model.field import format_time
from graphmem.kernel.store.runtime import Progress
from tests.bench.quality import Bm25, Scores, mean, order
from tests.public_sets import read

PROBLEMS = ("failure", "task")
SAME_WORK = ("part_of", "touches")  # two problems with the same target belong together
LINKS = ("discovered_from", "related_to", "duplicate_of", "supersedes", "depends_on")  # so do the two ends
LATER = timedelta(days=30)  # after which a problem of a set without relations comes again: the set does not say when
SHOWN, DEPTH = 5, 10  # results that are read; results by which the reciprocal rank is measured
TEXT_BYTES = 16_000  # of a text that are kept; a record takes 16 KiB
SEED = 20261123
PRUNE_EVERY = 10  # memories captured between two runs of prune


@dataclass(frozen=True)
class Problem:
    """One problem: when it was solved, when and in which words it is asked about, and what it has to do with."""

    name: str
    solved: datetime
    asked: datetime
    query: str
    trigger: str
    fix: str | None
    topics: frozenset[str]


class Variant(NamedTuple):
    """
    A way to use and keep the memory.

    Attributes:
        settings: of retrieval.
        noise: share of the reports that say the opposite.
        has_questions: reports say what was asked.
        most_cost: of a memory, drawn at random from 0.5 up; 0 for none.
        praised: reports, before anything is asked, that the first memory helped with the question of the last problem.
        keep: the share of all problems that the memory may hold.
        minimum: the importance below which old memories are pruned.
    """

    name: str
    settings: Mapping[str, str | float] = {}
    reports: Literal["none", "helped", "both"] = "none"
    noise: float = 0.0
    has_questions: bool = True
    most_cost: float = 0.0
    praised: int = 0
    keep: float = 1.0
    minimum: float = 0.0


CLASSIC = {"profile": "classic"}
VARIANTS = (
    Variant("relevance alone"),
    Variant("classic, what helped is reported", CLASSIC, "helped"),
    Variant("classic, both are reported", CLASSIC, "both"),
    Variant("learned, what helped is reported", reports="helped"),
    Variant("learned, both are reported", reports="both"),
    Variant("the same, a fifth of the reports wrong", reports="both", noise=0.2),
    Variant("the same, reports do not say what was asked", reports="both", has_questions=False),
    Variant("the same, recency with an exponent of 0.02", {"recency_exponent": 0.02}, "both"),
    Variant("the same, costs of 0.5 to 20 at random", reports="both", most_cost=20.0),
    Variant("the same, 50 praises of one memory", reports="both", praised=50),
    Variant("the same, pruned to a half", reports="both", keep=0.5),
)
HANDED_OUT = (  # what is not in the product: silence as evidence, beside the same without
    ("cosine and BM25", 0.0, 1.0),
    ("the same, what is shown and not reported sinks", 0.3, 1.0),
    ("the same, a third of what helps is reported", 0.3, 1 / 3),
)


class Simulated(Part):
    """
    What one way to keep the memory did on one set.

    ``reachable`` counts the problems for which an earlier memory is relevant, pruned or not; ``hit_5`` and ``mrr`` are
    means over these, ``memories`` is how many were kept at the end.
    """

    set: str
    variant: str
    problems: int
    reachable: int
    hit_5: float
    mrr: float
    memories: int


class System(Protocol):
    """A memory under test; every call says what time it is."""

    def ask(self, problem: Problem, now: datetime) -> list[str]:
        """Return the names of memories for a problem, best first."""

    def learn(self, problem: Problem, shown: Sequence[str], relevant: set[str], now: datetime) -> None:
        """Take in which of those that were shown were relevant."""

    def capture(self, problem: Problem, now: datetime) -> None:
        """Keep a problem that is solved."""

    def size(self) -> int:
        """Return how many memories there are."""


def simulate(folders: Iterable[Path], place: Path, progress: Progress) -> list[Simulated]:
    """
    Replay the history of each set with every variant, and with a few systems that are no product.

    Args:
        folders: the sets; one whose memories have no dates adds nothing.
        place: where the stores are made.
    """
    results: list[Simulated] = []
    for folder in folders:
        problems = history(folder)
        if not problems:
            continue
        embedder = Remembering(default_model())
        results.append(replay(folder.name, "the latest 5", problems, Latest()))
        results.append(replay(folder.name, "BM25", problems, Words(problems)))
        results.append(replay(folder.name, "what helped with the nearest question", problems, Nearest(embedder)))
        for name, most, reported in HANDED_OUT:
            results.append(replay(folder.name, name, problems, HandedOut(problems, embedder, most, reported)))
        for number, variant in enumerate(VARIANTS):
            progress(f"replaying {folder.name}", number, len(VARIANTS))
            with Ours(place / folder.name / str(number), variant, problems, embedder) as ours:
                results.append(replay(folder.name, variant.name, problems, ours))
        progress(f"replaying {folder.name}", len(VARIANTS), len(VARIANTS))
    if not results:
        raise Usage("none of these sets has a history", hint="known: beads, citrig, swefix")
    return results


# --- histories ------------------------------------------------------------------------------------------------------


def history(folder: Path) -> list[Problem]:
    """
    Return the problems of a set that were solved, by the time of their solution.

    Where a set has relations, a problem is asked about in its own words when it is solved, since nobody knows when work
    on it began. Where it has none, nothing says which problems belong together: each comes again ``LATER``, in the
    words of its query, and its own memory is what is relevant.
    """
    relations = read(folder, "relations")
    rows = {row["id"]: row for row in read(folder, "memories")}
    words = {row["gold"][0]: row["query"] for row in read(folder, "queries") if len(row["gold"]) == 1}
    fixes = {row["dst"]: rows[row["src"]]["text"] for row in relations if row["type"] == "solves"}
    topics = topics_of(relations)
    problems = []
    for number, row in enumerate(rows.values()):
        solved = row.get("closed_at") or row.get("created_at")
        if row["kind"] not in PROBLEMS or not solved or (row.get("status", "closed") != "closed"):
            continue
        at, text = moment(solved), cut(f"{row.get('title') or ''}\n{row['text']}".strip())
        own = frozenset(topics[row["id"]] if relations else [row["id"]])
        asked, query = (at, text) if relations else (at + LATER, words.get(row["id"], ""))
        if query:
            problems.append(Problem(f"p{number}", at, asked, query, text, cut(fixes.get(row["id"], "")) or None, own))
    return sorted(problems, key=lambda problem: (problem.solved, problem.name))


def topics_of(relations: Sequence[dict[str, Any]]) -> dict[str, set[str]]:
    """Return what each problem has to do with, its solution's files among it."""
    solved = {row["src"]: row["dst"] for row in relations if row["type"] == "solves"}
    topics: dict[str, set[str]] = defaultdict(set)
    for row in relations:
        source = solved.get(row["src"], row["src"])
        if row["type"] in SAME_WORK:
            topics[source].add(row["dst"])
        elif row["type"] in LINKS:
            link = f"{row['src']} {row['type']} {row['dst']}"
            topics[source].add(link)
            topics[row["dst"]].add(link)
    return topics


def moment(text: str) -> datetime:
    """Return a time; a day is its beginning, and no zone is UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def cut(text: str) -> str:
    """Return a text that a record takes."""
    return text.encode()[:TEXT_BYTES].decode(errors="ignore")


def replay(set_name: str, variant: str, problems: Sequence[Problem], system: System) -> Simulated:
    """Let the problems come one after the other, and measure what the system finds for each."""
    captured: dict[str, set[str]] = defaultdict(set)  # the names of those with a topic
    hits, ranks = [], []
    for at, is_capture, problem in events(problems):
        if is_capture:
            system.capture(problem, at)
            for topic in problem.topics:
                captured[topic].add(problem.name)
            continue
        relevant = set().union(*(captured[topic] for topic in problem.topics))
        found = system.ask(problem, at)[:DEPTH]
        system.learn(problem, found[:SHOWN], relevant, at)
        if relevant:
            place = next((place for place, name in enumerate(found, 1) if name in relevant), None)
            hits.append(place is not None and place <= SHOWN)
            ranks.append(1 / place if place else 0.0)
    return Simulated(set=set_name, variant=variant, problems=len(problems), reachable=len(hits), hit_5=mean(hits),
                     mrr=mean(ranks), memories=system.size())  # fmt: skip


def events(problems: Sequence[Problem]) -> Iterator[tuple[datetime, bool, Problem]]:
    """
    Yield what happens, in the order of time; who asks and is solved at the same time asks first.

    What belongs to nothing that a set knows of is captured and not asked about: nobody could say what is relevant.
    """
    asked = [(problem.asked, False, problem) for problem in problems if problem.topics]
    solved = [(problem.solved, True, problem) for problem in problems]
    return iter(sorted([*asked, *solved], key=lambda event: (event[0], event[2].solved, event[2].name, event[1])))


def trigger_and_fix(problem: Problem) -> str:
    """Return the text that stands for a problem in search."""
    return f"{problem.trigger}\n{problem.fix}" if problem.fix else problem.trigger


# --- systems --------------------------------------------------------------------------------------------------------


class Latest:
    """Shows what was captured last."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def ask(self, problem: Problem, now: datetime) -> list[str]:
        return self.names[-SHOWN:][::-1]

    def learn(self, problem: Problem, shown: Sequence[str], relevant: set[str], now: datetime) -> None:
        pass

    def capture(self, problem: Problem, now: datetime) -> None:
        self.names.append(problem.name)

    def size(self) -> int:
        return len(self.names)


class Words(Latest):
    """Ranks by BM25; it knows from the start how rare a word will be in all problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__()
        self.places = {problem.name: place for place, problem in enumerate(problems)}
        self.bm25 = Bm25([trigger_and_fix(problem) for problem in problems])

    def ask(self, problem: Problem, now: datetime) -> list[str]:
        scores = self.bm25.scores(problem.query)[[self.places[name] for name in self.names]]
        return [self.names[place] for place in order(scores)[:DEPTH]]


class HandedOut(Words):
    """
    Ranks by cosine and BM25; what was shown for like questions and never reported to have helped with them sinks.

    Args:
        most: the share of its likeness that a memory can lose; 0 for none.
        reported: share of what helped that is reported.
    """

    LIKE, HALF = 0.4, 2.0  # cosine from which questions are alike; how many of them take away half of ``most``

    def __init__(self, problems: Sequence[Problem], model: Embedder, most: float, reported: float = 1.0) -> None:
        super().__init__(problems)
        self.model, self.most, self.reported, self.random = model, most, reported, random.Random(SEED)
        self.rows = model.encode_documents([trigger_and_fix(problem) for problem in problems])
        self.shown: list[tuple[Scores, list[int]]] = []  # the vectors of questions, and what went unreported

    def ask(self, problem: Problem, now: datetime) -> list[str]:
        if not self.names:
            return []
        vector, places = self.model.encode_query(problem.query), [self.places[name] for name in self.names]
        lexical = self.bm25.scores(problem.query)[places]
        likeness = np.maximum(self.rows[places] @ vector, 0) + LEXICAL_WEIGHT * lexical / (lexical.max() or 1)
        counts = np.zeros(len(self.rows), dtype=np.float32)
        for asked, unreported in self.shown:
            if (like := float(asked @ vector)) >= self.LIKE:
                counts[unreported] += like
        sunk = counts[places] / (counts[places] + self.HALF)
        return [self.names[place] for place in order(likeness * (1 - self.most * sunk))[:DEPTH]]

    def learn(self, problem: Problem, shown: Sequence[str], relevant: set[str], now: datetime) -> None:
        helped = {name for name in shown if name in relevant and self.random.random() < self.reported}
        unreported = [self.places[name] for name in shown if name not in helped]
        self.shown.append((self.model.encode_query(problem.query), unreported))


class Nearest:
    """Shows what helped with the questions most like the one at hand, the most alike first; it reads no memory."""

    def __init__(self, model: Embedder) -> None:
        self.model = model
        self.questions: list[tuple[Scores, str]] = []
        self.captured = 0

    def ask(self, problem: Problem, now: datetime) -> list[str]:
        if not self.questions:
            return []
        likeness = np.stack([vector for vector, _ in self.questions]) @ self.model.encode_query(problem.query)
        return list(dict.fromkeys(self.questions[place][1] for place in order(likeness)))[:DEPTH]

    def learn(self, problem: Problem, shown: Sequence[str], relevant: set[str], now: datetime) -> None:
        vector = self.model.encode_query(problem.query)
        self.questions += [(vector, name) for name in sorted(relevant)]

    def capture(self, problem: Problem, now: datetime) -> None:
        self.captured += 1

    def size(self) -> int:
        return self.captured


class Ours:
    """graphmem, through its own interface, with a clock that is set."""

    def __init__(self, folder: Path, variant: Variant, problems: Sequence[Problem], embedder: Embedder) -> None:
        self.variant, self.cap, self.captured = variant, max(1, round(variant.keep * len(problems))), 0
        self.now, self.random, self.last = datetime.min.replace(tzinfo=UTC), random.Random(SEED), problems[-1]
        config = Path(Memory.init(folder).path) / "config.toml"
        lines = [f"{name} = {value!r}" for name, value in variant.settings.items()]
        config.write_text("\n".join(["format = 1", "[retrieval]", *lines, ""]), encoding="utf-8")
        self.memory = Memory(folder, now=lambda: self.now)
        self.memory.store.client.model = embedder, []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.memory.close()

    def ask(self, problem: Problem, now: datetime) -> list[str]:
        self.now = now
        return [hit.record.name for hit in self.memory.query(problem.query, limit=DEPTH).results]

    def learn(self, problem: Problem, shown: Sequence[str], relevant: set[str], now: datetime) -> None:
        refs = [f"failure/{name}" for name in shown]
        count(self.memory.store.client.state, refs, format_time(now))  # as a context block does
        found = {ref: (name in relevant) != self.is_wrong() for ref, name in zip(refs, shown, strict=True)}
        asked = {"question": kept_question(telling(problem.query))} if self.variant.has_questions else {}
        reports = [
            orjson.dumps({"ref": ref, "helped": helped, "task": problem.name, **asked})
            for ref, helped in found.items()
            if self.variant.reports == "both" or (self.variant.reports == "helped" and helped)
        ]
        if reports:
            self.memory.store.feedback_rows(reports)

    def is_wrong(self) -> bool:
        """Return whether the next report says the opposite."""
        return self.random.random() < self.variant.noise

    def capture(self, problem: Problem, now: datetime) -> None:
        self.now = now
        cost = 0.5 * (self.variant.most_cost / 0.5) ** self.random.random() if self.variant.most_cost else None
        self.memory.failures.add(problem.trigger, name=problem.name, fix=problem.fix, cost=cost, dedup=False)
        if not self.captured:
            for _ in range(self.variant.praised):
                self.memory.feedback(problem.name, helped=True, question=kept_question(telling(self.last.query)))
        self.captured += 1
        if self.captured % PRUNE_EVERY == 0 and (self.variant.keep < 1 or self.variant.minimum):
            self.memory.store.prune(max_failures=self.cap, min_importance=self.variant.minimum, yes=True)

    def size(self) -> int:
        return self.memory.list("failure", limit=0).total


class Remembering:
    """A model that embeds each text once for all stores."""

    def __init__(self, model: Embedder) -> None:
        self.model = model
        self.name, self.fingerprint, self.dimensions = model.name, model.fingerprint, model.dimensions
        self.documents: dict[str, Scores] = {}
        self.queries: dict[str, Scores] = {}

    def encode_documents(self, texts: Sequence[str]) -> Scores:
        """Return one row a text."""
        new = [text for text in texts if text not in self.documents]
        self.documents.update(zip(new, self.model.encode_documents(new) if new else (), strict=True))
        return np.stack([self.documents[text] for text in texts])

    def encode_query(self, text: str) -> Scores:
        """Return the vector of one text."""
        if text not in self.queries:
            self.queries[text] = self.model.encode_query(text)
        return self.queries[text]


def default_model() -> Embedder:
    """Return the model of a project that names none."""
    found = find_model(DEFAULT_MODEL, cache_folder=None).embedder
    if found is None:
        raise Unavailable("the benchmark needs the embedding model", hint=MODEL_COMMAND)
    return found
