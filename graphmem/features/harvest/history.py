"""Import of git's history: what was taken back and why, which errors were fixed, and workarounds in today's code."""

from collections.abc import Iterator
from pathlib import Path

from graphmem.constants import CITED_FILE_BYTES
from graphmem.core.records.candidate_contract import Harvested, ImportGitRequest
from graphmem.core.records.candidates import queue_of
from graphmem.errors import GraphmemError, Unavailable
from graphmem.features.harvest import history_rules as history
from graphmem.features.harvest import workaround
from graphmem.features.harvest.haul import Haul
from graphmem.kernel.git import commands, messages
from graphmem.kernel.machine.candidates import SourceMark
from graphmem.kernel.model.candidate import Candidate, CandidateEdit
from graphmem.kernel.model.commit import CommitMessage
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client

HISTORY = "git:HEAD"  # the name of the history among the files that were read
MOST_CODE = 1_000  # files whose comments are read


@operation(
    "imports.git",
    writes=True,
    previews="dry_run",
    at_home=True,
    not_over_http="it reads files of the user who types it",
    example="graphmem import git --since 2026-01-01",
    takes={"since": Taken("DAY")},
    help="""
    Find what the history of this repository teaches: what was taken back and why, and which errors were fixed.

    Read too are comments of the code that say what is there only for now, because of a version or an issue.
    What is found waits as candidates, on this machine only: graphmem review
    """,
)
def import_git(client: Client, request: ImportGitRequest) -> Harvested:
    """
    Read the history and the comments of this project, and put what was taken back, what was fixed and what is there
    only for now into the queue of candidates.

    Read are the commits that were not read before and, where there are some, the comments of all code.

    Raises:
        Unavailable: there is no commit.
    """
    root = client.root
    head = commands.commit_of(root, "HEAD")
    if head is None:
        raise Unavailable("git has no commit here", hint="there is a history from the first commit on")
    queue = queue_of(client)
    before = queue.read()
    last = before.sources.get(HISTORY)
    haul = Haul()
    if last is not None and last.commit == head and not request.since:
        haul.note(root, "git", "unchanged")
    else:
        span = [head, *_since(root, request.since, last)]
        _read_messages(haul, client, span)
        _read_comments(haul, client, head)
        haul.note(root, "git", "read")
        if not request.since:  # else the days before are still to be read
            haul.marks = {HISTORY: SourceMark(size=0, modified=0, commit=head)}
    waiting = haul.keep(queue, before if request.dry_run else None)
    return haul.answer("git", waiting, is_applied=not request.dry_run)


def _since(root: Path, day: str | None, last: SourceMark | None) -> list[str]:
    """Return what to leave out of the history: the commits before a day, or those that were read before."""
    if day:
        return [f"--since={day}T00:00:00Z"]
    is_there = last is not None and last.commit is not None and commands.commit_of(root, last.commit) is not None
    return [f"^{last.commit}"] if last is not None and is_there else []


def _read_messages(haul: Haul, client: Client, span: list[str]) -> None:
    """Read the messages of commits: what each took back, or fixed."""
    root = client.root
    haul.counts["commits"] = messages.count(root, span)
    found = messages.commits_with(root, history.WANTED, span)
    for number, commit in enumerate(found):
        for name, made in _taught(root, commit):
            haul.counts[name] += 1
            haul.found.append(made)
        client.runtime.progress("reading commits", number + 1, len(found))
    haul.reverts = history.reverts_in(found)


def _taught(root: Path, commit: CommitMessage) -> Iterator[tuple[str, Candidate]]:
    """Yield what a commit teaches, with what it is counted as."""
    if revert := history.revert_of(commit):
        yield "reverts", history.taken_back(commit, revert, edits_of(root, commit))
    elif problem := history.quoted_problem(commit):
        made = history.quoted_fix(commit, problem, edits_of(root, commit))
        if made.evidence[0].change or not history.is_squashed(commit):
            yield "fixes", made  # a pull request does many things: one of its edits must be about that error
    elif symptom := history.symptom_of(commit):
        yield "fixes", history.fixed(commit, symptom, edits_of(root, commit))


def edits_of(root: Path, commit: CommitMessage) -> list[CandidateEdit]:
    """Return what a commit changed; nothing where that is too much to say what mattered."""
    try:
        return list(messages.changes_of(root, commit.hash))
    except GraphmemError:
        return []


def _read_comments(haul: Haul, client: Client, head: str) -> None:
    """Read the comments that say what is there only for now: what two files say is one candidate."""
    root = client.root
    places = messages.lines_with(root, head, workaround.WANTED)
    files = [path for path in sorted(places) if workaround.may_hold(path)][:MOST_CODE]
    texts = dict[str, str]()
    with commands.objects(root) as objects:
        for number, path in enumerate(files):
            for one in workaround.workarounds(path, _lines_of(objects, f"{head}:./{path}"), places[path]):
                made = workaround.noted(one)
                if texts.setdefault(one.text.casefold(), made.id) == made.id:
                    haul.counts["workarounds"] += 1
                    haul.found.append(made)
            client.runtime.progress("reading comments", number + 1, len(files))
    kept = {one.id for one in haul.found}
    haul.is_gone = lambda one: workaround.is_noted(one) and one.id not in kept


def _lines_of(objects: commands.Objects, name: str) -> list[str]:
    """Return the lines of a file that a commit holds; none where it is too large, or its name no name for git."""
    try:
        return objects.read(name, most=CITED_FILE_BYTES).decode("utf-8", "replace").split("\n")
    except Unavailable:
        return []
