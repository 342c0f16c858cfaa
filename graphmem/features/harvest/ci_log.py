"""
CI logs: the jobs in a log of GitHub Actions or GitLab, whether each failed, and the lines that say why.

A runner's last line (`Process completed with exit code 1`) says that a job failed and never why. How often the line
that people name is among the first three: docs/benchmarks/learning.md, "Harvest".
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from graphmem.core.logs.diagnosis import diagnose
from graphmem.core.logs.line import ESCAPES
from graphmem.core.logs.output_problem import TRIGGER, OutputProblem, problems
from graphmem.core.logs.own_lines import OwnLines
from graphmem.patterns import lazy_re

JOB_CHARS = 200_000  # of a job's log that are looked at: its beginning and its end
MOST_REASONS = 3  # of one job
LAST_LINES = 12  # before a job's end, in which the last thing that was printed is looked for
STAMP = lazy_re(r"^\ufeff?(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*Z(?: \d\d[OE]\+?)? ?")
COLUMNS = lazy_re(r"^(?P<job>[^\t]{1,200})\t[^\t]{0,200}\t(?=\ufeff?\d{4}-\d\d-\d\dT)")  # of `gh run view --log`
SECTION = lazy_re(r"section_(?:start|end):\d+:\S+\r?")
ECHO = lazy_re(r"^(?:\x1b)?\[36;1m")  # how a script is shown before it runs
GROUP = lazy_re(r"^##\[group\](?P<run>Run |Runner |Operating System)?")
GROUP_END = "##[endgroup]"
MOST_SHOWN = 300  # lines that show what runs next, with its environment
ANNOTATION = lazy_re(r"^(?:##\[error\]|::error(?: [^:]{0,300})?::)(?P<said>.*)$")
NO_ANSWER = lazy_re(  # what runners say of any failure
    r"^(?:.{0,40}(?:Process completed with exit code|exited with code|The operation was cancel"
    r"|The process '.{0,200}' failed with exit code|Job failed|Bash exited|Final attempt failed"
    r"|Executing the custom container implementation failed|No files were found with the provided path)"
    r"|Error: The process|Cleaning up|section_end)",
    re.IGNORECASE,
)
NOISE = lazy_re(r"^(?:##\[(?:warning|notice|debug|group|endgroup|command)\]|\[command\]|[IWEF]\d{4} \d\d:\d\d|\+ )")
INFORMS = lazy_re(r"^\W{0,3}(?:INFO|DEBUG|NOTICE)\b")  # a line of a program's own log
WARNING = lazy_re(r"\bwarning\b|\w+Warning:", re.IGNORECASE)
STEP = lazy_re(r"^\s*FAILED: (?=\S)")  # of Ninja, Bazel and others
RUNS = lazy_re(  # of a script, about the program that it ran
    r"^(?:RuntimeError|Error|CalledProcessError|[\w.]*Error): (?:.{0,80}\b(?:returned non-zero|failed with exit)"
    r"|\S+(?: \d+/\d+)? failed!$)"
)
WORDS = lazy_re(r"[^\W\d_]{2,}")
NO_SENTENCE = lazy_re(r"\S {3,}\S|:$|\[ *\d+%\]$")  # the row of a table, the head of a list, progress
ENDS = lazy_re(r"^(?:ERROR: Job failed\b.*|##\[error\]Process completed with exit code [1-9]\d*\.?)$")
PASSES = lazy_re(r"^(?:Job succeeded|Cleaning up orphan processes)\s*$")
HASH = r"[0-9a-f]{7,40}"
COMMIT = lazy_re(
    rf"^HEAD is now at (?:{HASH} Merge (?P<merged>[0-9a-f]{{40}}) into [0-9a-f]{{40}}$|(?P<head>{HASH})\b)"
    rf"|^Checking out (?P<gitlab>{HASH}) as\b|^'?(?P<log>[0-9a-f]{{40}})'?$"
)
AGAIN = lazy_re(r"^(?:During handling of the above exception|The above exception was the direct cause)")
JobOutcome = Literal["failed", "passed", "unknown"]


@dataclass
class LoggedJob:
    """
    One job of a log.

    Attributes:
        at: when its last line was printed, as the log says it; empty where it has no times.
        commit: the one that was checked out, as far as the log says so; of a merged branch its own last one.
        outcome: as the runner says it.
    """

    name: str
    at: str = ""
    commit: str = ""
    outcome: JobOutcome = "unknown"
    begin: list[str] = field(default_factory=list, repr=False)
    end: deque[str] = field(default_factory=deque, repr=False)
    room: int = field(default=JOB_CHARS // 2, repr=False)  # characters that the beginning can still take
    end_size: int = field(default=0, repr=False)
    shown: list[str] | None = field(default_factory=list, repr=False)  # what a runner shows of a step, until that ends

    def add(self, line: str) -> None:
        """Take a line; of a long log the middle is dropped."""
        if stamp := STAMP.match(line):
            self.at, line = f"{stamp['at']}Z", line[stamp.end() :]
        if ECHO.match(line):
            return
        line = ESCAPES.sub("", SECTION.sub("", line)).rstrip()
        if line.startswith(GROUP_END):
            self.shown = None
        elif found := GROUP.match(line):
            self.flush()
            self.shown = [] if found["run"] else None
        elif self.shown is not None and len(self.shown) < MOST_SHOWN and not ANNOTATION.match(line):
            self.shown.append(line)
        else:
            self.flush()
            self.take(line)

    def flush(self) -> None:
        """Take what was held back: no end came, so it is not only shown."""
        lines, self.shown = self.shown or (), None
        for line in lines:
            self.take(line)

    def take(self, line: str) -> None:
        """Take a line of what ran."""
        if not self.commit and (found := COMMIT.match(line)):
            self.commit = next(filter(None, found.groups()))
        if ENDS.match(line) or ANNOTATION.match(line):
            self.outcome = "failed"
        elif PASSES.match(line) and self.outcome == "unknown":
            self.outcome = "passed"
        self.room -= len(line) + 1
        if self.room >= 0:
            self.begin.append(line)
            return
        self.end.append(line)
        self.end_size += len(line) + 1
        while self.end_size > JOB_CHARS // 2:
            self.end_size -= len(self.end.popleft()) + 1

    @property
    def lines(self) -> list[str]:
        """The lines of what ran that are the project's; of a long log its beginning and its end."""
        return list(filter(OwnLines().has, [*self.begin, *self.end]))

    @property
    def output(self) -> str:
        """What the job printed, without times, colours and what the runner shows of a step."""
        return "\n".join(self.lines)


