"""How runs of commands read on a terminal, and below the tests that failed."""

from collections.abc import Iterator, Sequence

from graphmem.constants import KEPT_FIRST_BYTES, KEPT_LAST_BYTES, OFFERED_ERRORS, SHOWN_FAILURES
from graphmem.core.ran.operations import Ran
from graphmem.core.records import wording
from graphmem.core.search.match_contract import Matched, MatchedLog
from graphmem.core.search.text import match_limits, match_lines
from graphmem.kernel.registry import reads
from graphmem.kernel.system import shell
from graphmem.kernel.text import count
from graphmem.names import visible


@reads(Ran)
def _ran_text(*answers: Ran, folder: str | None = None, is_cut: bool = False, is_of_test: bool = False) -> str:
    """Return what is known of a failing run, or what passes teach; ``is_cut``: not all of the output is known."""
    answer = answers[0] if len(answers) == 1 else _together(answers)
    if answer.log is None:
        return "\n".join(_of_a_pass(answer, folder))
    return "\n".join(_of_a_test(answer, answer.log) if is_of_test else _of_a_failure(answer, answer.log, is_cut))


def _of_a_failure(answer: Ran, log: MatchedLog, is_cut: bool) -> Iterator[str]:
    """Yield what is known of a failing run."""
    results = log.results[:SHOWN_FAILURES]
    more = f", the first {len(results)}" if len(log.results) > len(results) else ""
    cut = f" in its first {KEPT_FIRST_BYTES >> 20} and last {KEPT_LAST_BYTES >> 20} MiB" if is_cut else ""
    alike = sum(found.verdict != "same" for found in log.results)
    known = count(len(log.results) - alike, "known failure") if len(log.results) > alike else "no known failure"
    yield known + (f", {alike} like it" if alike else "") + more + cut
    yield from (match_lines(found, is_placed=False) for found in results)
    yield from map(wording.seen, log.candidates)
    yield from match_limits(log)
    yield from _of_the_same(answer, results)


def _of_a_test(answer: Ran, log: MatchedLog) -> Iterator[str]:
    """Yield what is known of a failure of a test and sure, as ``ran`` shows it."""
    results = [found for found in log.results if found.verdict == "same"]
    yield from (match_lines(found, is_placed=False) for found in results[:SHOWN_FAILURES])
    yield from _of_the_same(answer, results)


def _of_the_same(answer: Ran, results: Sequence[Matched]) -> Iterator[str]:
    """Yield how to report a fix that was shown before and did not help."""
    for ref in [found.ref for found in results if found.ref in answer.again][:1]:
        report = shell.command("graphmem", "feedback", ref, "--failed")
        yield f"the same as before; to say that a fix does not help: {report}"


def _together(answers: Sequence[Ran]) -> Ran:
    """Return what several passes teach as one answer, with as many errors to be recorded as one has."""
    return Ran(
        status=0,
        helped=list(dict.fromkeys(ref for one in answers for ref in one.helped)),
        unknown=list(dict.fromkeys(error for one in answers for error in one.unknown))[:OFFERED_ERRORS],
        unfixed=list(dict.fromkeys(ref for one in answers for ref in one.unfixed))[:OFFERED_ERRORS],
        is_flaky=any(one.is_flaky for one in answers),
        flaky=list(dict.fromkeys(ref for one in answers for ref in one.flaky)),
        no_pass=next((one.no_pass for one in answers if one.no_pass), None),
    )


def _of_a_pass(answer: Ran, folder: str | None) -> Iterator[str]:
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
