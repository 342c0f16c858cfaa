"""How candidates read on a terminal."""

from collections.abc import Iterator
from typing import Annotated

from graphmem.core.evidence.text import ADVICE
from graphmem.core.records import wording
from graphmem.core.records.candidate import occasion
from graphmem.core.records.candidate_contract import (
    CandidateList,
    Harvested,
    HarvestedAll,
    ProofsChecked,
    ReviewedList,
    ShownCandidate,
)
from graphmem.core.replies.reply import Reply, View, Word
from graphmem.kernel.model.candidate import Occasion
from graphmem.kernel.registry import Printout, Taken, reads
from graphmem.kernel.system import shell
from graphmem.kernel.text import count, one_line
from graphmem.names import quoted, visible

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
TIMES = ("  created_at:", "  updated_at:")
MOST_LINES = 60  # of one candidate


@reads(Harvested)
def _import_sessions_text(answer: Harvested) -> Printout:
    return Printout(_account(answer), _next_step(answer))


@reads(HarvestedAll)
def _import_all_text(answer: HarvestedAll) -> Printout:
    return Printout("\n".join(f"{part.format}: {_account(part)}" for part in answer.parts), _next_step(answer))


@reads("candidates.review")
def _review_text(answer: CandidateList) -> Printout:
    command = shell.command("graphmem", "review", "--notes")
    notes = [
        f"{file}: {count(number, 'rule')} that agents load anyway: {command}" for file, number in answer.notes.items()
    ]
    shown = ["\n".join(_lines_of(one)) for one in answer.candidates]
    more = shell.command("graphmem", "review", "--limit", str(answer.total))
    return Printout(
        "\n\n".join([*shown, *(["\n".join(visible(line) for line in notes)] if notes else [])]),
        f"{answer.total - len(answer.candidates):,} more: {more}" if answer.total > len(answer.candidates) else "",
        "no candidate waits; to find some: graphmem import --all" if not answer.total and (not notes) else "",
    )


@reads("candidates.show")
def _review_show_text(
    answer: CandidateList,
    every: Annotated[bool, Taken(flag="--all", meaning="Print every occasion whole, however long")] = False,
) -> str:
    return "\n\n".join(whole(one, None if every else MOST_LINES) for one in answer.candidates)


@reads("candidates.accept")
def _review_accept_text(answer: ReviewedList) -> str:
    lines = [f"{one.action} {one.id}: {', '.join(one.refs)}" for one in answer.reviewed]
    return "\n".join(lines) or "no candidate was accepted"


@reads("candidates.dismiss")
def _review_dismiss_text(answer: ReviewedList) -> str:
    return "\n".join(f"{one.action} {one.id}" for one in answer.reviewed)


@reads("candidates.prove")
def _review_prove_text(answer: ReviewedList) -> Printout:
    lines, notes = [], []
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
            notes.append(f"look at it, and run it with: {proving}")
    return Printout(visible("\n".join(lines)), *notes)


@reads(ProofsChecked)
def _proofs_text(answer: ProofsChecked) -> Printout:
    lines = [f"{one.ref}: {'proven' if one.proven else f'not proven any more: {one.reason}'}" for one in answer.results]
    what = count(len(answer.untrusted), "proof")
    return Printout(
        visible("\n".join(lines)),
        f"{what} not run: look at the commands, and allow them with: graphmem trust" if answer.untrusted else "",
    )


def _next_step(answer: Harvested | HarvestedAll) -> str:
    """Return what comes next."""
    if not answer.applied:
        return "nothing was kept; do it without --dry-run"
    return f"{wording.waiting(answer.waiting)}: graphmem review" if answer.waiting else ""


