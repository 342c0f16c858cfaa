"""
Does a query know what it knows? The public sets' questions, put to stores with and without their answers.

Of each set some queries are asked twice, of a store that holds their answers and of one from which they are taken out;
beside them questions of other fields, the sets' own questions without an answer, and near misses
(`tests.bench.near_misses`). What is noted of each is what `core/search/known_rules.py` judges a first result by, so the
weights are fitted here too: one set is left out at a time to measure, none to print what goes into that module. What
says that a message is the very same error is fitted to the sets of errors, and near misses count more there.

usage: python -m tests.bench.known --data FOLDER [--kept FOLDER] [--plot FILE]
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unittest import mock

import numpy as np
import orjson
from numpy.typing import NDArray

from graphmem import Memory
from graphmem.constants import DEFAULT_MODEL, KNOWN, MODEL_COMMAND, UNSURE
from graphmem.core.search import known as use_case
from graphmem.core.search.known_rules import Fitted, Likely, judged
from graphmem.core.search.query_contract import Hit
from graphmem.core.search.sameness import Comparison, compared, is_message
from graphmem.core.stats.picture import plotter
from graphmem.errors import Unavailable
from graphmem.kernel.embed.model import Embedder, find_model
from graphmem.kernel.model import Record
from tests.bench import near_misses
from tests.public_sets import plant, read
from tests.sample import contents, open_memory

FIELDS = {
    "attackgraph": "security",
    "beads": "trackers",
    "campaigns": "trackers",
    "citrig": "openstack",
    "cmdfix": "shell",
    "codegraph": "python",
    "debpkgs": "packages",
    "diagnostics": "python",
    "dupbugs": "java",
    "locomo": "talk",
    "logtrig": "openstack",
    "neardup": "trackers",
    "pyerrors": "python",
    "swefix": "python",
}  # a question of another field than the store's has no answer there
MEMORIES = 1_000  # of a set at most: the answers, and others by lot
QUERIES = 150  # of a task at most
FOREIGN = 8  # questions of each set of another field
BINS = 10  # of the reliability
STEPS = 30  # of Newton's method; it is there after ten
COLOURS = ("#0b6e4f", "#c8553d", "#4b5d9e", "#8a6d1f", "#8a8d91")
RIDGE = 3.0  # weight of the squares of the weights in the fit; 0.3 and 30 give the same figures
ERRORS = ("written", "made", "citrig", "logtrig", "cmdfix", "pyerrors")  # sets of messages of errors
COUNTS = {"written": 3.0, "other hand": 0.0}  # what a set counts in the fit of what is the same; else 1
NEAR = 3.0  # what a near miss counts there
Sort = Literal["answerable", "taken out", "no answer", "other field", "near miss"]
Numbers = NDArray[np.float64]


class Seen(NamedTuple):
    """By what a first result is judged, as it is kept: its signs, and the texts that are compared."""

    signs: tuple[float, ...]
    text: str
    messages: list[str]
    full: str

    @property
    def sides(self) -> Comparison | None:
        """How the texts compare, by the rules of today."""
        found = (compared(self.text, message, self.full) for message in self.messages if is_message(message))
        return max(found, key=lambda sides: sum(sides.values), default=None)


class Case(NamedTuple):
    """A question put to a store: what was found first, and whether it is right."""

    set: str
    sort: Sort
    is_right: bool
    by_meaning: bool
    with_match: bool
    relevance: float  # of the first result
    signs: tuple[float, ...]  # empty where nothing was found, or the question names it
    sides: Comparison | None = None


class Noted(NamedTuple):
    """A case as it is kept on disk."""

    case: Case
    seen: Seen | None


class Chosen(NamedTuple):
    """What is asked of a set, and which memories are stored."""

    queries: list[dict[str, Any]]
    memories: list[dict[str, Any]]


def cases_of(data: Path, kept: Path) -> list[Case]:
    """Return the cases of all sets; those of a set are kept in a file, and taken from there the next time."""
    embedder = find_model(DEFAULT_MODEL, cache_folder=None).embedder
    if embedder is None:
        raise Unavailable("the benchmark needs the embedding model", hint=MODEL_COMMAND)
    found = list[Case]()
    with mock.patch.object(embedder, "encode_query", cache(embedder.encode_query)):
        for name in (*FIELDS, *near_misses.SETS):
            file = kept / f"{name}.json"
            if not file.exists():
                (kept / name).mkdir(parents=True)
                of = collect_near if name in near_misses.SETS else collect
                file.write_bytes(orjson.dumps([*of(data, name, kept / name, embedder)], default=list))
                print(f"collected {name}", flush=True)
            for kept_case, seen in orjson.loads(file.read_bytes()):
                case = Case(*kept_case)
                found.append(case._replace(signs=seen[0], sides=Seen(*seen).sides) if seen else case)
    return found


# --- collecting ------------------------------------------------------------------------------------------------------


def choose(folder: Path) -> Chosen:
    """Return some queries of each task of a set, and its memories with their answers; never a query's own memory."""
    rng, memories = random.Random(f"known {folder.name}"), read(folder, "memories")
    if folder.name == "locomo":  # one conversation is a store
        memories = [row for row in memories if row["group"] == "conv-26"]
    ids = {row["id"] for row in memories}
    asked = [
        row for row in read(folder, "queries") if not row.get("rollup") and (not row["gold"] or ids & {*row["gold"]})
    ]
    asked += [
        {"id": f"negative {n}", "task": "negative", "gold": [], **row}
        for n, row in enumerate(read(folder, "negatives"))
    ]
    rng.shuffle(asked)
    queries, counts, own, gold = [], dict[str, int](), set[str](), set[str]()
    for row in asked:
        excluded, answers = {*row.get("exclude", ())}, {*row["gold"]}
        if counts.get(row["task"], 0) < QUERIES and not excluded & gold and not answers & own:
            counts[row["task"]] = counts.get(row["task"], 0) + 1
            queries.append(row)
            own |= excluded
            gold |= answers
    rest = [row for row in memories if row["id"] not in own | gold]
    rng.shuffle(rest)
    stored = [row for row in memories if row["id"] in gold - own]
    stored += rest[: max(0, MEMORIES - len(stored))]
    return Chosen(queries, stored)


