"""Import of reports and logs of CI: which checks failed, which passed later, and the commit in between that did it."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from graphmem.core.records.candidate_contract import Harvested, ImportCiRequest
from graphmem.core.records.candidates import queue_of
from graphmem.errors import BadInput, GraphmemError
from graphmem.features.harvest.check_pairs import (
    CheckResult,
    CheckRun,
    comes_and_goes,
    failed_check,
    fixing,
    passed_since,
    passes_of,
    platform_of,
)
from graphmem.features.harvest.haul import Haul
from graphmem.features.harvest.history import edits_of
from graphmem.features.harvest.reports.forms import MOST_FILES, READERS, below, form_of
from graphmem.features.harvest.reports.report import COMMIT, CheckReport, Unreadable
from graphmem.kernel.git import commands, messages
from graphmem.kernel.machine.candidates import Queue, SourceMark
from graphmem.kernel.model.candidate import Candidate, CandidateEdit
from graphmem.kernel.model.commit import CommitMessage
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.surroundings import current_folder

MOST_BETWEEN = 20  # commits between a failure and a pass, of which one is looked for
MOST_COMMITS = 5_000  # names of commits that git is asked for
MOST_RANGES = 500  # pairs of a failure and a pass between which commits are looked at
MOST_FAILED = 10_000  # failed checks of one import that are kept
NAMED_PARTS = 3  # last parts of a path that name a report
NO_FILE, MANY_FAILED = "is a link, or cannot be read", "more checks failed than one import keeps"
Changed = tuple[CommitMessage, Sequence[CandidateEdit]]


@dataclass
class CheckHistory:
    """How checks ended in the reports of one import, and the commits between two of their runs."""

    root: Path
    passes: dict[str, list[CheckRun]] = field(default_factory=lambda: defaultdict(list))
    failed: list[Candidate] = field(default_factory=list)
    flaky: list[Candidate] = field(default_factory=list)
    runs: dict[CheckRun, CheckRun] = field(default_factory=dict)
    full: dict[str, str] = field(default_factory=dict)
    between: dict[tuple[str, str], list[Changed]] = field(default_factory=dict)

    def add(self, result: CheckResult) -> bool:
        """Take how a check ended; return whether there was room for it."""
        run = result.run
        run = self.runs.get(run) or self.runs.setdefault(run, run._replace(commit=self.full_hash(run.commit)))
        if result.outcome == "passed":
            self.passes[result.name].append(run)
        elif result.problem is not None:
            if len(self.failed) + len(self.flaky) >= MOST_FAILED:
                return False
            made = failed_check(result._replace(run=run), result.problem)
            if result.outcome == "flaky":
                self.flaky.append(comes_and_goes(made, made.evidence[0], run))
            else:
                self.failed.append(made)
        return True

    def full_hash(self, commit: str) -> str:
        """Return the full hash of a commit that this clone has; any other as it is."""
        if commit not in self.full:
            try:
                is_asked = COMMIT.fullmatch(commit) and len(self.full) < MOST_COMMITS
                found = commands.commit_of(self.root, commit) if is_asked else None
            except GraphmemError:
                found = None
            self.full[commit] = found or commit
        return self.full[commit]

    def commits_between(self, before: str, commit: str) -> list[Changed]:
        """Return the commits after one up to another that follows it, with what they changed; none if they are many."""
        if (before, commit) not in self.between:
            found = list[CommitMessage]()
            try:
                is_asked = before and commit and len(self.between) < MOST_RANGES
                if is_asked and commands.merge_base(self.root, before, commit) == before:
                    span = [f"^{before}", commit, f"--max-count={MOST_BETWEEN + 1}"]
                    found = messages.commits_with(self.root, (), span)
            except GraphmemError:
                pass  # one of them is not in this clone, or there is no git
            few = found if len(found) <= MOST_BETWEEN else []
            self.between[before, commit] = [(one, edits_of(self.root, one)) for one in few]
        return self.between[before, commit]


@operation(
    "imports.ci",
    writes=True,
    previews="dry_run",
    at_home=True,
    not_over_http="it reads files of the user who types it",
    example="graphmem import ci reports/",
    arguments=1,
    help="""
    Find which tests and jobs of CI failed and passed later, and the commit that fixed them; and those that are
    flaky.

    Read are JUnit XML, the log of pytest --report-log, and logs of GitHub Actions and GitLab. A failure without
    a pass waits for the import of a later report. What is found waits as candidates, on this machine only:
    graphmem review
    """,
)
def import_ci(client: Client, request: ImportCiRequest) -> Harvested:
    """
    Read reports and logs of CI, and put which checks failed, and passed later, into the queue of candidates.

    All is written at once: a pass may be in another report than the failure. A failure that waits in the queue is
    completed by a pass that is read now.

    Raises:
        BadInput: a path is not there.
        NotFound: the commit that was given is none.
    """
    root = client.root
    commit = commands.find_commit(root, request.commit) if request.commit else ""
    queue = queue_of(client)
    before = queue.read()
    haul, history = Haul(), CheckHistory(root)
    files = list(dict.fromkeys(_files_of(haul, request.paths)))
    for number, path in enumerate(files):
        read(haul, history, path, commit, before)
        client.runtime.progress("reading reports", number + 1, len(files))
    haul.found = list(_learned(haul, history, before))
    waiting = haul.keep(queue, before if request.dry_run else None)
    return haul.answer("ci", waiting, is_applied=not request.dry_run)


def _files_of(haul: Haul, paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that are asked for; raise ``BadInput`` for a path that is not there."""
    if not paths:
        raise BadInput("no report is named", hint="a report or a log of CI, or a folder that holds some")
    places = [Path(os.path.abspath(current_folder() / path)) for path in paths]
    for path, place in zip(paths, places, strict=True):
        if not os.path.lexists(place):
            raise BadInput(f"{str(path)!r} is not there", hint="a report or a log of CI, or a folder that holds some")
    for place in places:
        if place.is_symlink() or not safe_files.is_folder(place):
            yield place
            continue
        found = list(below(place))
        yield from found
        if len(found) == MOST_FILES:
            haul.unread[f"a folder has {MOST_FILES:,} files or more, of which the first are read"] += 1