def _account(answer: Harvested) -> str:
    """Return what was read and what was found."""
    files = sum(one.status == "read" for one in answer.sources)
    again = sum(one.status == "unchanged" for one in answer.sources)
    where = "the history" if answer.format == "git" else count(files, "file")
    known = [(noun, answer.read[name]) for name, noun in NOUNS.items() if answer.read.get(name)]
    read = ", ".join(_counted(number, noun) for noun, number in known)
    before = f", {again:,} were read before" if again and answer.format != "git" else ""
    lines = [f"read {where}{before}: {read or ('nothing new' if again else 'nothing')}"]
    found = ", ".join(f"{number:,} {name}" for name, number in sorted(answer.candidates.items()) if number)
    lines.append(f"candidates: {found or 'no new ones'}")
    lines += [f"not read: {number:,} × {visible(reason)}" for reason, number in sorted(answer.unread.items())[:SHOWN]]
    return "\n".join(lines)


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun; of a noun with more words the first is the one that counts."""
    first, _, rest = noun.partition(" behind ")
    return f"{count(number, first)}{f' behind {rest}' if rest else ''}"


def _lines_of(one: ShownCandidate) -> list[str]:
    """Return a candidate in at most six lines."""
    records = [*filter(None, (one.failure,)), *one.other]
    lines = [_head_of(one), *(f"  {record.kind}: {one_line(record.headline)}" for record in records[:2])]
    lines += [f"  {said}" for record in one.other[:1] for said in wording.advice_lines(record)]
    if one.failure is not None and getattr(one.failure, "flaky", False):
        lines.append("  passed again with nothing changed")
    if one.pattern is not None:
        lines.append(f"  fix: {one_line(getattr(one.pattern, 'insight', ''), ADVICE)}")
    lines += _offers(one)
    if one.evidence:
        lines.append(f"  {visible(occasion(one.evidence[0]))}")
    return lines


def shown(line: str) -> str:
    """Return a line of an output or of code, with its tabs as blanks."""
    return visible(line.expandtabs(4))


def _offers(one: ShownCandidate) -> list[str]:
    """Return the command that adds a candidate to the record that has its error; nothing where none has."""
    if one.near is None:
        return []
    return [f"  a record has this error: {shell.command('graphmem', 'review', 'accept', one.id, '--into', one.near)}"]


def _head_of(one: ShownCandidate) -> str:
    """Return the first line of a candidate: its id, its name, its worth, how often it was seen."""
    proven = "  proven" if one.proof else ""
    return f"{one.id}  {one.name}  {one.worth:.2f}  seen {count(one.occurrences, 'time')}{proven}"


def _reports(one: ShownCandidate) -> Iterator[str]:
    """Yield the commands that report on the record that has the error of a candidate: this person knows which is so."""
    for flag, case in (("--helped", "its fix is what passed here"), ("--failed", "its fix was tried here and failed")):
        if one.near:
            yield f"  {case}: {shell.command('graphmem', 'feedback', one.near, flag, '--task', one.id)}"


def whole(one: ShownCandidate, most: int | None = None) -> str:
    """Return a candidate as the records that it would be, and its occasions, in at most so many lines."""
    lines = [_head_of(one)]
    for record in filter(None, (one.failure, one.pattern, *one.other)):
        _, *said = wording.fields(record, but="key").split("\n")
        said = [line for line in said if not line.startswith(TIMES)]  # it is no record yet
        lines += [f"  {record.kind}:", *(f"  {shown(line)}" for line in said)]
    lines += [f"  {name}: {value}" for name, value in (one.proof or {}).items() if value]
    lines += [*_offers(one), *_reports(one)]
    for found in one.evidence[: None if most is None else 1]:
        lines += ["", *_occasion_lines(found)]
    more = [] if most is None or one.occurrences < 2 else [f"{count(one.occurrences - 1, 'more occasion')}"]
    if most is not None and len(lines) + 2 * len(more) > most:
        lines = lines[: most - 1]
        more = [f"… {'; '.join([*more, 'more lines'])}"]
    command = shell.command("graphmem", "review", "show", one.id, "--all")
    return "\n".join([*lines, *(f"{found}: {command}" for found in more)])


def _occasion_lines(found: Occasion) -> list[str]:
    """Return an occasion with what was printed and changed."""
    lines = [f"--- {visible(occasion(found))}", *(f"  | {shown(line)}" for line in (found.failed or "").splitlines())]
    for change in found.edits:
        lines.append(f"  {one_line(change.file)}")
        lines += [f"  - {shown(line)}" for line in change.removed.splitlines()]
        lines += [f"  + {shown(line)}" for line in change.added.splitlines()]
    return lines


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(ReviewedList, to="model")
def _accepted_reply(answer: ReviewedList, view: View) -> Reply:
    """Return the records that a candidate became."""
    refs = [ref for one in answer.reviewed for ref in one.refs]
    return Reply({"action": Word("accepted"), "refs": refs, "waiting": answer.waiting}, notes=list(answer.notices))
