"""
Ran: what a run of a command teaches, without a model (docs/guides/running-tests.md).

A run that fails begins an episode of its command in a session; a run that passes ends it, also one of another command
that looks at all that the failing one looked at. What was shown in between and may have fixed a failure is then
reported as having helped, once an episode, if anything changed in between that could have fixed it. The log is read,
and episodes are changed under a lock of their own, while the lock of the store is not held.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from pydantic import Field

from graphmem.constants import OFFERED_ERRORS, SHOWN_FAILURES
from graphmem.core.evidence.citations import Unread, content_of
from graphmem.core.evidence.fixes import fixes
from graphmem.core.logs.check import CheckCommand, checks, settles
from graphmem.core.logs.command_line import parsed_line
from graphmem.core.logs.diagnosis import diagnose, statement
from graphmem.core.logs.draft import seen_in_run
from graphmem.core.logs.log_excerpt import kept_question
from graphmem.core.logs.tally import Tally, is_tested, no_pass
from graphmem.core.ran.causes import changed_files, is_changed, tree_of
from graphmem.core.ran.episodes import Episode, Episodes, is_recent, read
from graphmem.core.ran.scripts import script_of
from graphmem.core.records.candidates import for_agent, queue_of
from graphmem.core.records.candidates import keep as keep_candidates
from graphmem.core.records.credits import is_reported, write_credits
from graphmem.core.records.screening import unexposed
from graphmem.core.search.match_contract import Matched, MatchedLog, MatchRequest
from graphmem.core.search.query import same_problems
from graphmem.core.search.traversal import solving
from graphmem.core.search.two_stores import match
from graphmem.errors import Unavailable
from graphmem.kernel.answer import Answer
from graphmem.kernel.git import commands
from graphmem.kernel.machine.hook_sessions import Credit
from graphmem.kernel.model import Failure
from graphmem.kernel.model.field import format_time
from graphmem.kernel.parameters import SessionName, Texts
from graphmem.kernel.registry import operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.surroundings import current_folder
from graphmem.names import run_key
from graphmem.patterns import lazy_re


class RanRequest(Request):
    """A run of a command that ended, such as a test suite."""

    command: Texts = Field(description="The command with its arguments")
    status: int = Field(description="Exit status of the command")
    folder: Path | None = Field(None, description="Folder where the command was run; the current one if not given")
    session: SessionName = None
    task: str | None = Field(None, description="Task that reports of what helped are for")
    began: float | None = Field(None, description="Second since 1970 at which it began; what changed later is its own")
    name: str | None = Field(None, description="Name of the command; a pass counts for runs of this name")


class Ran(Answer):
    """
    What the memory has to say after a command ran.

    After a failing run ``log`` is what its output reports, and ``again`` are those failures whose fix had been shown
    in this session before. After a pass ``helped`` are the memories that a report was written for, ``unknown`` errors
    of the failing runs before that are not known yet, ``unfixed`` their known failures that no fix is known for.
    ``is_flaky`` says that it passes after it failed with nothing changed in between, so that nothing helped; ``flaky``
    are the known failures of those runs. ``no_pass`` says why it is no pass of what failed: fewer tests ran, or one
    that failed is gone or tests nothing.
    """

    status: int
    log: MatchedLog | None = None
    again: list[str] = []
    helped: list[str] = []
    unknown: list[str] = []
    unfixed: list[str] = []
    is_flaky: bool = False
    flaky: list[str] = []
    no_pass: str | None = None


@dataclass(frozen=True)
class SeenRun:
    """Who saw a run, what was run, and in which session."""

    source: str
    command: str = ""
    session: str | None = None


@dataclass(frozen=True)
class RunCommand:
    """What was run in a session: the key of its episode, a hash of the session, and how to find what it checks."""

    key: str
    session: str
    find: Callable[[], Sequence[CheckCommand]] = tuple

    @cached_property
    def checks(self) -> tuple[CheckCommand, ...]:
        """What it checks in the project; found where something failed only, for a hook asks at every tool."""
        return tuple(self.find())

    def settled(self, episodes: Episodes) -> dict[str, Episode]:
        """Return the episodes that a pass of it may end, by their keys, the latest last."""
        found = {key: one for key, one in episodes.items() if key == self.key or self.covers(one)}
        return dict(sorted(found.items(), key=lambda item: item[1].at))

    def covers(self, one: Episode) -> bool:
        """Return whether it looks at all that an episode's command looked at, or at the tests that failed there."""
        failed = [CheckCommand(*check) for check in one.checks if one.session == self.session]
        return bool(failed) and all(any(settles(mine, other, one.failed) for mine in self.checks) for other in failed)


