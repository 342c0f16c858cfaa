"""``review …``: candidates, and what becomes of them."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import Invocation
from graphmem.cli.commands import Call, Taken, passes
from graphmem.contract.harvest import (
    AcceptCandidateRequest,
    CandidateList,
    DismissCandidateRequest,
    ProveCandidateRequest,
    ReviewedList,
    ReviewRequest,
    ShowCandidateRequest,
    ShownCandidate,
)
from graphmem.errors import Usage
from graphmem.names import quoted, visible
from graphmem.rules.candidate import occasion
from graphmem.system import shell
from graphmem.system.editor import edit

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=False, rich_markup_mode=None, add_completion=False
)
ID = Taken("ID")
KEYS = "a accept, e edit, d dismiss, s skip, q quit"
MARK = "# "  # before lines of a file to edit that are not taken
LINES = 12  # of what was printed or changed that `next` shows


@app.callback(epilog="Example: graphmem review")
@passes("candidates.review", ReviewRequest)
def review(invocation: Invocation, answer: CandidateList) -> None:
    """Show the candidates that wait, the most worth first: what failed, what changed, what passed."""
    invocation.answer(answer, "\n\n".join("\n".join(lines_of(one)) for one in answer.candidates))
    if answer.total > len(answer.candidates):
        more = shell.command("graphmem", "review", "--limit", str(answer.total))
        invocation.say(f"{answer.total - len(answer.candidates):,} more: {more}")
    if not answer.total:
        invocation.say("no candidate waits; to find some: graphmem import --all")


def lines_of(one: ShownCandidate) -> list[str]:
    """Return a candidate in at most six lines."""
    seen = f"seen {text.count(one.occurrences, 'time')}"
    head = f"{one.id}  {one.worth:.2f}  {seen}{'  proven' if one.proof else ''}"
    records = [*filter(None, (one.failure,)), *one.other]
    lines = [head, *(f"  {record.kind}: {text.one_line(record.headline)}" for record in records[:2])]
    if one.failure is not None and getattr(one.failure, "flaky", False):
        lines.append("  passed again with nothing changed")
    if one.pattern is not None:
        lines.append(f"  fix: {text.one_line(getattr(one.pattern, 'insight', ''), text.ADVICE)}")
    if one.near:
        add = shell.command("graphmem", "review", "accept", one.id, "--into", one.near)
        lines.append(f"  a record has this error: {add}")
    if one.evidence:
        lines.append(f"  {visible(occasion(one.evidence[0]))}")
    return lines


def shown(line: str) -> str:
    """Return a line of an output or of code, with its tabs as blanks."""
    return visible(line.expandtabs(4))


def reports(one: ShownCandidate) -> Iterator[str]:
    """Yield the commands that report on the record that has the error of a candidate: this person knows which is so."""
    for flag, case in (("--helped", "its fix is what passed here"), ("--failed", "its fix was tried here and failed")):
        if one.near:
            yield f"  {case}: {shell.command('graphmem', 'feedback', one.near, flag, '--task', one.id)}"


def whole(one: ShownCandidate) -> str:
    """Return a candidate with all its evidence."""
    lines = [*lines_of(one), *reports(one)]
    for found in one.evidence:
        lines += ["", f"--- {visible(occasion(found))}"]
        lines += [f"  | {shown(line)}" for line in (found.failed or "").splitlines()]
        for change in found.edits:
            lines.append(f"  {text.one_line(change.file)}")
            lines += [f"  - {shown(line)}" for line in change.removed.splitlines()]
            lines += [f"  + {shown(line)}" for line in change.added.splitlines()]
    return "\n".join(lines)


@app.command(epilog="Example: graphmem review show c3f2a91c0")
@passes("candidates.show", ShowCandidateRequest, id=ID)
def show(invocation: Invocation, answer: CandidateList) -> None:
    """Show a candidate with all that was printed and changed."""
    invocation.answer(answer, "\n\n".join(map(whole, answer.candidates)))


@app.command(epilog='Example: graphmem review accept c3f2a91c0 --insight "wrap errors of other packages"')
@passes(
    "candidates.accept", AcceptCandidateRequest, arguments=1, id=ID, into=Taken("REF"), fix=Taken("TEXT"),
    insight=Taken("TEXT"), trigger=Taken("TEXT"), symptom=Taken("TEXT"), at_least=Taken(flag="--all-at-least"),
)  # fmt: skip
def accept(invocation: Invocation, answer: ReviewedList) -> None:
    """Write a candidate as records, with your words in the place of its own; undo takes it back."""
    lines = [f"{one.action} {one.id}: {', '.join(one.refs)}" for one in answer.reviewed]
    invocation.answer(answer, "\n".join(lines) or "no candidate was accepted")


@app.command(epilog='Example: graphmem review dismiss c3f2a91c0 --reason "a slip"')
@passes("candidates.dismiss", DismissCandidateRequest, id=ID, reason=Taken("TEXT"))
def dismiss(invocation: Invocation, answer: ReviewedList) -> None:
    """Dismiss a candidate: what is about the same does not come back."""
    invocation.answer(answer, "\n".join(f"{one.action} {one.id}" for one in answer.reviewed))


@app.command(epilog="Example: graphmem review prove c3f2a91c0")
@passes("candidates.prove", ProveCandidateRequest, id=ID, yes=Taken("DIGEST"))
def prove(invocation: Invocation, answer: ReviewedList) -> None:
    """Run the command of a candidate at the commits before and after its fix: it must fail, then pass."""
    lines = []
    for one in answer.reviewed:
        lines.append(f"{one.action} {one.id}{f': {one.reason}' if one.reason else ''}")
        if plan := one.plan:
            lines += [
                f"  would run in {quoted(plan.folder or '.')}: {quoted(plan.command)}",
                f"  at {plan.before[:12]}, then {plan.after[:12]}",
            ]
            if plan.files:
                files = ", ".join(map(quoted, plan.files))
                lines.append(f"  if the first has no such check: at the second without the change of {files}")
            proving = shell.command("graphmem", "review", "prove", one.id, "--yes", plan.digest)
            invocation.say(f"look at it, and run it with: {proving}")
    invocation.answer(answer, visible("\n".join(lines)))


@app.command("next", epilog="Example: graphmem review next")
@passes("candidates.review", ReviewRequest, without=("limit", "dismissed"))
def next_candidate(invocation: Invocation, call: Call) -> None:
    """Go through the candidates one at a time, with keys: a accept, e edit, d dismiss, s skip, q quit."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Usage("review next needs a terminal", hint="graphmem review --json")
    queue: CandidateList = call(limit=1_000)
    if not queue.total:
        invocation.say("no candidate waits; to find some: graphmem import --all")
    for number, one in enumerate(queue.candidates, 1):
        shown = invocation.memory.call("candidates.show", id=one.id).candidates[0]
        invocation.write("\n".join([f"\n[{number} of {queue.total:,}]", *short(whole(shown))]))
        if not decided(invocation, shown):
            return