def reasons(job: LoggedJob) -> list[OutputProblem]:
    """
    Return the lines of a job that say why it failed, the most telling first; none where only its end is there.

    Where the runner does not say how it ended, as in a part of a log, its output decides, by the rule of any command.
    """
    if job.outcome == "passed" or (job.outcome == "unknown" and diagnose(job.output).outcome != "failed"):
        return []
    lines = [line for line in _without_causes(job.lines) if not NOISE.match(line)]
    printed = [line for line in lines if not ANNOTATION.match(line)]
    found: dict[str, OutputProblem] = {}
    reported = [one for one in problems("\n".join(printed)) if _is_answer(one.text) and not _is_warning(one)]
    for one in (*reported, *_annotations(lines), *_steps(lines)):
        found.setdefault(one.key, one)
    if not found and job.outcome == "failed":
        found.update((one.key, one) for one in _said_last(lines))
    return list(found.values())[:MOST_REASONS]


def _without_causes(lines: list[str]) -> list[str]:
    """Return the lines of a log without the tracebacks of errors that another one followed from."""
    kept, start = list[str](), 0
    for line in lines:
        if line.startswith("Traceback (most recent call last)"):
            start = len(kept)
        elif AGAIN.match(line):
            del kept[start:]
            continue
        kept.append(line)
    return kept


def _is_answer(said: str) -> bool:
    """Return whether a line says more than that something failed."""
    return bool(said.strip()) and not NO_ANSWER.match(said) and not RUNS.match(said)


def _is_warning(one: OutputProblem) -> bool:
    """Return whether a line warns only, which the rule of a linter does not, or adds something to another one."""
    return "(related information)" in one.text or (one.sort == "error" and WARNING.search(one.text) is not None)


def _annotations(lines: list[str]) -> Iterator[OutputProblem]:
    """Yield what steps report as errors to the runner: of the step that ended the job, the last first."""
    first, others = list[str](), list[str]()
    is_over = False
    for line in lines:
        if found := ANNOTATION.match(line):
            if _is_answer(found["said"]):
                (others if is_over else first).append(found["said"])
            else:
                is_over = bool(first)
    yield from map(_as_problem, [*reversed(first), *others])


def _steps(lines: list[str]) -> Iterator[OutputProblem]:
    """Yield the tests and build steps that a tool names as failed."""
    for line in lines:
        if STEP.match(line):
            yield _as_problem(line)


def _said_last(lines: list[str]) -> Iterator[OutputProblem]:
    """Yield the first line of the last block that a job printed, if it is a sentence."""
    place = next((place for place, line in enumerate(lines) if ANNOTATION.match(line) or ENDS.match(line)), 0)
    paragraph = list[str]()
    for line in reversed(lines[max(0, place - LAST_LINES) : place]):
        if (not line.strip() and paragraph) or INFORMS.match(line):
            break
        if _is_answer(line) and not diagnose(line).outer:
            paragraph.append(line)
    if paragraph and not NO_SENTENCE.search(paragraph[-1]) and len(WORDS.findall(paragraph[-1])) >= 3:
        yield _as_problem(paragraph[-1])


def _as_problem(line: str) -> OutputProblem:
    """Return a line as a problem: by the error in it, if it is one."""
    text = " ".join(line.split())[:TRIGGER]
    key = f"line: {text}".casefold()
    return next(iter(problems(text)), None) or OutputProblem("error", key, key, text)