@dataclass(frozen=True)
class Pass:
    """
    A run that passed.

    Attributes:
        task: which reports of what helped are for.
        began: second since 1970 at which it began, where that is known.
        acted: when the agent last did what may have fixed something, as far as its events say so.
        tally: what it says of its tests.
        untold: known failures that the agent was not told of yet, by reference by key.
        seen: who saw it: what failed before it is kept as a candidate.
    """

    task: str | None = None
    began: float | None = None
    acted: datetime | None = None
    tally: Tally = field(default_factory=Tally)
    untold: Sequence[str] = ()
    seen: SeenRun = SeenRun("ran")


MOST_TITLES = 5  # of tests that failed, that are looked for in the files of a project
HIDING = lazy_re(r"\|\||;|\n|(?<![&|>])[&|](?!&)")  # after one of these a status says nothing of what was before
Keep = Callable[[Credit], list[str]]  # keeps a credit, or writes it; returns what it counts for


@operation("ran", writes=True, positional=1, at_home=True, stream="log")
def ran(client: Client, log: Iterable[bytes], request: RanRequest) -> Ran:
    """Take the end of a run of a command, such as a test suite: what fails is matched, what passes after it counts."""
    status, now = request.status, client.now()
    folder = current_folder() / (request.folder or ".")
    line = shlex.join(request.command)
    command = run_command(client, request.command, line, folder=folder, session=request.session, name=request.name)
    tally = Tally()
    if status != 0:
        matched = match(client, tally.through(log), MatchRequest())
        matched = matched.model_copy(update={"candidates": for_agent(client, matched.candidates)})
        return failed(client, command, now, status, matched, tested(client, tally, folder))
    if not is_waiting(client, command):
        return Ran(status=status)
    tally.read_all(log)

    def write(credit: Credit) -> list[str]:
        with client.writing() as writing:
            return write_credits(writing, [credit])

    seen = SeenRun("ran", line, request.session)
    return passed(client, command, Pass(request.task, request.began, tally=tally, seen=seen), write)


def is_waiting(client: Client, command: RunCommand) -> bool:
    """Return whether a run failed that a pass of a command would settle."""
    return bool(command.settled(read(client.state, client.now())))


def failed(client: Client, command: RunCommand, now: datetime, status: int, log: MatchedLog, tests: Tally) -> Ran:
    """Begin an episode, or go on with it: keep what is shown, what is not known, and how the project is."""
    known = [hit for hit in log.results[:SHOWN_FAILURES] if _is_counted(hit)]
    counted = [hit for hit in known if hit.store == "project"]  # what is kept is in the folder of the project
    shown = {hit.record.key_ref: _remedies(hit) for hit in counted}
    lines = {hit.record.key_ref: kept_question(unexposed(client, "log", hit.text)) for hit in counted}
    unknown = unexposed(client, "log", [] if known else _offers(log, tests))
    key, before = command.key, Episode(id=client.new_id(), at=now)
    checks = tuple(CheckCommand(*unexposed(client, "command", [*check])) for check in command.checks)
    tree = tree_of(client.root)
    try:
        with client.state.changing() as state:
            found = state.read("ran", key, Episode.model_validate_json)
            before = found if found and is_recent(found, now) else before
            if shown or unknown or before is found:
                kept = list(dict.fromkeys([*before.unknown, *unknown]))[:OFFERED_ERRORS]
                made = Episode(
                    id=before.id,
                    at=now,
                    since=before.since or before.at,
                    shown={**before.shown, **shown},
                    lines={**before.lines, **lines},
                    unknown=kept,
                    tree=tree,
                    ran=max(before.ran, tests.ran or 0),
                    failed=tests.failed,
                    session=command.session,
                    checks=checks,
                )
                state.put("ran", key, made.model_dump_json().encode(), now)
    except Unavailable as error:  # what is known is shown all the same
        client.notify_once(f"a pass does not credit these fixes: {error}")
    again = [hit.ref for hit in log.results if hit.store == "project" and before.shown.get(hit.record.key_ref)]
    return Ran(status=status, log=log, again=again)


def _offers(log: MatchedLog, tests: Tally) -> list[str]:
    """Return the unknown errors of a failing run; the assertion that failed, where it has no other."""
    return log.unknown[:OFFERED_ERRORS] or [tests.asserted][: bool(tests.asserted)]


