"""The commands of ``import`` that find candidates: in sessions, history, logs and notes."""

from graphmem.core.records.candidate_contract import (
    Harvested,
    HarvestedAll,
    ImportAllRequest,
    ImportCiRequest,
    ImportGitRequest,
    ImportNotesRequest,
    ImportSessionsRequest,
)
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.kernel.registry import Taken
from graphmem.names import visible

SHOWN = 20  # files that are named with --verbose
NOUNS = {  # of what is read, in the order in which it is said
    "sessions": "session",
    "commands": "command",
    "failed": "failure",
    "masked": "failure behind a status of 0",
    "edits": "edit",
    "pairs": "fix pair",
    "tests": "test",
    "jobs": "job",
    "flaky": "flaky check",
    "skipped": "skipped test",
    "passes": "later pass",
    "commits": "commit",
    "reverts": "revert",
    "fixes": "fixed error",
    "workarounds": "workaround",
    "items": "item",
}


@passes(
    "imports.sessions", ImportSessionsRequest, arguments=1, client=Taken("CLIENT"), since=Taken("DAY"),
)  # fmt: skip
def sessions(invocation: Invocation, call: Call) -> None:
    """
    Find what failed and what fixed it in the transcripts of coding agents on this machine.

    Read are the sessions that worked in this repository, in any of its worktrees. What is found waits as candidates,
    on this machine only: graphmem review
    """
    told(invocation, call())


@passes("imports.notes", ImportNotesRequest, arguments=1)
def notes(invocation: Invocation, call: Call) -> None:
    """
    Find what notes for agents and decision records say: rules, decisions, and what to do when.

    Read are AGENTS.md, CLAUDE.md, GEMINI.md, the rules of editors, the memories of Claude Code and Serena, decision
    records and the packets of Kage; with a path, bundles of Open Knowledge Format too. Each item waits as a candidate,
    and a later version of the file updates it: graphmem review
    """
    told(invocation, call())


@passes("imports.git", ImportGitRequest, since=Taken("DAY"))
def git(invocation: Invocation, call: Call) -> None:
    """
    Find what the history of this repository teaches: what was taken back and why, and which errors were fixed.

    Read too are comments of the code that say what is there only for now, because of a version or an issue. What is
    found waits as candidates, on this machine only: graphmem review
    """
    told(invocation, call())


@passes("imports.ci", ImportCiRequest, arguments=1, commit=Taken("REF"))
def ci(invocation: Invocation, call: Call) -> None:
    """
    Find which tests and jobs of CI failed and passed later, and the commit that fixed them; and those that are flaky.

    Read are JUnit XML, the log of pytest --report-log, and logs of GitHub Actions and GitLab. A failure without a pass
    waits for the import of a later report. What is found waits as candidates, on this machine only: graphmem review
    """
    told(invocation, call())


@passes("imports.all", ImportAllRequest)
def everything(invocation: Invocation, call: Call) -> None:
    """
    Find all of it at the usual places: sessions, git's history, notes. As an option, --all means the same.

    A second import reads only what is new: graphmem review
    """
    answer: HarvestedAll = call()
    show(invocation, answer, "\n".join(f"{part.format}: {account(part)}" for part in answer.parts))


def told(invocation: Invocation, answer: Harvested) -> None:
    """Show what one import read and found, and what comes next."""
    show(invocation, answer, account(answer))


def show(invocation: Invocation, answer: Harvested | HarvestedAll, shown: str) -> None:
    """Show an account of what was read and found, and what comes next."""
    invocation.answer(answer, shown)
    if not answer.applied:
        invocation.say("nothing was kept; do it without --dry-run")
    elif answer.waiting:
        invocation.say(f"{text.count(answer.waiting, 'candidate')} to look at: graphmem review")


def account(answer: Harvested) -> str:
    """Return what was read and what was found."""
    files = sum(one.status == "read" for one in answer.sources)
    again = sum(one.status == "unchanged" for one in answer.sources)
    where = "the history" if answer.format == "git" else text.count(files, "file")
    known = [(noun, answer.read[name]) for name, noun in NOUNS.items() if answer.read.get(name)]
    read = ", ".join(counted(number, noun) for noun, number in known)
    before = f", {again:,} were read before" if again and answer.format != "git" else ""
    lines = [f"read {where}{before}: {read or ('nothing new' if again else 'nothing')}"]
    found = ", ".join(f"{number:,} {name}" for name, number in sorted(answer.candidates.items()) if number)
    lines.append(f"candidates: {found or 'none'}")
    lines += [f"not read: {number:,} × {visible(reason)}" for reason, number in sorted(answer.unread.items())[:SHOWN]]
    return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun; of a noun with more words the first is the one that counts."""
    first, _, rest = noun.partition(" behind ")
    return f"{text.count(number, first)}{f' behind {rest}' if rest else ''}"
