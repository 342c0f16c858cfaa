"""
What is in a context block? The public sets' questions as objectives, put to stores with and without their answers.

Of each set some queries are asked twice, of a store that holds their answers and of one from which they are taken out;
beside them questions of other fields. Memories keep the tags that the sets give them; relations stay out, for in some
sets they give the answer away. A block of 1,000 tokens is measured beside the first ten results of `query`.

usage: python -m tests.bench.context --data FOLDER [--set NAME] [--queries N] [--kept FOLDER]
"""

import argparse
import os
import random
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from graphmem import Memory
from graphmem.constants import DEFAULT_MODEL, MODEL_COMMAND
from graphmem.core.search.budget import tokens
from graphmem.core.search.text import hit_lines
from graphmem.errors import Unavailable
from graphmem.kernel.embed.model import Embedder, find_model
from tests.bench.known import Sort, choose, foreign, line_of, ref_of, rows, sort_of
from tests.public_sets import plant
from tests.sample import contents, open_memory

SETS = (
    "attackgraph", "beads", "campaigns", "citrig", "cmdfix", "diagnostics", "dupbugs", "logtrig", "neardup", "pyerrors",
    "swefix",
)  # fmt: skip  # those of failures, fixes and tasks
QUERIES = 60  # of a set, by lot
FOREIGN = 20  # questions of other fields
BUDGET = 1_000
WAYS = ("context", "query")


class Piece(NamedTuple):
    """A record of an answer: which ids of the set it is, and its size there in tokens."""

    ids: Collection[str]
    kind: str
    tokens: int