def tested(client: Client, tally: Tally, folder: Path) -> Tally:
    """
    Return what a run says of its tests, those that failed by their paths below the project, as far as they are.

    Of runners that do not say where a test is, it is known by its title, where a file of the project holds that.
    """
    root, found = client.root, list[str]()
    for name in tally.failed:
        file, _, test = name.partition("::")
        path = os.path.relpath(folder / file, root)
        if not path.startswith("..") and _file_of(root, path):
            found.append(f"{path}::{test}" if test else path)
    if not tally.failed:
        titles = dict.fromkeys(one.test for one in diagnose("\n".join(tally.last)).problems if one.test)
        found += [f"::{title}" for title in list(titles)[:MOST_TITLES] if _is_held(root, title)]
    return replace(tally, failed=found)


def _is_held(root: Path, title: str) -> bool | None:
    """Return whether a file of a project holds the title of a test; None where git does not say."""
    try:
        found = commands.files_with(root, title)
    except Unavailable:
        return None
    return any(not _is_kept(file) for file in found)


def _is_kept(file: str) -> bool:
    """Return whether a file keeps the titles of tests that are gone: a memory, or a snapshot of what tests printed."""
    return file.startswith(".graphmem/") or file.endswith(".snap")


def _file_of(root: Path, path: str) -> str | None:
    """Return the text of a file of tests; None where it is gone, some text where it cannot be read."""
    try:
        content = content_of(root, path)
    except Unread:
        return "..."
    return None if content is None else content.decode("utf-8", "replace")


def _is_gone(root: Path, test: str) -> bool:
    """Return whether a test that failed is not there any more, or tests nothing."""
    if test.startswith("::"):
        return _is_held(root, test[2:]) is False
    path, *_, name = [*test.split("::"), ""] if "::" not in test else test.split("::")
    if not (source := (_file_of(root, path) or "").strip()):
        return True
    return bool(name) and path.endswith(".py") and not is_tested(source, name.partition("[")[0])


def run_command(
    client: Client, words: Sequence[str], text: str, *, folder: Path, session: str | None, name: str | None
) -> RunCommand:
    """
    Return a command as its runs settle each other: by session, and a name, or the words and where they were run.

    Args:
        words: of the command; text: it as a line for a shell.
        folder: where it was run.
        name: of the command, where its runs have one: then only runs of this name are of it.
    """
    root, of_session = client.root, run_key(session)
    if name:
        return RunCommand(run_key(session, name), of_session)
    place = str(folder.relative_to(root)) if folder.is_relative_to(root) else str(folder)
    return RunCommand(run_key(session, place, *words), of_session, lambda: _checks_of(root, text, place))


def _checks_of(root: Path, text: str, place: str) -> list[CheckCommand]:
    """Return what a command line checks, run in a folder of the project; in the place of a script what that runs."""
    line = parsed_line(text)
    return [
        one
        for named in _checks_in(line.text, place, line.variables)
        for one in _checks_in(script_of(root, named) or "", named.folder, line.variables) or [named]
    ]


def _checks_in(text: str, place: str, variables: Sequence[str]) -> list[CheckCommand]:
    """Return the checks of a command line that is run in a folder of the project; none where a status may be hidden."""
    return [] if HIDING.search(text) else [_placed(check, place, variables) for check in checks(text)]


def _placed(check: CheckCommand, place: str, variables: Sequence[str]) -> CheckCommand:
    """Return a check that was run in a folder of the project with its paths below the project, and its variables."""
    targets = tuple(os.path.normpath(os.path.join(place, target)) for target in check.targets)
    folder = os.path.normpath(os.path.join(place, check.folder))
    return check._replace(targets=targets, folder=folder, options=(*check.options, *variables))


def _is_counted(hit: Matched) -> bool:
    """Return whether a pass says something about a failure: it was this one, and it does not come and go by itself."""
    return hit.verdict == "same" and isinstance(hit.record, Failure) and not hit.record.flaky


def _remedies(hit: Matched) -> list[str]:
    """Return what may fix a failure, as it was shown: itself where it says how, or the strongest pattern."""
    own = [hit.record.key_ref] if hit.fixes else []
    return (own + [found.record.key_ref for found in hit.solved_by])[:1]


