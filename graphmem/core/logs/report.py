"""
A text as the report of a failure: its lines without what runners and loggers put around them, and what changes.

Two reports are of one failure if the lines of the shorter are a run of lines of the longer; what a log has around a
line is taken off as ``match`` does (``logs.line``). What the longer has beside them may be frames, and what follows on
the error; not another error before it, and not what says more of its cause.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from graphmem.core.logs.diagnosis import LINE, frame_in, statement
from graphmem.core.logs.general import general
from graphmem.core.logs.line import ESCAPES, bare, forms, messages, plain
from graphmem.core.logs.volatile import stable
from graphmem.patterns import lazy_re

# What says that a line reports an error although it has no class and no mark, and the words of a person in a sentence.
REPORTS = lazy_re(
    r"\b(?:failed|failure|could ?n[o']t|can ?not|can't|unable to|timed ?out|time-?out|exceeded|refused|denied"
    r"|unreachable|reset by peer|broken pipe|out of (?:range|bounds|memory|space)|not found|no such|in use"
    r"|is not running|unexpected|invalid|killed|abort(?:ed|ing)?|deadlock|unauthorized|forbidden|conflict"
    r"|corrupt(?:ed)?|exhausted|overflow"
    r"|E[A-Z]{4,}|(?:exit|status|return) (?:code|status)|already (?:exists|allocated)|unavailable|crash(?:ed)?"
    r"|panicked|(?:closed|lost) (?:the )?connection|connection (?:closed|lost)|[Uu]nhandled)\b"
)
SENTENCE = lazy_re(
    r"\b(?:our|my|we|I|because|although|users?|every|always|sometimes|keeps?)\b"
    r"|^(?:The|An?|This|It|If|When|While|Whenever|After|Before|Since)\b"
)
FRAME = lazy_re(
    r"^\s*(?:Traceback \(most recent call last\):|goroutine \d+ \[|note: run with |\.\.\. \d+ (?:more|common)|[~^]+\s*$"
    r"|stack backtrace:|Stack trace:|During handling of the above|at "
    r"|make(?:\[\d+\])?: \*\*\* |(?:##\[error\])?Process (?:completed|finished) with exit code"  # how a runner ends
    r"|error Command failed with exit code|exit status \d+$)"
)
CAUSE = lazy_re(r"(?:caused by|cause|reason|because|details?|due to|inner exception)\b[ :]", re.IGNORECASE)
NAME = lazy_re(r"'([^']+)'|\b\w*[\d_./]\w+\b")
MOST_LINES = 1_000  # of a text that are read
TELLING = 4  # words of an error that other lines may be around
SIGN = lazy_re(r"(?<![\w'\"`])['\"`]([^\w\s])['\"`](?![\w'\"`])")  # a mark in quotes is a name
SOFT = lazy_re(r"['.,;:!]+(?=\s|$)|(?<!\w)'|'(?!\w)")  # quotes, and what ends a line or a word


class ReportLine(NamedTuple):
    """
    A line of a report.

    Attributes:
        row: as it is written.
        text: without what is around it and what changes.
        key: what is compared of it; where no error is reported, numbers as they are.
        is_error: whether it reports an error.
    """

    row: str
    text: str
    key: str
    is_error: bool

    @property
    def forms(self) -> frozenset[str]:
        """All that it may be without what is around it; only looked at where two reports are compared."""
        return _forms_of(self.row) if self.is_error else frozenset({self.key})

    def is_of(self, other: "ReportLine") -> bool:
        """Return whether two lines are the same, one of them perhaps with more of a logger around it."""
        return self.key in other.forms or other.key in self.forms


class FailureReport(NamedTuple):
    """A text by its lines: all, and those that are not frames."""

    lines: tuple[ReportLine, ...]
    said: tuple[ReportLine, ...]
    rows: tuple[str, ...]

    @property
    def frames(self) -> tuple[tuple[str, str], ...]:
        """Its errors, each with its frame; only looked at where two reports are compared."""
        return _frames_of(self.rows)

    @property
    def text(self) -> str:
        """The text without what changes, and without what is around its lines."""
        return " ".join(line.text for line in self.lines)


@lru_cache(8_192)  # one text is compared with many
def report_of(text: str) -> FailureReport:
    """Return a text as a report."""
    rows = [SIGN.sub(_spelt_out, row) for row in ESCAPES.sub("", text).splitlines()[:MOST_LINES] if row.strip()]
    reporting = list(map(_reports_error, rows))
    is_report = any(reporting)
    lines, said, is_source = [], [], False
    for row, reports in zip(rows, reporting, strict=True):
        line = _line_of(row, reports or (is_report and len(row) <= LINE and not SENTENCE.search(row)))
        lines.append(line)
        if not (_is_frame(row) or (is_source and row[0].isspace())):
            said.append(line)
        frame = frame_in(row)
        is_source = frame is not None and frame.before  # the code of a frame is in the line after it
    return FailureReport(tuple(lines), tuple(said), tuple(rows))


@lru_cache(8_192)
def _frames_of(rows: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the errors of a report, each with its frame."""
    found = [one for one in statement("\n".join(rows)) if one.is_read]
    return tuple((f"{one.code} {one.said.template} {' '.join(one.said.names)}".casefold(), one.frame) for one in found)


