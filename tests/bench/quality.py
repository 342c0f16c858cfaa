"""
How well `query` finds what is asked: per task of the public sets, beside plain baselines.

BM25 as the sets' READMEs have it, SQLite's FTS5 with Porter stems, the model alone, and BM25 and the model fused.

Only the texts speak: relations stay out of the store, for many a set names the answer in them. Ranks are those by
``relevance``; group, kinds and exclude of a query are respected.
"""

import math
import re
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.api import Memory
from graphmem.constants import MODEL_COMMAND, RRF_K
from graphmem.errors import Unavailable
from graphmem.kernel.answer import Part
from tests.bench.peers import Encode, Peer, Search, peer
from tests.public_sets import plant, read

BASELINES = ("bm25", "fts5", "model", "rrf")
DEPTH = 100  # places of a ranking that are looked at, of the records that a query may find
PEER_DEPTH = 1_000  # places that a peer is asked for, since it finds also what the query may not
Scores = NDArray[np.float32]


class Measures(Part):
    """How well one system did on a task: means over its queries."""

    ndcg_10: float
    recall_5: float
    recall_10: float
    mrr: float


class TaskQuality(Part):
    """One task: every system in the same run; ``ratio`` is graphmem's nDCG@10 over the best of the four baselines."""

    set: str
    task: str
    queries: int
    graphmem: Measures
    bm25: Measures
    fts5: Measures
    model: Measures
    rrf: Measures
    peers: dict[str, Measures]
    ratio: float

    @property
    def systems(self) -> dict[str, Measures]:
        """All systems as they are shown."""
        baselines = {"BM25": self.bm25, "FTS5": self.fts5, "model": self.model, "RRF": self.rrf}
        return {"graphmem": self.graphmem, **baselines, **self.peers}


class Quality(Part):
    """All tasks, and the means of what is to be compared."""

    tasks: list[TaskQuality]
    ratio: float
    graphmem_ndcg_10: float
    rrf_ndcg_10: float


@dataclass(frozen=True)
class Public:
    """A set that was read: memories with their references, and the queries that have an answer."""

    memories: list[dict[str, Any]]
    queries: list[dict[str, Any]]
    refs: list[str]

    def pool(self, question: Mapping[str, Any]) -> Iterator[int]:
        """Yield the places of the memories that a query may find."""
        group, kinds, excluded = question.get("group"), question.get("kinds"), question.get("exclude") or ()
        for place, memory in enumerate(self.memories):
            if (
                (group is None or memory.get("group") == group)
                and (not kinds or memory["kind"] in kinds)
                and memory["id"] not in excluded
            ):
                yield place


def measure(folders: Iterable[Path], place: Path, *, with_match: bool, peers: Collection[str] = ()) -> Quality:
    """
    Measure every task of some sets.

    Args:
        folders: the sets; one without queries that have an answer adds nothing.
        place: where the stores are made; one that is there already is used as it is.
        with_match: let the match expressions of the failures count.
        peers: other memories to measure beside it.
    """
    others = {name: peer(name) for name in peers}
    tasks = [
        task
        for folder in folders
        for task in measure_set(folder, place / folder.name, with_match=with_match, peers=others)
    ]
    return Quality(
        tasks=tasks,
        ratio=mean(task.ratio for task in tasks),
        graphmem_ndcg_10=mean(task.graphmem.ndcg_10 for task in tasks),
        rrf_ndcg_10=mean(task.rrf.ndcg_10 for task in tasks),
    )