def short(shown: str) -> list[str]:
    """Return the lines of a candidate that fit a screen."""
    lines = shown.splitlines()
    most = 4 * LINES
    return (
        lines if len(lines) <= most else [*lines[:most], f"  … {len(lines) - most:,} more lines: graphmem review show"]
    )


def decided(invocation: Invocation, one: ShownCandidate) -> bool:
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


def accepted(invocation: Invocation, one: ShownCandidate, **words: str) -> bool:
    """Accept a candidate, and say what it became; return that it is decided."""
    answer = invocation.memory.call("candidates.accept", id=one.id, **words)
    invocation.write("\n".join(f"accepted: {ref}" for done in answer.reviewed for ref in done.refs))
    return True


def dismissed(invocation: Invocation, one: ShownCandidate) -> bool:
    """Dismiss a candidate; return that it is decided."""
    invocation.memory.call("candidates.dismiss", id=one.id)
    invocation.write("dismissed")
    return True


def edited(invocation: Invocation, one: ShownCandidate) -> bool:
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
        return accepted(invocation, one, **sections(path.read_text("utf-8")))


def sections(content: str) -> dict[str, str]:
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


ACTIONS: dict[str, Callable[[Invocation, ShownCandidate], bool]] = {"a": accepted, "e": edited, "d": dismissed}