def read(haul: Haul, history: CheckHistory, path: Path, commit: str, before: Queue) -> None:
    """Read one file, unless it was read before."""
    form, state = "", None
    try:
        state = safe_files.stat_of(path)
        form = form_of(path)
        assert state is not None
        mark = SourceMark(size=state.st_size, modified=state.st_mtime_ns, commit=commit or None)
        if before.sources.get(str(path)) == mark:
            haul.note(path, form, "unchanged")
            return
        name = "/".join(path.parts[-NAMED_PARTS:])
        at = format_time(datetime.fromtimestamp(state.st_mtime, UTC))
        report = CheckReport(path, name, at, commit, platform_of(name))
        READERS[form](report)
    except (OSError, Unreadable) as error:
        reason = str(error) if isinstance(error, Unreadable) else NO_FILE
        haul.note(path, form, "skipped", reason)
        haul.unread[reason] += 1
        return
    haul.marks[str(path)] = mark
    taken = [history.add(result) for result in report.results.values()]
    haul.unread.update(report.unread)
    if left_out := taken.count(False):
        haul.unread[MANY_FAILED] += left_out
    haul.counts["jobs" if form == "log" else "tests"] += report.counts.total()
    haul.counts.update({name: report.counts[name] for name in ("failed", "flaky", "skipped") if report.counts[name]})
    haul.note(path, form, "read", next(iter(report.unread), None))


def _learned(haul: Haul, history: CheckHistory, before: Queue) -> Iterator[Candidate]:
    """Yield the candidates of one import: what failed, what passed since, what comes and goes."""
    yield from history.flaky
    found = list(passes_of([*history.failed, *before.waiting()], history.passes))
    passed = {one.occasion.mark: one for one in found}
    flaky = {mark for mark, one in passed.items() if one.is_flaky}
    haul.is_gone = lambda one: bool(one.marks) and flaky.issuperset(one.marks) and "flaky" not in (one.failure or {})
    yield from (one for one in history.failed if one.evidence[0].mark not in passed)
    for one in found:
        if one.is_flaky:
            yield comes_and_goes(one.candidate, one.occasion, one.run)
        else:
            haul.counts["passes"] += 1
            commits = history.commits_between(one.before, one.run.commit)
            yield passed_since(one, *(fixing(one.occasion.failed or "", commits) or (None, ())))
