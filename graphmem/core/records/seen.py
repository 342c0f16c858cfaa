"""Candidates of the problem that a log, a run or a record reports."""

from collections.abc import Collection, Mapping
from typing import Any

from graphmem.core.logs.draft import keys_of
from graphmem.core.logs.fix_pairs import called
from graphmem.core.logs.output_problem import problem_in, problems, usage_error
from graphmem.core.records.candidate_contract import SeenCandidate
from graphmem.core.records.candidates import MOST_SEEN, queue_of, seen, waiting
from graphmem.kernel.store.runtime import Client


def in_log(client: Client, text: str, answered: Collection[str]) -> list[SeenCandidate]:
    """
    Return the candidates that report a problem of a log.

    Args:
        answered: lines of the log that a record answers: no candidate is shown for them.
    """
    queue = waiting(client)
    if not any(one.state == "waiting" for one in queue.candidates.values()):
        return []
    known = "\n".join(answered)
    keys = [key for problem in problems(text) if problem.text not in known for key in keys_of(problem)]
    return [seen(one) for one in queue.of_keys(keys)[:MOST_SEEN]]


def in_run(client: Client, command: str, text: str) -> list[SeenCandidate]:
    """Return the candidates that say how a command is called, where its output says that it was called wrongly."""
    wrong = usage_error(called(command), text)
    return [seen(one) for one in waiting(client).of_keys(keys_of(wrong))[:MOST_SEEN]] if wrong else []


def says_fix(row: Mapping[str, Any]) -> bool:
    """Return whether a row reports a problem and what to do about it."""
    return bool(row.get("trigger") and (row["kind"] == "pattern" or (row["kind"] == "failure" and row.get("fix"))))


def settle_recorded(client: Client, refs: Mapping[str, str]) -> None:
    """
    Take the candidates of some problems out of the review: each is recorded now, with its fix.

    Args:
        refs: the record of each problem, by the text that reports it.
    """
    kept = client.state.read("candidates", "", bytes.decode) if refs else None
    if not kept:
        return
    found = dict[str, str]()
    for text, ref in refs.items():
        for problem in problems(text) or [problem_in(text)]:
            found |= {key: ref for key in keys_of(problem) if key in kept}
    if found:
        with queue_of(client).changing() as queue:
            for key, ref in found.items():
                for one in queue.of_keys([key]):
                    queue.candidates[one.id] = one.model_copy(update={"state": "recorded", "refs": (ref,)})
