"""
Problems: the things that went wrong in one run of a command, each with what finds it again.

A diagnostic is found again by its rule, a test by the error that it failed with, any other error by its signature. How
a runner ends is no problem by itself, nor is what a test that passed has printed.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Literal, NamedTuple

from graphmem.logs.line import ESCAPES
from graphmem.rules.diagnostic import SYMBOL, WITHOUT_SYMBOL, Diagnostic, diagnostic_of
from graphmem.rules.failed_test import FailedTest, failed_tests
from graphmem.rules.signature import Error, errors

ProblemSort = Literal["rule", "compiler", "test", "error", "usage"]
MOST_PROBLEMS = 12  # of one run; what more it reports follows from these
MOST_OUTPUT = 200_000  # characters of an output that are looked at: its beginning and its end
TRIGGER = 400  # characters of a trigger
ASSERTION = re.compile(  # errors that only say that the check of a test failed
    r"(?:\w*Assertion\w*|ComparisonFailure|\w*ExpectationNotMet\w*|failure): |(?:error|panic): (?:assert|expect)",
    re.IGNORECASE,
)
BUILDKIT = re.compile(r"^#\d{1,4} (?:\d{1,6}\.\d{1,6} )?")  # before each line of docker build
WENT_WRONG = "* What went wrong:"  # of Gradle: the next lines say it
OF_NPM = re.compile(r"^npm (?:ERR!|error) (?=(?:\S+ ){3})")  # a sentence
HINTED = re.compile(r"^(?:hint|help|Hint|Help): ")  # after what a program says went wrong
WRONG_CALL = re.compile(
    r"(?im)^.{0,80}?(?:unknown (?:shorthand )?(?:flag|option|command|subcommand)s?\b|unrecognized (?:option"
    r"|argument)s?\b"
    r"|(?:illegal|invalid) option\b|provided but not defined|no such option\b|\(HTTP 4\d\d\)|parse error near).{0,120}$"
)
FEW_LINES = 2_000  # characters at either end of an output in which a program says that it was called wrongly
LOGGED = re.compile(
    r"^\s*\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|^\s*time=|^\s*\{\"(?:time|level|ts)\"|\blevel=(?:info|debug|warn)"
)

ENDS = re.compile(  # how runners end: that something failed, not what
    r"^\s*(?:#\d{1,4} )?(?:\[[\w:.@/-]{1,60}\] )?(?:(?:ERROR|error):? )?"
    r"(?:task failed|FAIL(?:ED)?\b[^:]*|exit status \d+|make(?:\[\d+\])?: \*\*\* .*"
    r"|npm (?:ERR!|error) (?:code|errno|path|command|Lifecycle|A complete log|Test failed|workspace|location"
    r"|syscall|Exit).*"
    r"|npm (?:ERR!|error)\s*|(?:##\[error\])?Process (?:completed|finished) with exit code \d+\.?"
    r"|error Command failed with exit code \d+\.?|error: (?:Recipe .* failed.*|script .* exited with code \d+.*)"
    r"|ELIFECYCLE.*|(?: ?ERR_PNPM_\S+.*)|Error: Process completed with exit code \d+\.?|BUILD FAILED.*"
    r"|(?:FAILURE: )?Build failed.*|\d+ (?:errors?|problems?|issues?|failures?)\b.*|error: could not compile .*"
    r"|error: aborting due to .*|error: test failed, to rerun .*|FAILED \(.*\)|test result: FAILED.*"
    r"|Found \d+ errors?.*|=+ .*(?:failed|error).* =+|too many errors"
    r"|(?:failed to solve: )?process \".*\" did not complete successfully: exit code: \d+)\s*$"
)


class RunProblem(NamedTuple):
    """
    One thing that went wrong.

    Attributes:
        sort: a rule of a linter, what a compiler or type checker says, a test, a command that was called wrongly, or
            any other error.
        key: what the same problem has too, elsewhere.
        text: what says so, as the trigger of a failure.
        file: the file that it is about, as the output names it; empty where it names none.
        tool: of a diagnostic, and its rule.
        rule: see there.
        bare: of an error in a frame of the code, the key that it has where the frame is not known.
    """

    sort: ProblemSort
    key: str
    text: str
    file: str = ""
    tool: str = ""
    rule: str = ""
    bare: str = ""


def problems(output: str) -> list[RunProblem]:
    """Return the problems that an output reports, in its order, each once."""
    if len(output) > MOST_OUTPUT:
        output = f"{output[: MOST_OUTPUT // 2]}\n{output[-MOST_OUTPUT // 2 :]}"
    lines = joined(BUILDKIT.sub("", line) for line in ESCAPES.sub("", output).splitlines())
    found: dict[str, RunProblem] = {}
    for problem in (*diagnosed(lines), *failing_tests(lines)):
        found.setdefault(problem.key, problem)
    if not found:
        for problem in plain_errors(lines) or hinted(lines):
            found.setdefault(problem.key, problem)
    return list(found.values())[:MOST_PROBLEMS]


def joined(lines: Iterable[str]) -> list[str]:
    """Return lines, with what javac cannot find in the line that says so: it prints that some lines later."""
    found, without = list[str](), -1
    for line in lines:
        if without >= 0 and (symbol := SYMBOL.match(line)):
            found[without], without = f"{found[without]}: {symbol[1]}", -1
        else:
            found.append(line)
            without = len(found) - 1 if line.endswith(WITHOUT_SYMBOL) else without
    return found


def diagnosed(lines: list[str]) -> Iterator[RunProblem]:
    """Yield what tools say of places in the code; where a rule is known, only such."""
    found = [one for one in map(diagnostic_of, lines) if one is not None and not ends_run(one.message)]
    if any(one.is_rule for one in found):
        found = [one for one in found if one.rule]
    for one in found:
        yield of_diagnostic(one)


def of_diagnostic(one: Diagnostic) -> RunProblem:
    """Return a diagnostic as a problem."""
    return RunProblem("rule" if one.is_rule else "compiler", one.key, one.text[:TRIGGER], one.file, one.tool, one.rule)


def failing_tests(lines: list[str]) -> Iterator[RunProblem]:
    """Yield the tests that failed, as problems."""
    yield from filter(None, map(problem_of_test, failed_tests(lines)))


def problem_of_test(one: FailedTest) -> RunProblem | None:
    """Return a failed test by the error that it met, or where a check of its own failed, by its name; None for none."""
    met = next((error for error in errors(one.lines) if error.is_telling and not is_assertion(error)), None)
    if met is not None:
        return of_error(met)._replace(file=one.file)
    return of_test(one) if one.why else None


def is_assertion(error: Error) -> bool:
    """Return whether an error only says that a test's own check failed."""
    return ASSERTION.match(f"{error.name}: {error.message}") is not None