def collect(data: Path, name: str, place: Path, embedder: Embedder) -> Iterator[Noted]:
    """Yield the cases of a set: with match expressions and without, by meaning and by words, each half taken out."""
    chosen, rng = choose(data / name), random.Random(f"halves {name}")
    refs = plant(data / name, place, lambda row: row if row["kind"] != "relation" else None)
    ids = {refs[row["id"]]: row["id"] for row in chosen.memories}
    of_kind = {row["kind"]: refs[row["id"]].partition("/")[0] for row in chosen.memories}
    files = {place / ".graphmem" / path: rows(content) for path, content in contents(place).items() if "data/" in path}
    halves = sorted({min(row["gold"]) for row in chosen.queries if row["gold"]})
    rng.shuffle(halves)
    asked = [(row, False) for row in chosen.queries]
    kinds = [row.get("kinds") for row in chosen.queries]
    asked += [({**row, "kinds": rng.choice(kinds), "gold": []}, True) for row in foreign(data, name, rng)]
    for with_match, half in product((False, True), (0, 1)):
        out = {*halves[half::2]}
        gone = {answer for row in chosen.queries if row["gold"] and min(row["gold"]) in out for answer in row["gold"]}
        kept = {ref: number for ref, number in ids.items() if number not in gone}
        for path, found in files.items():
            path.write_bytes(b"".join(line_of(row, with_match) for row in found if ref_of(row) in kept))
        for model in (embedder, None):
            with open_memory(place, embedder=model) as memory:
                memory.store.rebuild()
                for row, is_foreign in asked:
                    record_types = sorted({of_kind[kind] for kind in row.get("kinds") or () if kind in of_kind})
                    hits, seen = judge(memory, row["query"], record_types or None)
                    first = kept[hits[0].ref] if hits else None
                    if "rule" in row and not is_foreign and first != row["rule"]:
                        continue  # a negative of cmdfix says that one rule is wrong, and nothing of another one
                    sort = "other field" if is_foreign else sort_of({*row["gold"]}, {*kept.values()})
                    relevance = hits[0].relevance if hits else 0.0
                    case = Case(name, sort, first in row["gold"], model is not None, with_match, relevance, ())
                    yield Noted(case, seen)


