"""
Fix pairs: what failed in a session, and what was changed before the same check passed (docs/concepts/harvest.md).

A pass that needed nothing is no fix: what failed before it may come and go by itself.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from graphmem.core.logs.check import CheckCommand, are_same, checks
from graphmem.core.logs.command_line import parsed_line
from graphmem.core.logs.outcome import outcome_of
from graphmem.core.logs.output_problem import OutputProblem, problems, usage_error
from graphmem.kernel.model.transcript import FileEdit, Message, RanCommand, TranscriptEvent
from graphmem.patterns import lazy_re

MOST_OPEN = 60  # problems of a session that wait for a pass
SOON = 6  # commands after a wrong call among which the right one is looked for
HOLDER, PARAMETERS = lazy_re(r"::| > |\."), lazy_re(r"[\[(/]")  # around the name of a test in its title
MOST_ACTS = 400  # edits and commands that are kept between a failure and its pass


@dataclass
class OpenProblem:
    """
    A problem that no pass has ended yet.

    Attributes:
        failed: the last run that reported it.
        first: the number of the first run that did.
        runs: how many runs did.
        absent: the number of the first failing run of the same check that did not report it; None as long as all do.
    """

    problem: OutputProblem
    checks: tuple[CheckCommand, ...]
    failed: RanCommand
    is_hidden: bool
    first: int
    runs: int = 1
    absent: int | None = None
    commit: str = ""  # the last one that the session made before it failed


@dataclass(frozen=True)
class FixPair:
    """
    A problem, and what was changed between the last run that reported it and the pass.

    Attributes:
        edits: in their order; those of its file where it names one that was edited.
        acts: commands that may have changed something.
        said: what the agent wrote between the last change and the pass, the latest last.
        runs: runs that reported it.
        beside: the other problems of the same run that the pass ends.
        is_one_edit: nothing but one edit came between them.
    """

    problem: OutputProblem
    check: CheckCommand
    failed: RanCommand
    passed: RanCommand
    is_hidden: bool
    edits: tuple[FileEdit, ...]
    acts: tuple[RanCommand, ...]
    said: tuple[str, ...]
    asked: str
    runs: int
    beside: tuple[OutputProblem, ...]
    before: str  # the last commit that the session made before it failed
    is_one_edit: bool = False

    @property
    def is_cause(self) -> bool:
        """Return whether anything was changed that may be why it passes."""
        return bool(self.edits or self.acts)


@dataclass
class SessionReader:
    """Reads the events of one session in their order, and finds its fix pairs."""

    open: list[OpenProblem] = field(default_factory=list)
    acts: deque[FileEdit | RanCommand] = field(default_factory=lambda: deque(maxlen=MOST_ACTS))
    said: deque[Message] = field(default_factory=lambda: deque(maxlen=40))
    asked: str = ""  # what the person asked for last
    commit: str = ""  # the last one that the session made
    wrong_calls: list[tuple[str, int, OutputProblem, RanCommand]] = field(default_factory=list)
    commands: int = 0
    failed: int = 0
    hidden: int = 0
    edits: int = 0

    @property
    def has_acted(self) -> bool:
        """Return whether the agent has done anything that a person can correct."""
        return bool(self.commands or self.edits)

    def read(self, event: TranscriptEvent) -> Iterator[FixPair]:
        """Take an event; yield the pairs that it completes."""
        if isinstance(event, FileEdit):
            if event.is_done and not event.is_refused:
                self.edits += 1
                self.acts.append(event)
        elif isinstance(event, Message):
            self.said.append(event)
            self.asked = event.text if event.by == "person" else self.asked
        elif isinstance(event, RanCommand) and not event.is_refused:
            yield from self.ran(event)

    def ran(self, event: RanCommand) -> Iterator[FixPair]:
        """Take a command that ran."""
        self.commands += 1
        self.commit = event.commit or self.commit
        outcome = outcome_of(event.command, event.status, event.output)
        is_hidden = outcome == "failed" and not event.status
        self.failed += outcome == "failed" and not is_hidden
        self.hidden += is_hidden
        found = checks(event.command)
        name = called(event.command)
        if outcome == "passed":
            yield from self.called_rightly(event, name)
        if outcome == "failed" and (wrong := usage_error(name, event.output)):
            self.wrong_calls = [*self.wrong_calls, (name, self.commands, wrong, event)][-SOON:]
        elif outcome == "failed" and found:
            self.fail(event, found, is_hidden=is_hidden)
        elif outcome == "passed" and found:
            yield from self.passes(event, found)
        if outcome == "passed" and parsed_line(event.command).is_act:
            self.acts.append(event)

    def called_rightly(self, event: RanCommand, name: str) -> Iterator[FixPair]:
        """Take a command that passed: the same one may have been called wrongly a moment before."""
        recent = [one for one in self.wrong_calls if self.commands - one[1] <= SOON]
        self.wrong_calls = [one for one in recent if one[0] != name]
        for called_as, _, wrong, failed in recent:
            if called_as == name and failed.command != event.command:
                check = CheckCommand(name, (), ())
                yield FixPair(wrong, check, failed, event, False, (), (event,), (), self.asked, 1, (), self.commit)

    def fail(self, event: RanCommand, found: tuple[CheckCommand, ...], *, is_hidden: bool) -> None:
        """Take a check that failed."""
        reported = {problem.key: problem for problem in problems(event.output)}
        for one in self.open:
            if not _is_ended_by(one.checks, found, one.failed.output):
                continue
            if one.problem.key in reported:
                one.failed, one.checks, one.absent, one.runs = event, found, None, one.runs + 1
                one.is_hidden, one.commit = is_hidden, self.commit
                one.problem = reported.pop(one.problem.key)
            elif one.absent is None and reported:
                one.absent = event.number
        new = [
            OpenProblem(problem, found, event, is_hidden, event.number, commit=self.commit)
            for problem in reported.values()
        ]
        self.open = [*self.open, *new][-MOST_OPEN:]

    def passes(self, event: RanCommand, found: tuple[CheckCommand, ...]) -> Iterator[FixPair]:
        """Take a check that passed."""
        ended = [one for one in self.open if _is_ended_by(one.checks, found, one.failed.output)]
        self.open = [one for one in self.open if one not in ended]
        acts = [act for act in self.acts if isinstance(act, FileEdit)]
        for one in (one for one in ended if not _is_taken_out(one, acts)):
            same_run = (
                other.problem for other in ended if other.failed.number == one.failed.number and other is not one
            )
            yield self.pair(one, event, tuple(same_run))

    def pair(self, one: OpenProblem, event: RanCommand, beside: tuple[OutputProblem, ...]) -> FixPair:
        """Return a problem with what was changed since."""
        until = one.absent if one.absent is not None else event.number
        within = [act for act in self.acts if one.failed.number < act.number < until]
        if not within:
            within = [act for act in self.acts if one.failed.number < act.number < event.number]
        edits = [act for act in within if isinstance(act, FileEdit)]
        there = [edit for edit in edits if is_file(edit.file, one.problem.file)]
        said = [
            said.text for said in self.said if said.by == "agent" and one.failed.number < said.number <= event.number
        ]
        return FixPair(
            one.problem,
            next(check for check in one.checks if any(check.name == passed.name for passed in checks(event.command))),
            one.failed,
            event,
            one.is_hidden,
            tuple(there or edits),
            tuple(act for act in within if isinstance(act, RanCommand)),
            tuple(said),
            self.asked,
            one.runs,
            beside,
            one.commit,
            len(edits) == len(within) == 1,
        )


def _is_taken_out(one: OpenProblem, edits: Sequence[FileEdit]) -> bool:
    """Return whether the test that failed was deleted since: then its pass says nothing."""
    name = PARAMETERS.split(HOLDER.split(one.problem.test)[-1])[0].strip()
    return bool(name) and any(
        name in edit.removed and name not in edit.added for edit in edits if edit.number > one.failed.number
    )


def called(command: str) -> str:
    """Return the program of a command line with its sub-command."""
    words = [word for word in parsed_line(command).text.split() if not word.startswith("-")]
    return " ".join([words[0].rpartition("/")[2], *words[1:2]]) if words else ""


def _is_ended_by(failed: Sequence[CheckCommand], passed: Sequence[CheckCommand], output: str) -> bool:
    """Return whether a pass of some checks ends the failure of others; formatters decide nothing beside others."""
    deciding = [check for check in failed if not check.is_formatter] or failed
    return any(are_same(one, other, output) for one in deciding for other in passed)


def is_file(path: str, named: str) -> bool:
    """Return whether a file is the one that an output names, each below another folder perhaps."""
    short, long = sorted((path.replace("\\", "/"), named.replace("\\", "/").removeprefix("./")), key=len)
    return bool(short) and (long == short or long.endswith(f"/{short}"))
