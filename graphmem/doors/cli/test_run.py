"""``ran``."""

import sys
import time
from collections.abc import Iterator, Sequence

import typer

from graphmem.constants import KEPT_FIRST_BYTES, KEPT_LAST_BYTES, SHOWN_FAILURES
from graphmem.core.ran.operations import Ran, RanRequest
from graphmem.core.records import wording
from graphmem.core.search.match_contract import Matched, MatchedLog
from graphmem.core.search.text import match_limits, match_lines
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.errors import GraphmemError
from graphmem.kernel.registry import Taken
from graphmem.kernel.system import shell
from graphmem.kernel.system.tee import CommandEnd, run
from graphmem.kernel.text import count, one_line
from graphmem.names import inert, visible

app = typer.Typer(add_completion=False, rich_markup_mode=None)

TICK_S = 0.01  # by which the times of files may be behind the clock
CANNOT_RUN, NOT_FOUND = 126, 127  # exit statuses of a shell for a command that it cannot start


@app.command("ran", context_settings={"allow_interspersed_args": False})
@passes(
    "ran",
    RanRequest,
    without=("status", "folder", "began"),
    command=Taken("COMMAND…"),
    name=Taken("NAME"),
    task=Taken("REF"),
)
def ran(invocation: Invocation, call: Call, command: list[str]) -> None:
    """
    Run a command, such as a test suite; when it fails show the known fixes, when it then passes note that they helped.

    Its output and its exit status are the command's; what graphmem says comes after it, on standard error, with --json
    as one line. A command that is not there ends with 127, one that cannot be run with 126.

    Example: graphmem ran -- pytest -q
    """
    began = time.time() - TICK_S
    try:
        ended = run(command)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        invocation.fail(
            "not_found" if is_missing else "unavailable", f"{command[0]!r} cannot be run: {reason(error)}", None, {}
        )
        raise typer.Exit(NOT_FOUND if is_missing else CANNOT_RUN) from None
    with ended:
        if not ended.is_interrupted:  # else it is unknown how it would have ended
            said = _said_of(invocation, call, ended, began)
            if said and not invocation.is_quiet:
                print("\n" * ended.is_amid + said, file=sys.stderr)
    raise typer.Exit(ended.status)


def reason(error: OSError) -> str:
    """Return why the operating system did not start a command."""
    return (error.strerror or str(error)).lower()


def _said_of(invocation: Invocation, call: Call, ended: CommandEnd, began: float) -> str:
    """Return what the memory has to say of a run; whatever goes wrong is a line, never the status of the command."""
    try:
        answer: Ran = call(ended.lines(), status=ended.status, began=began)
    except (Exception, KeyboardInterrupt) as error:  # the boundary of a front end
        if invocation.is_debug:
            raise
        message = error.message if isinstance(error, GraphmemError) else f"{type(error).__name__}: {error}"
        return visible(f"graphmem: nothing was recorded: {one_line(message, wording.ADVICE)}")
    if invocation.is_json:
        return inert(answer.model_dump_json(by_alias=True))
    lines = _of_a_failure(answer, answer.log, ended) if answer.log else of_a_pass(answer, invocation.folder)
    return "".join(f"graphmem: {line}" if not place else f"\n{line}" for place, line in enumerate(map(visible, lines)))


def _of_a_failure(answer: Ran, log: MatchedLog, ended: CommandEnd) -> Iterator[str]:
    """Yield what is known of a failing run."""
    results = log.results[:SHOWN_FAILURES]
    more = f", the first {len(results)}" if len(log.results) > len(results) else ""
    cut = f" in its first {KEPT_FIRST_BYTES >> 20} and last {KEPT_LAST_BYTES >> 20} MiB" if ended.is_cut else ""
    alike = sum(found.verdict != "same" for found in log.results)
    known = count(len(log.results) - alike, "known failure") if len(log.results) > alike else "no known failure"
    yield known + (f", {alike} like it" if alike else "") + more + cut
    yield from (match_lines(found, is_placed=False) for found in results)
    yield from map(wording.seen, log.candidates)
    yield from match_limits(log)
    yield from of_the_same(answer, results)


def of_the_same(answer: Ran, results: Sequence[Matched]) -> Iterator[str]:
    """Yield how to report a fix that was shown before and did not help."""
    for ref in [found.ref for found in results if found.ref in answer.again][:1]:
        report = shell.command("graphmem", "feedback", ref, "--failed")
        yield f"the same as before; to say that a fix does not help: {report}"


def of_a_pass(answer: Ran, folder: str | None = None) -> Iterator[str]:
    """Yield what was recorded after a pass, and the commands that record what only you know."""
    if answer.no_pass:
        yield f"not a pass of what failed before: {answer.no_pass}"
    if answer.is_flaky:
        yield "passed again with nothing changed: flaky, so no fix is credited"
        for ref in answer.flaky:
            yield f"    to mark it: {shell.command('graphmem', 'edit', ref, '--flaky')}"
    if answer.helped:
        yield f"recorded as having helped: {', '.join(answer.helped)}"
    if not answer.unknown and not answer.unfixed:
        return
    yield f"{'' if answer.helped else 'what failed before passes now; '}to remember what fixed it:"
    program = ["graphmem", *(["--dir", folder] if folder else [])]
    for error in answer.unknown:
        words = ("add", "failure", "--trigger", visible(error), "--symptom", "…", "--fix", "…")
        yield f"    {shell.command(*program, *words)}"
    for ref in answer.unfixed:
        yield f"    {shell.command(*program, 'edit', ref, '--fix', '…')}"