def collect_near(data: Path, name: str, place: Path, embedder: Embedder) -> Iterator[Noted]:
    """Yield the cases of near misses: with all failures in the store, then of those that were taken out."""
    failures = near_misses.failures_of(name, data)
    rng = random.Random(f"foreign {name}")
    asked: list[tuple[int, str, Sort]] = [(-1, row["query"], "other field") for row in foreign(data, "citrig", rng)]
    for number, failure in enumerate(failures):
        asked += [(number, text, "answerable") for text in failure.same]
        asked += [(number, text, "near miss") for text in failure.other]
    for half, model in product((None, 0, 1), (embedder, None)):
        with open_memory(place / f"{half}-{model is not None}", embedder=model) as memory:
            for number, failure in enumerate(failures):
                if half is None or number % 2 != half:
                    memory.failures.add(failure.trigger, name=f"f{number}", fix=failure.fix, dedup=False)
            for number, text, sort in asked:
                if half is None or (sort == "answerable" and number % 2 == half):
                    hits, seen = judge(memory, text, None)
                    is_right = (
                        half is None
                        and sort == "answerable"
                        and [hit.ref for hit in hits[:1]] == [f"failure/f{number}"]
                    )
                    relevance = hits[0].relevance if hits else 0.0
                    of = sort if half is None else "taken out"
                    yield Noted(Case(name, of, is_right, model is not None, False, relevance, ()), seen)


def foreign(data: Path, name: str, rng: random.Random) -> list[dict[str, Any]]:
    """Return questions of other fields than a set's."""
    others = [other for other, field in FIELDS.items() if field != FIELDS[name]]
    return [row for other in others for row in rng.sample(choose(data / other).queries, FOREIGN)]


def sort_of(gold: Collection[str], kept: Collection[str]) -> Sort:
    """Return what a set's own question is, by its answers and by what is stored."""
    return "no answer" if not gold else "answerable" if {*gold} & {*kept} else "taken out"


def rows(content: bytes) -> list[dict[str, Any]]:
    """Return the rows of a data file."""
    return [orjson.loads(line) for line in content.splitlines()]


def ref_of(row: Mapping[str, Any]) -> str:
    """Return the reference of a row."""
    return f"{row['type'] if row['kind'] == 'entity' else row['kind']}/{row['name']}"


def line_of(row: Mapping[str, Any], with_match: bool) -> bytes:
    """Return the line of a row, with or without its match expression."""
    kept = {name: value for name, value in row.items() if with_match or name != "match"}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def judge(memory: Memory, text: str, record_types: Sequence[str] | None) -> tuple[list[Hit], Seen | None]:
    """Return what a query finds, and by what its first result is judged; None where nothing is found or it is named."""
    texts, signs = list[tuple[str, Record]](), list[tuple[float, ...]]()

    def note_texts(text: str, record: Record) -> None:
        texts.append((text, record))

    def note_signs(found: tuple[float, ...], *_: object) -> Likely:
        signs.append(found)
        return Likely(0.0, 0.0)

    with mock.patch.object(use_case, "sides_of", note_texts), mock.patch.object(use_case, "judged", note_signs):
        hits = memory.query(text, kinds=record_types).results
    if not signs:
        return hits, None
    asked, record = texts[0]
    return hits, Seen(signs[0], asked, use_case.messages_of(record), record.search_text)


# --- fitting ---------------------------------------------------------------------------------------------------------


def fitted(cases: Sequence[Case], by_meaning: bool) -> Fitted:
    """Return the weights of both regressions, fitted to the cases that something was found for."""
    found = [case for case in cases if case.signs and case.set in FIELDS]
    related = regressed([case.signs for case in found], found, shares(found), by_meaning)
    of = [case for case in cases if case.signs and case.sides and case.set in ERRORS]
    of = [case for case in of if (case.set, case.sort) != ("made", "near miss")]  # a swapped prefix is no miss
    counts = np.array([COUNTS.get(case.set, 1.0) * (NEAR if case.sort == "near miss" else 1.0) for case in of])
    share = counts * shares(of)
    same = regressed([both(case) for case in of], of, share / share.sum(), by_meaning)
    return Fitted(related, same)


def both(case: Case) -> tuple[float, ...]:
    """Return all values of a case."""
    return (*case.signs, *(case.sides.values if case.sides else ()))