class Case(NamedTuple):
    """An objective put to a store, and how much of the answer is what it asks for."""

    set: str
    sort: Sort
    way: str
    has_gold: bool
    gold_first: bool
    records: int
    gold: int
    of_kind: int
    tokens: int  # of the records
    gold_tokens: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing was given."""
        return not self.records


def cases_of(data: Path, name: str, place: Path, embedder: Embedder, most: int) -> Iterator[Case]:
    """Yield the cases of a set: of each query with its answers, and without."""
    chosen, rng = choose(data / name), random.Random(f"context {name}")
    with mock.patch.dict(os.environ, {"GRAPHMEM_EMBEDDING_MODEL": "none"}):
        refs = plant(data / name, place, lambda row: row if row["kind"] != "relation" else None)
    ids = {refs[row["id"]]: row["id"] for row in chosen.memories}
    kinds = {number: ref.partition("/")[0] for ref, number in ids.items()}
    tags = {refs[row["id"]]: row.get("tags") or row.get("labels") or [] for row in chosen.memories}
    files = {place / ".graphmem" / path: rows(content) for path, content in contents(place).items() if "data/" in path}
    queries = [row for row in chosen.queries if "rule" not in row]  # a rule is the one wrong answer of a negative
    queries = rng.sample(queries, min(most, len(queries)))
    others = foreign(data, name, rng)
    asked = [(row, False) for row in queries]
    asked += [({**row, "gold": []}, True) for row in rng.sample(others, min(FOREIGN, len(others)))]
    answers = sorted({min(row["gold"]) for row in queries if row["gold"]})
    rng.shuffle(answers)
    for half in (0, 1):
        out = {*answers[half::2]}
        gone = {answer for row in queries if row["gold"] and min(row["gold"]) in out for answer in row["gold"]}
        kept = {ref: number for ref, number in ids.items() if number not in gone}
        for path, found in files.items():
            path.write_bytes(b"".join(tagged(row, tags) for row in found if ref_of(row) in kept))
        with open_memory(place, embedder=embedder) as memory:
            memory.store.rebuild()
            for row, is_foreign in asked:
                gold = {*row["gold"]}
                sort: Sort = "other field" if is_foreign else sort_of(gold, {*kept.values()})
                of_kind = {kinds[one] for one in gold & kinds.keys()}
                for way, pieces in zip(WAYS, (of_context, of_query), strict=True):
                    yield case(name, sort, way, list(pieces(memory, row["query"], kept)), gold, of_kind)
    for path, found in files.items():  # a kept store is whole again
        path.write_bytes(b"".join(line_of(row, with_match=True) for row in found))


def tagged(row: Mapping[str, Any], tags: Mapping[str, Sequence[str]]) -> bytes:
    """Return the line of a row, with the tags of the set where it is a memory."""
    found = tags[ref_of(row)] if row["kind"] in ("failure", "pattern") else ()
    return line_of({**row, **({"tags": sorted({*found})} if found else {})}, with_match=True)


def of_context(memory: Memory, text: str, kept: Mapping[str, str]) -> Iterator[Piece]:
    """Yield the records of a block; a pattern that is shown with its failure counts as part of that."""
    for entry in memory.context(text, budget=BUDGET).entries:
        found = {kept[ref] for ref in (entry.ref, *entry.solved_by)}
        yield Piece(found, entry.ref.partition("/")[0], tokens(entry.text))


def of_query(memory: Memory, text: str, kept: Mapping[str, str]) -> Iterator[Piece]:
    """Yield the first ten results, as the command line prints them."""
    answer = memory.query(text)
    for hit in answer.results:
        size = tokens(hit_lines([hit], explain=False))
        yield Piece({kept[hit.ref]}, hit.ref.partition("/")[0], size)


def case(
    name: str, sort: Sort, way: str, pieces: Sequence[Piece], gold: Collection[str], kinds: Collection[str]
) -> Case:
    """Return what an answer is."""
    right = [piece for piece in pieces if not {*piece.ids}.isdisjoint(gold)]
    return Case(
        name,
        sort,
        way,
        bool(right),
        bool(right) and pieces[0] is right[0],
        len(pieces),
        len(right),
        sum(piece.kind in kinds for piece in pieces),
        sum(piece.tokens for piece in pieces),
        sum(piece.tokens for piece in right),
    )


# --- measuring -------------------------------------------------------------------------------------------------------


WITH, WITHOUT, FOREIGN_ONLY = {"answerable"}, {"taken out", "no answer"}, {"other field"}
MEASURES: Mapping[str, tuple[Collection[str], str, str]] = {  # of which objectives, the sum of what by the sum of what
    "recall": (WITH, "has_gold", ""),
    "gold first": (WITH, "gold_first", ""),
    "records": (WITH, "records", ""),
    "gold of records": (WITH, "gold", "records"),
    "gold of tokens": (WITH, "gold_tokens", "tokens"),
    "kind of records": (WITH, "of_kind", "records"),
    "tokens": (WITH, "tokens", ""),
    "tokens, taken out": (WITHOUT, "tokens", ""),
    "empty, taken out": (WITHOUT, "is_empty", ""),
    "tokens, other field": (FOREIGN_ONLY, "tokens", ""),
    "empty, other field": (FOREIGN_ONLY, "is_empty", ""),
}


def measured(cases: Sequence[Case]) -> dict[str, float]:
    """Return the measures of the cases of a set and a way."""
    found = {}
    for name, (sorts, part, whole) in MEASURES.items():
        of = [one for one in cases if one.sort in sorts]
        total = sum(getattr(one, whole) for one in of) if whole else len(of)
        found[name] = sum(getattr(one, part) for one in of) / (total or 1)
    return found


def table(cases: Sequence[Case]) -> str:
    """Return the measures as a table in Markdown, a row for each set and way; the mean counts every set the same."""
    lines = [f"| set | way | {' | '.join(MEASURES)} |", "| --- " * (len(MEASURES) + 2) + "|"]
    names = sorted({one.set for one in cases})
    for way in WAYS:
        found = [measured([one for one in cases if (one.set, one.way) == (name, way)]) for name in names]
        mean = {measure: sum(one[measure] for one in found) / len(found) for measure in MEASURES}
        for name, values in zip((*names, "mean"), (*found, mean), strict=True):
            figures = (
                f"{value:.0f}" if measure.startswith("tokens") else f"{value:.3f}" for measure, value in values.items()
            )
            lines.append(f"| {name} | {way} | {' | '.join(figures)} |")
    return "\n".join(lines)


def main() -> None:
    """Ask, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.context", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="where the public sets are")
    parser.add_argument("--set", action="append", choices=SETS, help="only this set")
    parser.add_argument("--queries", type=int, default=QUERIES, metavar="N", help="of each set at most")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="keep the stores here, with their vectors")
    options = parser.parse_args()
    embedder = find_model(DEFAULT_MODEL, cache_folder=None).embedder
    if embedder is None:
        raise Unavailable("the benchmark needs the embedding model", hint=MODEL_COMMAND)
    cases = list[Case]()
    with tempfile.TemporaryDirectory(prefix="graphmem-") as aside:
        for name in options.set or SETS:
            place = (options.kept or Path(aside)) / name
            place.mkdir(parents=True, exist_ok=True)
            with mock.patch.object(embedder, "encode_query", cache(embedder.encode_query)):  # each is asked four times
                cases += cases_of(options.data, name, place, embedder, options.queries)
            print(f"asked {name}", flush=True)
    print(table(cases))


if __name__ == "__main__":
    main()
