"""``match``."""

from collections.abc import Iterator
from typing import Annotated

import typer

from graphmem.constants import OFFERED_ERRORS, SHOWN_SLOW
from graphmem.core.records.secrets import redacted
from graphmem.core.search.match_contract import Matched, MatchedLog, MatchRequest, ReadProblem
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.inputs import opened
from graphmem.doors.cli.markdown import Form, bounded, is_markdown, item
from graphmem.kernel.answer import address
from graphmem.kernel.model import Failure
from graphmem.kernel.ndjson import Lines

BY = {"line": "the same line", "match": "its expression", "signature": "the same problem"}
VERDICTS = {"same_rule": "the same rule for other names", "other": "another problem", "unclear": "like it"}


@passes("match", MatchRequest)
def match(
    invocation: Invocation,
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The log; - or nothing for standard input.")] = "-",
    form: Form = "text",
) -> None:
    """
    Show the known failures in a log, on which lines, and what fixes them.

    With --format markdown it is a part of a comment on a forge, without the credentials that the log may hold, and
    without what only your own store knows.

    Example: graphmem match build.log
    pytest 2>&1 | graphmem match
    """
    to_markdown = is_markdown(invocation, form)
    with opened(file) as log:
        answer: MatchedLog = call(Lines(log))
    if to_markdown:  # others read it
        answer = answer.model_copy(update={"results": [one for one in answer.results if one.store == "project"]})
    lines = [*map(explained, answer.read or ()), *map(shown, answer.results), *map(text.seen, answer.candidates)]
    invocation.answer(answer, in_markdown(answer) if to_markdown else "\n".join(lines), is_file=to_markdown)
    for note in limits(answer):
        invocation.say(note)
    if not answer.results and not to_markdown:
        invocation.say("no known failure" + (", but candidates" if answer.candidates else ""))


def explained(one: ReadProblem) -> str:
    """Return how a line of a log was read: by which format, its template and its names."""
    by = f"format of {one.tool}" if one.tool else "general rules"
    told = {"code": one.code, "names": ", ".join(one.names), "place": one.file, "test": one.test, "in": one.frame}
    lines = [f"line {one.line:,}, read by the {by}" if one.tool else f"line {one.line:,}, read by {by}"]
    lines += [f"> {text.one_line(one.printed)}", f"says: {one.template}  (the same by {one.identity})"]
    return text.ASIDE.join([*lines, *(f"{name}: {text.one_line(value)}" for name, value in told.items() if value)])


def limits(answer: MatchedLog) -> Iterator[str]:
    """Yield what was not looked at, and why."""
    if answer.slow:
        named = ", ".join(answer.slow[:SHOWN_SLOW]) + (", …" if len(answer.slow) > SHOWN_SLOW else "")
        what = text.count(len(answer.slow), "match expression")
        yield f"left aside, for together they take too long on this log: {what}: {named}"
    if answer.cut:
        yield f"only the beginning was looked at of {text.count(answer.cut, 'very long line')}"
    if answer.unread:
        yield f"not looked up, for many errors came before: the errors on {text.count(answer.unread, 'later line')}"


def shown(found: Matched, *, is_placed: bool = True) -> str:
    """Return a failure with the line that reports it, where that is in a file, and what to do."""
    more = f" and {len(found.lines) - 1:,} more" if len(found.lines) > 1 else ""
    place = f"  line {found.line:,}{more}" if is_placed else ""
    alike = f", similarity {found.similarity:.2f}" if found.similarity is not None else ""
    why = f": {text.one_line('; '.join(found.reasons))}" if found.reasons and found.verdict != "same" else ""
    by = BY.get(found.by, "") if found.verdict == "same" else f"{VERDICTS[found.verdict]}{alike}{why}"
    lines = [
        f"{address(found.ref, found.store)}{place}  [{by}]{text.worth(found.record)}",
        f"> {text.one_line(found.text)}",
    ]
    lines += text.against(found.doubts, found.cites) + text.holding(found.holds)
    record = found.record
    if isinstance(record, Failure):
        if found.by not in ("line", "match"):
            lines.append(f"is: {text.one_line(found.recorded or record.trigger)}")
        lines += text.advice_lines(record) + text.variant_lines(found.variant_fix, found.store)
    for solution in found.solved_by:
        insight = text.one_line(getattr(solution.record, "insight", None), text.ADVICE)
        lines.append(
            f"{address(solution.ref, found.store)}: {text.marks(solution.doubts)}{insight}{text.worth(solution.record)}"
        )
    return text.ASIDE.join(lines)


def in_markdown(answer: MatchedLog) -> str:
    """
    Return what is known of a log as Markdown, and the first errors that are not known.

    What is known is counted, and no line of the log is in two of the lists.
    """
    results = [found.model_copy(update={"text": redacted(found.text)}) for found in answer.results]
    sure = [found for found in results if found.verdict == "same"]
    known_lines = {number for found in sure for number in found.lines}
    alike = [found for found in results if found.verdict != "same" and known_lines.isdisjoint(found.lines)]
    known = text.count(len(sure), "known failure") if sure else "no known failure"
    lines = [f"**Memory:** {known} in the log", "", *bounded(item(shown(one).split(text.ASIDE)) for one in sure)]
    if alike:
        lines += [*([""] if sure else []), "Like a known failure, and not the same:", ""]
        lines += bounded(item(shown(one).split(text.ASIDE)) for one in alike)
    if answer.unlike:
        errors = (item([text.one_line(redacted(error), text.ADVICE)]) for error in answer.unlike[:OFFERED_ERRORS])
        lines += ["", "Errors that the memory does not know:", "", *errors]
    return "\n".join(lines).strip()