def regressed(
    rows: list[tuple[float, ...]], cases: Sequence[Case], share: Numbers, by_meaning: bool
) -> tuple[float, ...]:
    """
    Return the weights of a logistic regression with a ridge, of those that are not negative.

    A sign whose weight would be negative is left out: more evidence must not make a result less likely.
    """
    values, right = np.array(rows), np.array([float(case.is_right) for case in cases])
    share, scale = share * len(cases), values.std(axis=0) + 1e-9
    used = np.arange(values.shape[1]) >= (0 if by_meaning else 1)
    while True:
        matrix = np.column_stack((np.ones(len(cases)), (values / scale)[:, used]))
        found = regression(matrix, right, share)
        if (found[1:] >= 0).all():
            break
        used[np.flatnonzero(used)[np.argmin(found[1:])]] = False
    weights = np.zeros(values.shape[1])
    weights[used] = found[1:] / scale[used]
    return (float(found[0]), *map(float, weights))


def regression(matrix: Numbers, right: Numbers, share: Numbers) -> Numbers:
    """Return the coefficients of a logistic regression, by Newton's method; the first column is the constant."""
    found, ridge = np.zeros(matrix.shape[1]), np.diag([0.0] + [RIDGE] * (matrix.shape[1] - 1))
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-matrix @ found))
        slope = matrix.T @ (share * (right - likely)) - ridge @ found
        bend = (matrix.T * (share * likely * (1 - likely))) @ matrix + ridge
        found += np.linalg.solve(bend, slope)
    return found


def shares(cases: Sequence[Case]) -> Numbers:
    """Return what each case counts, together 1, so that every set counts the same."""
    counts = Counter(case.set for case in cases)
    return np.array([1 / counts[case.set] / len(counts) for case in cases])


def left_out(cases: Sequence[Case], by_meaning: bool) -> list[Likely]:
    """Return how likely cases are, those of a set by weights that were fitted to the other sets."""
    weights = {
        name: fitted([case for case in cases if case.set != name or name == "written"], by_meaning)
        for name in {case.set for case in cases}
    }
    return [judged(case.signs, case.sides, weights[case.set]) if case.signs else named(case) for case in cases]


def named(case: Case) -> Likely:
    """Return how likely a case is that was named in the question, or for which nothing was found."""
    return Likely(float(case.relevance > 0), float(case.relevance > 0))


# --- measuring -------------------------------------------------------------------------------------------------------


MEANINGS = {
    "other_field": "AUROC of answerable questions against those of another field",
    "right_other_field": "… of those answered in first place",
    "field": "AUROC of answerable questions against those of the field without an answer",
    "right_field": "… of those answered in first place",
    "calibration": "expected calibration error",
    "promised": "of the questions without an answer get `high`",
    "promised_field": "… of those of the field",
    "promised_near": "of the near misses get `high`",
    "refused": "of the questions of another field get `none`",
    "denied": "of those answered in first place get `none`",
    "trusted": "of those answered in first place get `high`",
}


class Measured(NamedTuple):
    """How well a probability tells questions with and without an answer apart; every set counts the same."""

    other_field: float
    right_other_field: float
    field: float
    right_field: float
    calibration: float
    promised: float
    promised_field: float
    promised_near: float
    refused: float
    denied: float
    trusted: float


def measured(cases: Sequence[Case], likely: Sequence[Likely]) -> Measured:
    """Return how good the probabilities of cases are."""
    found, most = np.array([one.same for one in likely]), np.array([max(one) for one in likely])
    name, sort = np.array([case.set for case in cases]), np.array([case.sort for case in cases])
    is_right, share = np.array([case.is_right for case in cases]), shares(cases)
    of_field = (sort == "taken out") | (sort == "no answer")

    def apart(of: Any, against: Any) -> float:
        sets = [one for one in {*name} if (of & (name == one)).any() and (against & (name == one)).any()]
        return float(np.mean([auroc(found[of & (name == one)], found[against & (name == one)]) for one in sets]))

    def rate(of: Any, holds: Any) -> float:
        return float(np.average(holds[of], weights=share[of])) if of.any() else np.nan

    answerable, foreign = sort == "answerable", sort == "other field"
    return Measured(
        apart(answerable, foreign),
        apart(is_right, foreign),
        apart(answerable, of_field),
        apart(is_right, of_field),
        calibration_error(cases, found),
        rate(~answerable, found >= KNOWN),
        rate(of_field, found >= KNOWN),
        rate(sort == "near miss", found >= KNOWN),
        rate(foreign, most < UNSURE),
        rate(is_right, most < UNSURE),
        rate(is_right, found >= KNOWN),
    )


