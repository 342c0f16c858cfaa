"""
Checks: tests and jobs of CI, how each ended, and the candidates that follow from that.

A check that failed and passed at the same commit comes and goes. One that failed and passed at a later commit was fixed
in between; where one commit alone can have done it, that commit says how.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from graphmem.core.logs.diagnosis import diagnose
from graphmem.core.logs.draft import (
    FLAKY_WORTH,
    MOST_FILES,
    excerpt,
    failure_fields,
    flaky_id,
    is_below,
    keys_of,
    within,
)
from graphmem.core.logs.line import ESCAPES
from graphmem.core.logs.output_problem import OutputProblem, of_log
from graphmem.core.logs.own_lines import own_text
from graphmem.core.logs.worth import of_settings
from graphmem.features.harvest.history_rules import fixed
from graphmem.kernel.model.candidate import IN_CI, Candidate, CandidateEdit, Fields, Occasion, candidate_id
from graphmem.kernel.model.commit import CommitMessage
from graphmem.patterns import lazy_re

CheckOutcome = Literal["passed", "failed", "flaky", "skipped"]
OPEN_WORTH, PASSED_WORTH, FIXED_WORTH = 0.3, 0.35, 0.45  # of a failure without a pass, with one, and with its commit
MOST_CHANGED = 30  # files of a commit that is said to be a fix
CONTROL = lazy_re(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ud800-\udfff]")
SAID = lazy_re(r"^\s*E\s+(?=\S)")  # before what pytest says of an error, however a report was laid out
NUMBERS = lazy_re(r"[0-9a-f]{7,40}|\d+")
PLATFORM = lazy_re(  # words in the name of a report that say where its checks ran
    r"(?<![a-z])(?:ubuntu|debian|alpine|linux|macos|darwin|windows|win(?:32|64)?|x64|x86(?:_64)?|amd64|arm64|aarch64"
    r"|(?:py(?:thon)?|node|jdk|java|go|ruby|php|rust)-?\d+)(?:[-.]?\d+)*(?![a-z])",
    re.IGNORECASE,
)


class CheckRun(NamedTuple):
    """One run of checks: when, as ISO 8601 in one form, of which commit, and the report of it; empty where unknown."""

    at: str
    commit: str
    report: str


class CheckResult(NamedTuple):
    """
    How a check ended in one run.

    Attributes:
        name: of the test with what it is in, or of the job; with another name it is another check.
        outcome: ``flaky`` where it failed and then passed in the same run.
        problem: what went wrong; None where the report does not say.
        output: what was printed of it.
        file: of the test, as the report names it.
    """

    name: str
    outcome: CheckOutcome
    run: CheckRun
    problem: OutputProblem | None = None
    output: str = ""
    file: str = ""


class Passed(NamedTuple):
    """That a check which failed has passed since: the occasion, the pass, and the last commit before it that failed."""

    candidate: Candidate
    occasion: Occasion
    run: CheckRun
    before: str

    @property
    def is_flaky(self) -> bool:
        """Whether nothing was changed in between."""
        return _is_same_commit(self.run, self.occasion)


def plain_text(text: str) -> str:
    """Return a text of a report without colours, control characters and what is of the user's own store."""
    return own_text(CONTROL.sub("", ESCAPES.sub("", text)))


def platform_of(report: str) -> str:
    """Return what the name of a report says about where its checks ran; empty where it says nothing."""
    return " ".join(dict.fromkeys(word.lower() for word in PLATFORM.findall(report)))


def problem_in_test(holder: str, title: str, message: str, text: str, file: str = "") -> OutputProblem | None:
    """
    Return what went wrong in a test, found again by what the same runner prints on a terminal.

    Args:
        holder: what the test is in: a class with its module, a suite; empty for nothing.
        message: what went wrong, in short; ``text`` with where. One of them may be empty.
    """
    lines = [SAID.sub("E   ", line) for line in (text if text.strip() else message).splitlines()]
    if not lines:
        return None
    *_, in_class = holder.split(".")
    if any(map(SAID.match, lines)):
        head = f"____ {f'{in_class}.' if in_class[:1].isupper() else ''}{title} ____"  # as pytest prints it
    elif "Traceback (most recent call last):" in lines:
        head = f"FAIL: {title} ({holder or title})"
    else:
        head = f"{holder or 'test'} > {title} FAILED"
    found = diagnose("\n".join([head, *lines])).problems
    one = found[0 if head.endswith(" FAILED") else -1]  # of Python the last one is what ended it
    one.test, one.title = one.test or title, one.title or head
    if one.text == one.title:  # nothing in the text says why
        one.message = next(iter(message.splitlines()), "").strip() or one.message
    made = of_log(one)
    return made._replace(file=made.file or file)


def failed_check(result: CheckResult, problem: OutputProblem) -> Candidate:
    """Return the candidate that a failed check is, as long as nothing is known of a pass."""
    run = result.run
    evidence = Occasion(
        source=IN_CI,
        at=run.at,
        before=run.commit or None,
        run=run.report,
        command=result.name,
        failed=excerpt(result.output, problem) or None,
    )
    return Candidate(
        id=candidate_id(problem.key),
        keys=keys_of(problem),
        base=OPEN_WORTH,
        is_slip=problem.sort == "compiler",
        needs=0,
        failure=failure_fields(problem, _origin(run), list(filter(is_below, (problem.file, result.file)))[:1]),
        evidence=(evidence,),
        marks=(evidence.mark,),
    )