def measure_set(folder: Path, place: Path, *, with_match: bool, peers: Mapping[str, Peer]) -> Iterator[TaskQuality]:
    """Yield the quality of each task of a set."""
    memories = read(folder, "memories")
    known = {memory["id"] for memory in memories} | {memory.get("parent") for memory in memories}
    queries = [question for question in read(folder, "queries") if known & set(question["gold"])]
    if not queries:
        return

    refs = plant(folder, place, lambda row: without(row, () if with_match else ("match",)))
    public = Public(memories, queries, [refs[memory["id"]] for memory in memories])
    found: dict[str, dict[str, list[Measures]]] = defaultdict(lambda: defaultdict(list))
    with Memory(place) as memory:
        for question, rankings in ranked(memory, public, peers):
            for system, ranking in rankings.items():
                found[question["task"]][system].append(measures(ranking, set(question["gold"])))
    for task, systems in found.items():
        means = {system: mean_of(values) for system, values in systems.items()}
        best = max(means[name].ndcg_10 for name in BASELINES)
        queries_asked = len(systems["graphmem"])
        ratio = means["graphmem"].ndcg_10 / best
        beside = {name: means[name] for name in peers}
        yield TaskQuality.model_validate(
            {"set": folder.name, "task": task, "queries": queries_asked, "ratio": ratio, "peers": beside, **means}
        )


def without(row: dict[str, Any], fields: Collection[str]) -> dict[str, Any] | None:
    """Return a record without some fields; a relation is none."""
    return None if row["kind"] == "relation" else {name: row[name] for name in row if name not in fields}


def ranked(
    memory: Memory, public: Public, peers: Mapping[str, Peer]
) -> Iterator[tuple[dict[str, Any], dict[str, list[str]]]]:
    """Yield each query with the ids that each system found, best first."""
    vectors, embedder = memory.store.client.vectors, memory.store.client.embedder
    if vectors is None or embedder is None:
        raise Unavailable("the benchmark needs the embedding model", hint=MODEL_COMMAND)
    texts = ["\n".join(filter(None, map(row.get, ("title", "text", "fix")))) for row in public.memories]
    words, stems, rows = Bm25(texts), Fts5(texts), vectors.encode_documents(texts)
    vectors.catch_up()  # a query waits for few vectors only
    places = {ref: place for place, ref in enumerate(public.refs)}
    encode = once(texts, rows, embedder.encode_query)
    groups = len({row.get("group") for row in public.memories})
    with filled(peers, texts, encode) as others:
        for question in public.queries:
            asked = question["query"]
            pool = np.fromiter(public.pool(question), dtype=np.int64)
            record_types = sorted({public.refs[place].partition("/")[0] for place in pool})
            hits = memory.query(asked, kinds=record_types, limit=DEPTH * groups).results
            hits = sorted(hits, key=lambda hit: (-hit.relevance, hit.ref))
            lexical, semantic = words.scores(asked)[pool], rows[pool] @ encode(asked)
            by_words, by_meaning = pool[order(lexical)], pool[order(semantic)]
            by_stems = pool[order(stems.scores(asked)[pool])]
            fused = fuse((by_words[: np.count_nonzero(lexical > 0)], by_meaning))
            rankings: dict[str, Iterable[int]] = {
                "bm25": by_words,
                "fts5": by_stems,
                "model": by_meaning,
                "rrf": fused,
            }
            found = {name: search(asked, min(PEER_DEPTH, len(texts))) for name, search in others.items()}
            found["graphmem"] = [places[hit.ref] for hit in hits]
            allowed = set(pool.tolist())
            rankings |= {name: [place for place in ranking if place in allowed] for name, ranking in found.items()}
            yield question, {system: named(public, question, ranking) for system, ranking in rankings.items()}


def once(texts: Iterable[str], rows: Iterable[Scores], encode_query: Encode) -> Encode:
    """Return what gives the vector of a text or a query: the same to every system, and made once."""
    known = dict(zip(texts, rows, strict=True))

    def encode(text: str) -> Scores:
        if text not in known:
            known[text] = encode_query(text)
        return known[text]

    return encode