def auroc(of: Numbers, against: Numbers) -> float:
    """Return how often one of the first is above one of the second, ties counting half."""
    ranks = np.searchsorted(np.sort(against), of, "left") + np.searchsorted(np.sort(against), of, "right")
    return float(ranks.mean() / 2 / len(against))


def bins(cases: Sequence[Case], found: Numbers) -> Iterator[tuple[float, float, float]]:
    """Yield of each tenth of the probabilities what it counts, their mean, and the share that is right."""
    share, right = shares(cases), np.array([float(case.is_right) for case in cases])
    tenth = np.minimum(found * BINS, BINS - 1).astype(int)
    for one in range(BINS):
        of = tenth == one
        if of.any():
            weight = share[of]
            yield (
                float(weight.sum()),
                float(np.average(found[of], weights=weight)),
                float(np.average(right[of], weights=weight)),
            )


def calibration_error(cases: Sequence[Case], found: Numbers) -> float:
    """Return the mean distance of probability and share, over the tenths."""
    return sum(weight * abs(probability - share) for weight, probability, share in bins(cases, found))


def draw(curves: Mapping[str, tuple[Sequence[Case], Numbers]], path: Path) -> None:
    """Draw the reliability: the share that is right against the probability, the larger the point the more cases."""
    figure = plotter()(figsize=(4.2, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot((0, 1), (0, 1), color="#8a8d91", linewidth=0.8)
    for (label, (cases, found)), colour in zip(curves.items(), COLOURS, strict=True):
        weights, likely, share = zip(*bins(cases, found), strict=True)
        axes.plot(likely, share, color=colour, linewidth=1)
        axes.scatter(likely, share, [4 + 300 * weight for weight in weights], color=colour, label=label)
    axes.set(xlabel="probability", ylabel="share of first results that are right", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


PARTS: dict[str, Callable[[Case], bool]] = {
    "texts alone": lambda case: case.set in FIELDS and not case.with_match,
    "with match expressions": lambda case: case.set in FIELDS and case.with_match,
    **{name: lambda case, name=name: case.set == name for name in near_misses.SETS},  # type: ignore[misc]
}


# --- reporting -------------------------------------------------------------------------------------------------------


def table(found: Mapping[str, Measured]) -> str:
    """Return measures as a table in Markdown, a column a way."""
    lines = [f"| | {' | '.join(found)} |", "| --- " * (len(found) + 1) + "|"]
    for name, meaning in MEANINGS.items():
        lines.append(f"| {meaning} | {' | '.join(f'{getattr(measures, name):.3f}' for measures in found.values())} |")
    return "\n".join(lines)


def main() -> None:
    """Collect, fit, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.known", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="where the public sets are")
    parser.add_argument(
        "--kept", type=Path, metavar="FOLDER", help="keep here what was collected, and take it from here"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the reliability, by meaning")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmem-") as aside:
        cases = cases_of(options.data, options.kept or Path(aside))
    curves, columns = dict[str, tuple[Sequence[Case], Numbers]](), dict[str, Measured]()
    for by_meaning in (True, False):
        of = [case for case in cases if case.by_meaning == by_meaning]
        way = "by meaning" if by_meaning else "by words"
        found = left_out(of, by_meaning)
        for stores, chosen in PARTS.items():
            part, likely = zip(*((case, one) for case, one in zip(of, found, strict=True) if chosen(case)), strict=True)
            columns[f"relevance, {way}, {stores}"] = measured(part, [Likely(*[case.relevance] * 2) for case in part])
            columns[f"probability, {way}, {stores}"] = measured(part, likely)
            if by_meaning:
                curves[stores] = part, np.array([one.same for one in likely])
        print(f"{'BY_MEANING' if by_meaning else 'BY_WORDS'} = {fitted(of, by_meaning)}")
        print(f"mean lead {np.mean([case.signs[1] for case in of if case.signs]):.2f}")
    print(table(columns))
    if options.plot:
        draw(curves, options.plot)


if __name__ == "__main__":
    main()
