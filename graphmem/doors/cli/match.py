"""``match``."""

from typing import Annotated

import typer

from graphmem.constants import OFFERED_ERRORS
from graphmem.core.records import wording
from graphmem.core.records.secrets import redacted
from graphmem.core.search.match_contract import MatchedLog
from graphmem.core.search.text import match_limits, match_lines, problem_lines
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.inputs import opened
from graphmem.doors.cli.markdown import Form, is_markdown
from graphmem.kernel.markdown import bounded, item
from graphmem.kernel.ndjson import Lines
from graphmem.kernel.text import count, one_line


@passes("match")
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
    lines = [
        *map(problem_lines, answer.read or ()),
        *map(match_lines, answer.results),
        *map(wording.seen, answer.candidates),
    ]
    invocation.answer(answer, _in_markdown(answer) if to_markdown else "\n".join(lines), is_file=to_markdown)
    for note in match_limits(answer):
        invocation.say(note)
    if not answer.results and not to_markdown:
        invocation.say("no known failure" + (", but candidates" if answer.candidates else ""))


def _in_markdown(answer: MatchedLog) -> str:
    """
    Return what is known of a log as Markdown, and the first errors that are not known.

    What is known is counted, and no line of the log is in two of the lists.
    """
    results = [found.model_copy(update={"text": redacted(found.text)}) for found in answer.results]
    sure = [found for found in results if found.verdict == "same"]
    known_lines = {number for found in sure for number in found.lines}
    alike = [found for found in results if found.verdict != "same" and known_lines.isdisjoint(found.lines)]
    known = count(len(sure), "known failure") if sure else "no known failure"
    lines = [
        f"**Memory:** {known} in the log",
        "",
        *bounded(item(match_lines(one).split(wording.ASIDE)) for one in sure),
    ]
    if alike:
        lines += [*([""] if sure else []), "Like a known failure, and not the same:", ""]
        lines += bounded(item(match_lines(one).split(wording.ASIDE)) for one in alike)
    if answer.unlike:
        errors = (item([one_line(redacted(error), wording.ADVICE)]) for error in answer.unlike[:OFFERED_ERRORS])
        lines += ["", "Errors that the memory does not know:", "", *errors]
    return "\n".join(lines).strip()
