"""Candidates that a log or a run is about: shown where no record answers."""

from collections.abc import Collection

from graphmem.contract.harvest import SeenCandidate
from graphmem.rules.draft import keys_of
from graphmem.rules.fix_pairs import called
from graphmem.rules.problem import problems, usage_error
from graphmem.store.runtime import Client
from graphmem.usecase.writing.candidates import MOST_SEEN, seen, waiting


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