def _origin(run: CheckRun) -> str:
    """Return where something is from, for ``sources``."""
    return f"{IN_CI}:{run.commit[:12] or run.report}"


def passes_of(candidates: Sequence[Candidate], passes: Mapping[str, Sequence[CheckRun]]) -> Iterator[Passed]:
    """
    Yield which failed checks have passed since.

    Args:
        candidates: with the occasions on which checks failed.
        passes: the runs in which a check passed, by its name.
    """
    found = list[Passed]()
    for one in candidates:
        for occasion in one.evidence:
            if occasion.source == IN_CI and not occasion.passed:
                runs = passes.get(occasion.command or "", ())
                again = (run for run in runs if _is_same_commit(run, occasion) and _is_rerun(run, occasion))
                later = (run for run in runs if run.at > occasion.at and not _is_same_commit(run, occasion))
                run = next(again, None) or min(later, default=None)
                if run is not None:
                    found.append(Passed(one, occasion, run, occasion.before or ""))
    last: dict[tuple[str, str | None, CheckRun], Occasion] = {}
    for each in found:
        if not each.is_flaky:
            key = each.candidate.id, each.occasion.command, each.run
            last[key] = max(last.get(key, each.occasion), each.occasion, key=lambda occasion: occasion.at)
    for each in found:
        key = each.candidate.id, each.occasion.command, each.run
        yield each if each.is_flaky else each._replace(before=last[key].before or "")


def _is_same_commit(run: CheckRun, occasion: Occasion) -> bool:
    """Return whether a run is of the commit at which a check failed."""
    return bool(run.commit) and run.commit == occasion.before


def _is_rerun(run: CheckRun, occasion: Occasion) -> bool:
    """
    Return whether the report of a run differs from that of a failure in numbers alone.

    With another word in its name it can be of another platform, where the check passes each time.
    """
    return NUMBERS.sub("", run.report) == NUMBERS.sub("", occasion.run or "")


def comes_and_goes(one: Candidate, occasion: Occasion, run: CheckRun) -> Candidate:
    """Return the candidate that a failed check is which passed with nothing changed."""
    evidence = occasion.model_copy(update={"commit": run.commit or None, "passed": run.at})
    return one.model_copy(
        update={
            "id": flaky_id(one.id),
            "needs": 0,
            "base": FLAKY_WORTH,
            "failure": {**(one.failure or {}), "flaky": True},
            "pattern": None,
            "evidence": (evidence,),
            "marks": (evidence.mark,),
        }
    )


def passed_since(found: Passed, fix: CommitMessage | None, edits: Sequence[CandidateEdit]) -> Candidate:
    """
    Return the candidate that a failed check is which passed later.

    Args:
        fix: the commit that fixed it, where one alone can have done it, with what it changed.
    """
    one, run = found.candidate, found.run
    evidence = found.occasion.model_copy(
        update={"commit": run.commit or None, "passed": run.at, "edits": tuple(within(edits))}
    )
    made = one.model_copy(
        update={
            "base": PASSED_WORTH,
            "evidence": (evidence,),
            "marks": (evidence.mark,),
            "sessions": (_origin(run),),
        }
    )
    if fix is None:
        return made
    of_commit = fixed(fix, str((one.failure or {}).get("trigger")), edits)
    worth = FIXED_WORTH + of_settings(edit.file for edit in edits)
    files = [*_listed(one.failure), *_listed(of_commit.failure)]
    failure: Fields = {**(one.failure or {}), "files": list(dict.fromkeys(files))[:MOST_FILES] or None}
    return made.model_copy(update={"base": worth, "pattern": of_commit.pattern, "failure": failure})


def _listed(failure: Fields | None) -> list[str]:
    """Return the files that a failure names."""
    found = (failure or {}).get("files")
    return found if isinstance(found, list) else []


def fixing(
    output: str, commits: Sequence[tuple[CommitMessage, Sequence[CandidateEdit]]]
) -> tuple[CommitMessage, Sequence[CandidateEdit]] | None:
    """
    Return the one commit that can have fixed what an output reports; None where several can.

    One that changed very much, such as a release, does not say what of it was the fix.
    """
    found = list(commits)
    if len(found) > 1:
        found = [pair for pair in commits if any(is_named(edit.file, output) for edit in pair[1])]
    return found[0] if len(found) == 1 and 0 < len(found[0][1]) <= MOST_CHANGED else None


def is_named(file: str, output: str) -> bool:
    """Return whether an output names a file: by its path, or by its last part with a line."""
    path = "/".join(file.split("/")[-2:])
    name = re.escape(file.rpartition("/")[2])
    in_output = output.replace("\\", "/")
    return ("/" in path and path in in_output) or re.search(
        rf"(?<![\w.-]){name}(?::| line |\", line )\d", in_output
    ) is not None
