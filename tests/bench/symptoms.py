"""
Symptoms: how often a question in words of its own finds the failure, and is known to.

The failures are those of `other_hand.json`, the questions its re-wordings: they hold no message of a tool. Each is
asked twice, of a store with its failure and of one without. The symptoms (`symptoms.json`)
were written from triggers and fixes alone, by somebody who had not read the questions. The weights of
`described` in `core/search/known_rules.py` are fitted to all of them; what is measured is fitted to nine tenths of the
failures and asked of the others.

usage: python -m tests.bench.symptoms
"""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from graphmem import Memory
from graphmem.constants import DEFAULT_MODEL, KNOWN, MODEL_COMMAND
from graphmem.core.logs.diagnosis import diagnose
from graphmem.core.search import known as use_case
from graphmem.core.search.known_rules import described
from graphmem.errors import Unavailable
from graphmem.kernel.embed.model import find_model
from tests.bench.known import RIDGE, Numbers, regression
from tests.bench.near_misses import Failure, failures_of
from tests.sample import open_memory

WRONG = 0.05  # of the questions without their failure, those that may be called known
FOLDS = 10
FITTED_RIDGE = 0.3  # weight of the squares of the weights in the fit; 0.1 and 1 give the same figures


class Asked(NamedTuple):
    """A question put to a store, and what was found first."""

    failure: int
    is_stored: bool
    is_right: bool
    probability: float  # by the weights of today
    signs: tuple[float, ...]  # of `described`; empty where it was not asked


def rewordings(failure: Failure) -> list[str]:
    """Return the questions for a failure that hold no message."""
    return [
        text
        for text in (failure.same[0], failure.same[-1])
        if not any(one.tool or one.code for one in diagnose(text).problems)
    ]


def ask(memory: Memory, text: str, number: int, *, is_stored: bool) -> Asked:
    """Return what is found first, and by which signs it is judged."""
    signs = list[tuple[float, ...]]()

    def note(*given: float) -> float:
        signs.append(given)
        return described(*given)

    with mock.patch.object(use_case, "described", note):
        found = memory.query(text)
    is_right = [hit.ref for hit in found.results[:1]] == [f"failure/f{number}"]
    return Asked(number, is_stored, is_right, found.probability, signs[0] if signs else ())


def collect(symptoms: list[str] | None, folder: Path) -> list[Asked]:
    """Put all questions to a store; None for one without symptoms."""
    embedder = find_model(DEFAULT_MODEL, cache_folder=None).embedder
    if embedder is None:
        raise Unavailable("the benchmark needs the embedding model", hint=MODEL_COMMAND)
    failures, found = failures_of("other hand", folder), list[Asked]()
    with open_memory(folder, embedder=embedder) as memory:
        for number, failure in enumerate(failures):
            symptom = symptoms[number] if symptoms else None
            memory.failures.add(failure.trigger, name=f"f{number}", fix=failure.fix, symptom=symptom, dedup=False)
        for number, failure in enumerate(failures):
            found += [ask(memory, text, number, is_stored=True) for text in rewordings(failure)]
            memory.forget(f"failure/f{number}")
            found += [ask(memory, text, number, is_stored=False) for text in rewordings(failure)]
            memory.restore(f"failure/f{number}")
    return found


def fit(asked: list[Asked]) -> Numbers:
    """Return the constant and the weights of the signs."""
    matrix = np.array([(1.0, *one.signs) for one in asked])
    right = np.array([float(one.is_right) for one in asked])
    return regression(matrix, right, np.full(len(asked), RIDGE / FITTED_RIDGE))


def measured(asked: list[Asked], probabilities: Numbers) -> str:
    """Return what is found and known, at the threshold of the product and at a share of wrong ones."""
    stored = np.array([one.is_stored for one in asked])
    right = np.array([one.is_right for one in asked])
    absent = np.sort(probabilities[~stored])[::-1]
    limit = absent[int(WRONG * len(absent))]
    cells = [
        f"{right[stored].mean():.2f}",
        f"{((probabilities >= KNOWN) & right)[stored].mean():.2f}",
        f"{(absent >= KNOWN).mean():.3f}",
        f"{((probabilities > limit) & right)[stored].mean():.2f} (from {limit:.2f})",
    ]
    return " | ".join(cells)


def left_out(asked: list[Asked]) -> Numbers:
    """Return the probability of each case by weights that were fitted to other failures."""
    found = np.zeros(len(asked))
    for fold in range(FOLDS):
        weights = fit([one for one in asked if one.failure % FOLDS != fold])
        for place, one in enumerate(asked):
            if one.failure % FOLDS == fold:
                found[place] = 1 / (1 + np.exp(-weights @ (1.0, *one.signs)))
    return found


def main() -> None:
    """Print the figures without symptoms, with them, and with the tenth left out; then the weights."""
    symptoms = json.loads(Path(__file__).with_name("symptoms.json").read_text(encoding="utf-8"))
    print("| | first | known, right | without it known | known, right at 5 % wrong |\n| --- | --- | --- | --- | --- |")
    for name, given in (("without symptoms", None), ("with symptoms", symptoms)):
        with tempfile.TemporaryDirectory() as folder:
            asked = collect(given, Path(folder))
        print(f"| {name} | {measured(asked, np.array([one.probability for one in asked]))} |", flush=True)
    print(f"| with symptoms, a tenth left out | {measured(asked, left_out(asked))} |")
    print(f"{len(asked) // 2} questions; weights: {', '.join(f'{weight:.2f}' for weight in fit(asked))}")


if __name__ == "__main__":
    main()
