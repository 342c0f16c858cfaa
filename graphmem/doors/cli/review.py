"""``review …``: candidates, and what becomes of them."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from graphmem.core.records.candidate import occasion
from graphmem.core.records.candidate_contract import (
    AcceptCandidateRequest,
    CandidateList,
    DismissCandidateRequest,
    ProveCandidateRequest,
    ReviewedList,
    ReviewRequest,
    ShowCandidateRequest,
    ShownCandidate,
)
from graphmem.doors.cli import text
from graphmem.doors.cli.app import Noun
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.errors import Usage
from graphmem.kernel.model.candidate import Occasion
from graphmem.kernel.registry import Taken
from graphmem.kernel.system import shell
from graphmem.kernel.system.editor import edit
from graphmem.names import quoted, visible

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=False, rich_markup_mode=None, add_completion=False
)
ID = Taken("ID")
KEYS = "a accept, e edit, d dismiss, s skip, q quit"
MARK = "# "  # before lines of a file to edit that are not taken
TIMES = ("  created_at:", "  updated_at:")
MOST_LINES = 60  # of one candidate


@app.callback(epilog="Example: graphmem review")
@passes("candidates.review", ReviewRequest)
def review(invocation: Invocation, answer: CandidateList) -> None:
    """Show the candidates that wait: what failed, changed and passed first, then the history, then notes for agents."""
    command = shell.command("graphmem", "review", "--notes")
    notes = [
        f"{file}: {text.count(number, 'rule')} that agents load anyway: {command}"
        for file, number in answer.notes.items()
    ]
    shown = ["\n".join(lines_of(one)) for one in answer.candidates]
    invocation.answer(answer, "\n\n".join([*shown, *(["\n".join(visible(line) for line in notes)] if notes else [])]))
    if answer.total > len(answer.candidates):
        more = shell.command("graphmem", "review", "--limit", str(answer.total))
        invocation.say(f"{answer.total - len(answer.candidates):,} more: {more}")
    if not answer.total and not notes:
        invocation.say("no candidate waits; to find some: graphmem import --all")


def lines_of(one: ShownCandidate) -> list[str]:
    """Return a candidate in at most six lines."""
    records = [*filter(None, (one.failure,)), *one.other]
    lines = [head_of(one), *(f"  {record.kind}: {text.one_line(record.headline)}" for record in records[:2])]
    if one.failure is not None and getattr(one.failure, "flaky", False):
        lines.append("  passed again with nothing changed")
    if one.pattern is not None:
        lines.append(f"  fix: {text.one_line(getattr(one.pattern, 'insight', ''), text.ADVICE)}")
    lines += offers(one)
    if one.evidence:
        lines.append(f"  {visible(occasion(one.evidence[0]))}")
    return lines


def shown(line: str) -> str:
    """Return a line of an output or of code, with its tabs as blanks."""
    return visible(line.expandtabs(4))


def offers(one: ShownCandidate) -> list[str]:
    """Return the command that adds a candidate to the record that has its error; nothing where none has."""
    if one.near is None:
        return []
    return [f"  a record has this error: {shell.command('graphmem', 'review', 'accept', one.id, '--into', one.near)}"]


def head_of(one: ShownCandidate) -> str:
    """Return the first line of a candidate: its id, its worth, how often it was seen."""
    return f"{one.id}  {one.worth:.2f}  seen {text.count(one.occurrences, 'time')}{'  proven' if one.proof else ''}"


def reports(one: ShownCandidate) -> Iterator[str]:
    """Yield the commands that report on the record that has the error of a candidate: this person knows which is so."""
    for flag, case in (("--helped", "its fix is what passed here"), ("--failed", "its fix was tried here and failed")):
        if one.near:
            yield f"  {case}: {shell.command('graphmem', 'feedback', one.near, flag, '--task', one.id)}"


def whole(one: ShownCandidate, most: int | None = None) -> str:
    """Return a candidate as the records that it would be, and its occasions, in at most so many lines."""
    lines = [head_of(one)]
    for record in filter(None, (one.failure, one.pattern, *one.other)):
        _, *said = text.fields(record, but="key").split("\n")
        said = [line for line in said if not line.startswith(TIMES)]  # it is no record yet
        lines += [f"  {record.kind}:", *(f"  {shown(line)}" for line in said)]
    lines += [f"  {name}: {value}" for name, value in (one.proof or {}).items() if value]
    lines += [*offers(one), *reports(one)]
    for found in one.evidence[: None if most is None else 1]:
        lines += ["", *occasion_lines(found)]
    more = [] if most is None or one.occurrences < 2 else [f"{text.count(one.occurrences - 1, 'more occasion')}"]
    if most is not None and len(lines) + 2 * len(more) > most:
        lines = lines[: most - 1]
        more = [f"… {'; '.join([*more, 'more lines'])}"]
    command = shell.command("graphmem", "review", "show", one.id, "--all")
    return "\n".join([*lines, *(f"{found}: {command}" for found in more)])


def occasion_lines(found: Occasion) -> list[str]:
    """Return an occasion with what was printed and changed."""
    lines = [f"--- {visible(occasion(found))}", *(f"  | {shown(line)}" for line in (found.failed or "").splitlines())]
    for change in found.edits:
        lines.append(f"  {text.one_line(change.file)}")
        lines += [f"  - {shown(line)}" for line in change.removed.splitlines()]
        lines += [f"  + {shown(line)}" for line in change.added.splitlines()]
    return lines


@app.command(epilog="Example: graphmem review show c3f2a91c0")
@passes("candidates.show", ShowCandidateRequest, id=ID)
def show(
    invocation: Invocation,
    answer: CandidateList,
    every: Annotated[bool, typer.Option("--all", help="Print every occasion whole, however long.")] = False,
) -> None:
    """Show the records that a candidate would be, and the occasion that they are made from, in at most 60 lines."""
    invocation.answer(answer, "\n\n".join(whole(one, None if every else MOST_LINES) for one in answer.candidates))


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
@passes("candidates.review", ReviewRequest, without=("limit", "dismissed", "notes"))
def next_candidate(invocation: Invocation, call: Call) -> None:
    """Go through the candidates one at a time, with keys: a accept, e edit, d dismiss, s skip, q quit."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Usage("review next needs a terminal", hint="graphmem review --json")
    queue: CandidateList = call(limit=1_000)
    if not queue.total:
        invocation.say("no candidate waits; to find some: graphmem import --all")
    for number, one in enumerate(queue.candidates, 1):
        full = invocation.memory.call("candidates.show", id=one.id).candidates[0]
        invocation.write(f"\n[{number} of {queue.total:,}]\n{whole(full, MOST_LINES)}")
        if not decided(invocation, full):
            return


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