@lru_cache(8_192)
def _forms_of(row: str) -> frozenset[str]:
    """Return all that a line of a report may be without what is around it."""
    several = [row, *(message for message in messages(row) if message.strip())]
    return frozenset(key(stable(form, is_error=True)) for one in several for form in forms(one))


def _spelt_out(found: re.Match[str]) -> str:
    """Return the name of a mark that is in quotes, such as ``comma``."""
    return unicodedata.name(found[1], found[1]).lower()


def _line_of(row: str, is_error: bool) -> ReportLine:
    """Return a line of a report, or of any other text."""
    if not is_error:
        row = plain(row) if len(row) <= LINE else row
        return ReportLine(row, stable(row), key(row), is_error)
    text = stable(bare(row), is_error=True)
    return ReportLine(row, text, key(text), is_error)


def _reports_error(row: str) -> bool:
    """Return whether a line is what a program says of an error, not what a person says in a sentence."""
    if len(row) > LINE:
        return False
    text, whole = bare(row), plain(row)
    error = general(1, text, is_statement=True)
    if error is None and whole != text:
        error = general(1, whole, is_statement=True)
    if error is not None and error.is_strong:
        return True
    return (error is not None or text != whole or REPORTS.search(text) is not None) and not SENTENCE.search(text)


def _is_frame(row: str) -> bool:
    """Return whether a line of a traceback says where, not what."""
    return len(row) <= LINE and (FRAME.match(row) is not None or frame_in(row) is not None)


def key(text: str) -> str:
    """Return what is compared of a line."""
    return " ".join(SOFT.sub(" ", text).casefold().split())


def is_repeat(left: str, right: str) -> bool:
    """Return whether two texts report the same failure, one of them perhaps with more around it."""
    first, second = report_of(left), report_of(right)
    if any(frame for _, frame in first.frames) and any(frame for _, frame in second.frames):
        return first.frames == second.frames and all(frame for _, frame in first.frames)
    short, long = sorted((first, second), key=lambda report: len(report.said))
    size = len(short.said)
    if not size:
        return False
    for start in range(len(long.said) - size + 1):
        if all(one.is_of(other) for one, other in zip(short.said, long.said[start:], strict=False)):
            return _is_more_of_it(short, long.said[:start], long.said[start + size :])
    return False


def _is_more_of_it(short: FailureReport, before: Sequence[ReportLine], after: Sequence[ReportLine]) -> bool:
    """Return whether lines before and after an error say nothing of another one."""
    if not (before or after):
        return True
    known = " ".join(line.text.casefold() for line in short.said)
    return (
        len(known.split()) >= TELLING
        and not any(line.is_error and _reports_error(line.text) for line in before)
        and not any(CAUSE.match(line.text) for line in after)
        and all(_is_known(line, known) for line in after if _reports_error(line.text))
    )


def _is_known(line: ReportLine, known: str) -> bool:
    """Return whether a line names nothing that a text does not name."""
    return all(word in known for word in NAME.findall(line.text.casefold()))
