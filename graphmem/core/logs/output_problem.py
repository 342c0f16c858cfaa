"""
Problems: the things that went wrong in one run of a command, each with what finds it again.

What went wrong is read by ``logs.diagnosis``. A rule of a linter is found again by its code and what it says
without the names of the code; anything else by what makes it the same problem elsewhere.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, NamedTuple

from graphmem.core.logs.diagnosis import diagnose, statement
from graphmem.core.logs.general import general
from graphmem.core.logs.message import message_of, plain
from graphmem.core.logs.problem import BARE, LogProblem
from graphmem.patterns import lazy_re

ProblemSort = Literal["rule", "compiler", "test", "error", "usage"]
MOST_PROBLEMS = 12  # of one run; what more it reports follows from these
MOST_OUTPUT = 200_000  # characters of an output that are looked at: its beginning and its end
TRIGGER = 400  # characters of a trigger
TYPE_CHECKERS = frozenset("mypy pyright pyrefly phpstan psalm tsc".split())
WRONG_CALL = lazy_re(
    r"(?im)^.{0,80}?(?:unknown (?:shorthand )?(?:flag|option|command|subcommand)s?\b|unrecognized (?:option"
    r"|argument)s?\b"
    r"|(?:illegal|invalid) option\b|provided but not defined|no such option\b|\(HTTP 4\d\d\)|parse error near).{0,120}$"
)
PARENTHESIS = lazy_re(r"\([^()]{0,300}\)")  # of a compiler: about which types and values
FEW_LINES = 2_000  # characters at either end of an output in which a program says that it was called wrongly


class OutputProblem(NamedTuple):
    """
    One thing that went wrong.

    Attributes:
        sort: a rule of a linter, what a compiler or type checker says, a test whose own check failed, a command that
            was called wrongly, or any other error.
        key: what the same problem has too, elsewhere: a rule, what a compiler says whatever the names are, a test.
        found_by: what it is found by again; with other names, or another error in a test, another fix is asked for.
        text: what says so, as the trigger of a failure.
        file: the file that it is about, as the output names it; empty where it names none.
        tool: that prints it, and its rule or code.
        rule: see there. test: the title of the test that failed.
    """

    sort: ProblemSort
    key: str
    found_by: str
    text: str
    file: str = ""
    tool: str = ""
    rule: str = ""
    test: str = ""


def problems(output: str) -> list[OutputProblem]:
    """Return the problems that an output reports, in its order, each once."""
    if len(output) > MOST_OUTPUT:
        output = f"{output[: MOST_OUTPUT // 2]}\n{output[-MOST_OUTPUT // 2 :]}"
    found = [one for one in diagnose(output).problems if not _is_only_title(one)]
    sorts = [_sort_of(one) for one in found]
    of_code = "rule" if "rule" in sorts else "compiler"
    told = [  # else it is what a test that passed has printed, or follows from these
        one
        for one, sort in zip(found, sorts, strict=True)
        if sort == of_code or (one.test and not one.is_logged and sort in ("test", "error"))
    ]
    last = {
        one.test: one for one in reversed(told) if _sort_of(one) == "test"
    }  # what a test says before it ends is why
    return _distinct(one for one in told or found if _sort_of(one) != "test" or last.get(one.test, one) is one)


def _is_only_title(one: LogProblem) -> bool:
    """Return whether nothing says why a test failed, or of which test a line is."""
    return not one.message if one.test else one.family == "tests" and not one.code


def _distinct(found: Iterable[LogProblem]) -> list[OutputProblem]:
    """Return problems as they are found again, each once."""
    kept: dict[str, OutputProblem] = {}
    for problem in map(of_log, found):
        kept.setdefault(problem.key, problem)
    return list(kept.values())[:MOST_PROBLEMS]


def of_log(one: LogProblem) -> OutputProblem:
    """Return a problem of a log as it is found again."""
    sort, said, text = _sort_of(one), one.said.template, one.trigger[:TRIGGER]
    if sort == "rule":
        key = found_by = f"rule {one.code}"
    elif sort == "compiler":
        said = one.fixed or message_of(PARENTHESIS.sub("", one.message)).template
        key, found_by = f"{one.tool} {one.code}: {said}", text
    elif sort == "test":
        key, found_by = f"test {one.test}", f"test {one.test}: {said}"
    else:  # it says itself what it is, in whatever test it happens
        alone = replace(one, test="")
        names = " ".join(plain(piece.text.rpartition("/")[2]) for piece in one.said.pieces if piece.is_name)
        text, names = alone.trigger[:TRIGGER], names if alone.by != "frame" else one.frame or one.test
        key = found_by = f"{one.code}: {said}\n{names}".strip()
    return OutputProblem(sort, key.casefold(), found_by.casefold(), text, one.file, one.tool, one.code, one.test)


def _sort_of(one: LogProblem) -> ProblemSort:
    """Return what sort of thing a problem is."""
    if one.test and (not one.code or BARE.fullmatch(one.code)):
        return "test"
    if one.family == "compilers" or one.tool in TYPE_CHECKERS:
        return "compiler"
    if one.family == "linters" or (not one.family and (one.column is not None or not one.is_read)):
        return "rule" if one.code and not one.is_class else "compiler" if one.column else "error"
    return "error"


def is_of_code(line: str) -> bool:
    """Return whether a line says something of a place in the code."""
    found = general(1, line, is_statement=True)
    return found is not None and bool(found.line)


def quoted_problems(text: str) -> list[OutputProblem]:
    """Return the problems in a quoted text: a warning in it is one too."""
    return _distinct(one for one in statement(text) if one.is_read and not one.is_outer)


def problem_in(trigger: str) -> OutputProblem:
    """Return the problem that the trigger of a failure reports."""
    return of_log(statement(trigger)[0])._replace(text=trigger)


def usage_error(name: str, output: str) -> OutputProblem | None:
    """Return what a program says of the way it was called; ``name`` is the program with its sub-command."""
    found = WRONG_CALL.search(output[:FEW_LINES]) or WRONG_CALL.search(output[-FEW_LINES:])
    if found is None:
        return None
    said = " ".join(found[0].split())
    key = f"usage {name}: {said}".casefold()
    return OutputProblem("usage", key, key, f"{name}: {said}"[:TRIGGER])