def of_test(one: FailedTest) -> RunProblem:
    """Return a test that failed as a problem: what was expected is in its text, and not in its key."""
    from_test = next(errors([f"{one.name}: Error: {one.why}"]), None)
    key = from_test.exact if from_test else one.why
    text = f"{one.name}: {one.why}{f' ({one.values})' if one.values else ''}"
    return RunProblem("test", f"test {one.name}: {key}".casefold(), text[:TRIGGER], one.file, one.runner)


def plain_errors(lines: list[str]) -> list[RunProblem]:
    """Return the errors of an output that no tool names a place for, those of a program's own log last."""
    found = [one for one in errors(line for line in lines if not ends_run(line)) if one.is_telling]
    return [of_error(error) for error in sorted(found, key=lambda error: LOGGED.match(error.text) is not None)]


def hinted(lines: list[str]) -> list[RunProblem]:
    """Return what an output without other errors says went wrong: before its first hint, or as Gradle says it."""
    place = next((place for place, line in enumerate(lines) if HINTED.match(line)), 0)
    of_npm = next((OF_NPM.sub("", line) for line in lines if OF_NPM.match(line) and not ends_run(line)), "")
    said = [of_npm] if of_npm else lines[max(0, place - 3) : place]
    if WENT_WRONG in lines:
        said = [line.strip().removeprefix("> ") for line in takewhile(str.strip, lines[lines.index(WENT_WRONG) + 1 :])]
    text = " ".join(" ".join(said).split())[:TRIGGER]
    return [RunProblem("error", f"hint: {text}".casefold(), text)] if text else []


def usage_error(name: str, output: str) -> RunProblem | None:
    """Return what a program says of the way it was called; ``name`` is the program with its sub-command."""
    found = WRONG_CALL.search(output[:FEW_LINES]) or WRONG_CALL.search(output[-FEW_LINES:])
    if found is None:
        return None
    said = " ".join(found[0].split())
    return RunProblem("usage", f"usage {name}: {said}".casefold(), f"{name}: {said}"[:TRIGGER])


def of_error(error: Error) -> RunProblem:
    """Return an error as a problem."""
    text = error.trigger or error.text
    file, bare = error.frame.partition(":")[0], f"{error.strict}\n" if error.frame else ""
    return RunProblem("error", f"{error.exact}\n{error.frame}", text[:TRIGGER], file, bare=bare)


def ends_run(line: str) -> bool:
    """Return whether a line is how a runner ends: it says that something failed, not what."""
    return ENDS.match(line) is not None
