"""``review …``: candidates, and what becomes of them."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import typer

from graphmem.core.records.candidate_contract import CandidateList, ShownCandidate
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, group_of, passes
from graphmem.errors import Usage
from graphmem.kernel.registry import printout
from graphmem.kernel.system.editor import edit

KEYS = "a accept, e edit, d dismiss, s skip, q quit"
MARK = "# "  # before lines of a file to edit that are not taken

app = group_of("review", "")


@app.command("next", epilog="Example: graphmem review next")
@passes("candidates.review", without=("limit", "dismissed", "notes"))
def next_candidate(invocation: Invocation, call: Call) -> None:
    """Go through the candidates one at a time, with keys: a accept, e edit, d dismiss, s skip, q quit."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Usage("review next needs a terminal", hint="graphmem review --json")
    queue: CandidateList = call(limit=1_000)
    if not queue.total:
        invocation.say("no candidate waits; to find some: graphmem import --all")
    for number, one in enumerate(queue.candidates, 1):
        shown: CandidateList = invocation.memory.store.call("candidates.show", id=one.id)
        invocation.write(f"\n[{number} of {queue.total:,}]\n{printout('candidates.show', shown).text}")
        if not _decided(invocation, shown.candidates[0]):
            return


def _decided(invocation: Invocation, one: ShownCandidate) -> bool:
    """Ask for a key and do what it means; return whether to go on."""
    while True:
        print(f"{KEYS}: ", end="", flush=True)
        key = typer.getchar() if hasattr(typer, "getchar") else sys.stdin.readline()[:1]
        print(key if key.isprintable() else "")
        if key in ("q", "\x03", "\x04", ""):
            return False
        if key == "s":
            return True
        if key in ACTIONS and ACTIONS[key](invocation, one):
            return True


def _accepted(invocation: Invocation, one: ShownCandidate, **words: str) -> bool:
    """Accept a candidate, and say what it became; return that it is decided."""
    answer = invocation.memory.store.call("candidates.accept", id=one.id, **words)
    invocation.write("\n".join(f"accepted: {ref}" for done in answer.reviewed for ref in done.refs))
    return True


def _dismissed(invocation: Invocation, one: ShownCandidate) -> bool:
    """Dismiss a candidate; return that it is decided."""
    invocation.memory.store.call("candidates.dismiss", id=one.id)
    invocation.write("dismissed")
    return True


def _edited(invocation: Invocation, one: ShownCandidate) -> bool:
    """
    Accept a candidate with the words that the person writes in an editor; an unchanged file accepts it as it is.

    Return whether it is decided: where the editor failed, the person is asked again.
    """
    given = {
        "trigger": getattr(one.failure or next(iter(one.other), None), "trigger", None),
        "insight": getattr(one.pattern, "insight", None),
    }
    given = {name: value for name, value in given.items() if value}
    with tempfile.TemporaryDirectory(prefix="graphmem-") as folder:
        path = Path(folder) / "candidate.txt"
        path.write_text("".join(f"{MARK}{name}\n{value}\n\n" for name, value in given.items()), "utf-8")
        if not edit(path):
            invocation.write("not accepted: the editor failed")
            return False
        return _accepted(invocation, one, **_sections(path.read_text("utf-8")))


def _sections(content: str) -> dict[str, str]:
    """Return the texts of a file by the heads before them."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in content.splitlines():
        if line.startswith(MARK):
            name = line.removeprefix(MARK).strip()
        elif name:
            found.setdefault(name, []).append(line)
    texts = {name: "\n".join(lines).strip() for name, lines in found.items()}
    return {name: value for name, value in texts.items() if value}


ACTIONS: dict[str, Callable[[Invocation, ShownCandidate], bool]] = {"a": _accepted, "e": _edited, "d": _dismissed}