def passed(client: Client, command: RunCommand, run: Pass, keep: Keep) -> Ran:
    """End the episodes that a pass settles: report what helped, and return what is left to be recorded."""
    found = command.settled(read(client.state, client.now()))
    least = {key: one.ran if key == command.key else len(one.failed) for key, one in found.items()}
    whys = {key: _not_passed(client, one, least[key], run.tally) for key, one in found.items()}
    if (why := whys.get(command.key)) or None not in whys.values():  # without any, another run passed meanwhile
        return Ran(status=0, no_pass=why)
    ended = {key: one for key, one in found.items() if whys[key] is None}
    *_, last = ended.values()
    if not _has_cause(client, last, run):  # of another command nothing is said: it may set up what this needs
        own = found.get(command.key)
        answer = flaky(client, own) if own else Ran(status=0)
        forget(client, {command.key: own} if own else {})
        return answer
    episode = _united([*ended.values()])
    failed = _without_help(client, episode)
    told = {ref: refs for ref, refs in episode.shown.items() if ref not in run.untold and ref not in failed}
    remedied = {ref: episode.lines.get(failure) for failure, refs in told.items() for ref in refs}
    about = unexposed(client, "report", run.task) or f"ran/{episode.id}"
    helped = keep(Credit(shown=remedied, task=about, since=episode.since or episode.at)) if remedied else []
    forget(client, ended)
    with client.reading(client.clues) as snapshot:
        unknown = [text for text in episode.unknown if not same_problems(snapshot.catalog, statement(text))]
        bare = snapshot.catalog.known([ref for ref, refs in episode.shown.items() if not refs]).values()
        solved = solving(snapshot.catalog, bare)
        unfixed = sorted(
            found.ref
            for number, found in snapshot.catalog.records(bare).items()
            if isinstance(found, Failure) and not (fixes(found) or found.is_archived or number in solved)
        )
    _offer(client, episode, run.seen, unknown)
    return Ran(status=0, helped=helped, unknown=unknown, unfixed=unfixed)


def forget(client: Client, ended: Episodes) -> None:
    """Forget episodes that were settled, unless they went on meanwhile; two passes at once say the same of them."""
    with contextlib.suppress(Unavailable), client.state.changing() as kept:
        found = kept.read_all("ran", Episode.model_validate_json, ended)
        kept.drop("ran", [key for key, one in ended.items() if found.get(key) == one])


def _not_passed(client: Client, episode: Episode, ran: int, tally: Tally) -> str | None:
    """Return why a pass says nothing of what failed in an episode: fewer tests than ``ran`` did, or one is gone."""
    gone = (f"{test} is gone or tests nothing" for test in episode.failed if _is_gone(client.root, test))
    return no_pass(ran, tally) or next(gone, None)


def _united(episodes: Sequence[Episode]) -> Episode:
    """Return several episodes that one pass ends as one: what was shown in each, and the project as it was last."""
    *_, last = episodes
    return last.model_copy(
        update={
            "since": min(one.since or one.at for one in episodes),
            "shown": {ref: refs for one in episodes for ref, refs in one.shown.items()},
            "lines": {ref: line for one in episodes for ref, line in one.lines.items()},
            "unknown": list(dict.fromkeys(text for one in episodes for text in one.unknown))[:OFFERED_ERRORS],
        }
    )


def _without_help(client: Client, episode: Episode) -> set[str]:
    """Return the failures that were reported not to be helped since they were shown: that counts for what was shown."""
    since = episode.since or episode.at
    with client.reading() as snapshot:
        known = snapshot.catalog.known(episode.shown).items()
        return {ref for ref, number in known if is_reported(snapshot.catalog, number, since)}


def _offer(client: Client, episode: Episode, seen: SeenRun, errors: Sequence[str]) -> None:
    """Keep the unknown errors of an episode as candidates: what only the agent knows of them is added in a review."""
    if not errors:
        return
    files = changed_files(client.root, episode.tree)
    passed, failed = format_time(client.now()), format_time(episode.at)
    found = [
        seen_in_run(
            text, seen.source, command=seen.command, session=seen.session, at=failed, passed=passed, files=files
        )
        for text in errors
    ]
    try:
        with queue_of(client).changing() as queue:
            keep_candidates(queue, found)
    except Unavailable as error:  # the answer has them all the same
        client.notify_once(f"the candidates are not kept: {error}")


def _has_cause(client: Client, episode: Episode, run: Pass) -> bool:
    """Return whether anything happened since the last failing run that may be why it passes."""
    is_acted = run.acted is not None and run.acted > episode.at
    return is_acted or is_changed(client.root, episode.tree, run.began)


def flaky(client: Client, episode: Episode) -> Ran:
    """Return what a pass says where nothing changed: its failures come and go, and nothing helped."""
    with client.reading() as snapshot:
        known = snapshot.catalog.refs(snapshot.catalog.known(episode.shown).values())
    return Ran(status=0, is_flaky=True, flaky=sorted(known.values()))