@contextmanager
def filled(peers: Mapping[str, Peer], texts: Sequence[str], encode: Encode) -> Iterator[dict[str, Search]]:
    """Yield the searches of the peers with the texts in them, each in a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="graphmem-") as aside, ExitStack() as opened:
        searches = {}
        for name, opens in peers.items():
            (folder := Path(aside, name)).mkdir()
            searches[name] = opened.enter_context(opens(folder, texts, encode))
        yield searches


def named(public: Public, question: Mapping[str, Any], ranking: Iterable[int]) -> list[str]:
    """Return a ranking as ids, those of the parents where the query asks for them; each once."""
    ids = (public.memories[place] for place in ranking)
    found = dict.fromkeys(row.get("parent") or row["id"] if question.get("rollup") else row["id"] for row in ids)
    return list(found)[:DEPTH]


def order(scores: Scores) -> NDArray[np.int64]:
    """Return the places of scores, best first, equal ones in their order."""
    return np.argsort(-scores, kind="stable")


def fuse(rankings: Sequence[NDArray[np.int64]]) -> list[int]:
    """Return the reciprocal rank fusion of rankings."""
    scores: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for place, number in enumerate(ranking.tolist(), 1):
            scores[number] += 1 / (RRF_K + place)
    return sorted(scores, key=lambda number: -scores[number])


def measures(ranking: Sequence[str], gold: set[str]) -> Measures:
    """Return how well a ranking of ids finds the right ones, with binary gains."""
    places = [place for place, found in enumerate(ranking, 1) if found in gold]
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(gold), 10) + 1))
    return Measures(
        ndcg_10=sum(1 / math.log2(place + 1) for place in places if place <= 10) / ideal,
        recall_5=sum(place <= 5 for place in places) / len(gold),
        recall_10=sum(place <= 10 for place in places) / len(gold),
        mrr=1 / places[0] if places else 0.0,
    )


def mean_of(values: Sequence[Measures]) -> Measures:
    """Return the means of measures."""
    return Measures.model_validate({name: mean(getattr(v, name) for v in values) for name in Measures.model_fields})


def mean(values: Iterable[float]) -> float:
    """Return the mean; 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


class Bm25:
    """Plain BM25 as the sets' READMEs measured it: k1 1.5, b 0.75, English stop words out, no stemming."""

    WORD = re.compile(r"\b\w\w+\b")
    STOP_WORDS = frozenset(
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these they"
        " this to was will with".split()
    )
    K1, B = 1.5, 0.75

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(self.words(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float32)
        norms = self.K1 * (1 - self.B + self.B * lengths / max(float(lengths.mean()), 1.0))
        places: dict[str, list[int]] = defaultdict(list)
        for place, count in enumerate(counts):
            for word in count:
                places[word].append(place)
        self.size = len(texts)
        self.postings: dict[str, tuple[NDArray[np.int64], Scores]] = {}
        for word, found in places.items():
            rarity = math.log(1 + (self.size - len(found) + 0.5) / (len(found) + 0.5))
            times = np.array([counts[place][word] for place in found], dtype=np.float32)
            weights = times * (rarity * (self.K1 + 1)) / (times + norms[found])
            self.postings[word] = np.array(found), weights.astype(np.float32)

    def words(self, text: str) -> list[str]:
        """Return the words of a text that count."""
        return [word for word in self.WORD.findall(text.lower()) if word not in self.STOP_WORDS]

    def scores(self, query: str) -> Scores:
        """Return the score of every text."""
        scores = np.zeros(self.size, dtype=np.float32)
        for word, times in Counter(self.words(query)).items():
            if word in self.postings:
                places, weights = self.postings[word]
                scores[places] += times * weights
        return scores


class Fts5:
    """What SQLite does by itself: the ``bm25()`` of FTS5 with Porter stems, for any word of the query."""

    WORD = re.compile(r"\w+")

    def __init__(self, texts: Sequence[str]) -> None:
        self.size = len(texts)
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("CREATE VIRTUAL TABLE found USING fts5(text, tokenize = 'porter')")
        self.connection.executemany("INSERT INTO found (rowid, text) VALUES (?,?)", enumerate(texts))

    def scores(self, query: str) -> Scores:
        """Return the score of every text."""
        scores = np.zeros(self.size, dtype=np.float32)
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(self.WORD.findall(query.lower())))
        if words:
            sql = "SELECT rowid, -bm25(found) FROM found WHERE found MATCH ?"
            for place, score in self.connection.execute(sql, (words,)):
                scores[place] = score
        return scores
