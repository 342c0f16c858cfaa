"""The status line says what the commands say, fast and whatever the files hold; ``events --follow`` as a process."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from graphmem import GraphmemError, Memory
from graphmem.core.records.moves import ITEM_MOVES, PHASE_MOVES
from graphmem.doors.cli.app import run
from graphmem.doors.service import statusline
from graphmem.features.inbox.operations import ItemType
from graphmem.features.runs.contract import ChunkMove
from graphmem.features.work.phases import Phase
from graphmem.kernel.model import Campaign
from tests.doors.service.project import wait_until
from tests.pace import patience
from tests.repository import Repository
from tests.sample import data, line, open_memory, put_state, write

HERE = Path(__file__).parents[3]
ENVIRONMENT = {"PYTHONPATH": str(HERE), "GRAPHMEM_EMBEDDING_MODEL": "none", "GRAPHMEM_SERVICE": "off"}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy leaves out nothing."""
    monkeypatch.setattr(statusline, "LIMIT_S", 60.0)


def printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the status line of a project is, in this process."""
    assert statusline.main(["--dir", str(folder)]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    return found.out.rstrip("\n")


def process(folder: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run graphmem as a process."""
    return subprocess.run(
        [sys.executable, "-m", "graphmem", *words],
        cwd=folder, env={**os.environ, **ENVIRONMENT, **more}, capture_output=True, text=True, check=False,
    )  # fmt: skip


# --- the same as the commands -----------------------------------------------------------------------------------------


def said_by_commands(memory: Memory) -> str:
    """Return the status line as the commands know it."""
    active = [
        record
        for record in (hit.record for hit in memory.list("campaign").results)
        if isinstance(record, Campaign) and record.status == "active"
    ]
    parts = []
    newest = max(active, key=lambda one: (one.created_at, one.key or one.name), default=None)
    standing = memory.campaigns.status(newest.ref) if newest else None
    if newest and standing:
        parts.append(f"{newest.name} {standing.counts.get('complete', 0)}/{len(standing.tasks)}")
    if progress := memory.runs.show().chunk_progress:
        parts.append(f"chunk {progress.current} of {progress.total}")
    phase: str = memory.phases.status(campaign=newest.ref).phase if newest else "none"
    phase = memory.phases.status().phase if phase == "none" else phase
    parts += [] if phase == "none" else [phase]
    if standing and (blocked := standing.counts.get("blocked")):
        parts.append(f"{blocked} blocked")
    if items := memory.inbox.items().items:
        parts.append(f"{len(items)} in the inbox")
    return " · ".join(parts)


def step(memory: Memory, chance: random.Random, number: int) -> None:
    """Do one thing that the status line may show."""
    campaigns = memory.list("campaign").results
    campaign = chance.choice(campaigns).ref if campaigns else "none"
    tasks = [hit.ref for hit in memory.list("task").results]
    task = chance.choice(tasks) if tasks else "none"
    items = [one.id for one in memory.inbox.items().items]
    item = chance.choice(items) if items else "none"
    plan = [{"seq": seq, "slug": f"t{seq}", "objective": f"objective {number} {seq}"} for seq in (1, 2, 3)]
    chunk = chance.choice("ab")
    ways: list[Any] = [
        lambda: memory.campaigns.create(f"objective {number}", name=f"plan-{number}"),
        lambda: memory.campaigns.add_tasks(campaign, plan),
        lambda: memory.campaigns.complete(campaign, status="partial"),
        lambda: memory.rename(campaign, f"renamed-{number}"),
        lambda: memory.forget(campaign),
        lambda: memory.forget(task),
        lambda: memory.phases.move(chance.choice(get_args(Phase))),
        lambda: memory.phases.move(chance.choice(get_args(Phase)), campaign=campaign),
        lambda: memory.phases.reset(campaign=campaign),
        lambda: memory.runs.begin({"chunks": [{"id": "a"}, {"id": "b"}]}),
        memory.runs.end,
        lambda: memory.runs.set({"chunk_progress": chance.choice([None, {"current": 1, "total": number}])}),
        lambda: memory.inbox.dismiss(item),
        lambda: memory.inbox.finish(item, error="no"),
        *[lambda: memory.phases.move(chance.choice(get_args(Phase)), campaign=campaign)] * 3,
        *[lambda: memory.runs.chunk(chunk, chance.choice(get_args(ChunkMove)))] * 2,
        *[lambda: memory.inbox.add(f"item {number}", type=chance.choice(get_args(ItemType)))] * 2,
        memory.inbox.take,
        *[lambda: memory.tasks.start(task)] * 3,
        *[lambda: memory.tasks.block(task, "the disk is full")] * 2,
        *[lambda: memory.tasks.complete(task)] * 2,
        lambda: memory.tasks.reopen(task),
    ]
    with contextlib.suppress(GraphmemError):
        chance.choice(ways)()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
def test_the_line_is_what_the_commands_say(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    chance = random.Random(seed)
    lines = set()
    with open_memory(tmp_path) as memory:
        for number in range(120):
            step(memory, chance, number)
            line_now = printed(tmp_path, capsys)
            assert line_now == said_by_commands(memory), number
            lines.add(line_now)
    assert len(lines) > 10


def test_a_line_with_all_of_its_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(tmp_path) as memory:
        memory.campaigns.create("a login page", name="login")
        memory.campaigns.add_tasks("login", [{"seq": 1, "objective": "a form"}, {"seq": 2, "objective": "a route"}])
        memory.tasks.start("login/001")
        memory.tasks.complete("login/001")
        memory.tasks.start("login/002")
        memory.tasks.block("login/002", "no network")
        memory.phases.move("explore", campaign="login")
        memory.runs.set({"chunk_progress": {"current": 2, "total": 5}})
        memory.inbox.add("a dark mode")
    expected = "login 1/2 · chunk 2 of 5 · explore · 1 blocked · 1 in the inbox"
    assert printed(tmp_path, capsys) == expected
    below = tmp_path / "src/deep"
    below.mkdir(parents=True)
    assert process(below, "statusline").stdout == f"{expected}\n"
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    for words in (["statusline", "--dir", str(tmp_path)], ["--dir", str(tmp_path), "statusline"]):
        assert process(elsewhere, *words).stdout == f"{expected}\n"
    assert process(elsewhere, "statusline", GRAPHMEM_DIR=str(tmp_path)).stdout == f"{expected}\n"


def test_nothing_is_printed_for_a_scope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory(tmp_path) as memory:
        memory.campaigns.create("a login page", name="login")
    where = ["--dir", str(tmp_path)]
    for words in (["--scope", "clerk", *where], [*where, "--scope=clerk"]):
        assert (statusline.main(words), capsys.readouterr().out) == (0, "")
        assert (run(["statusline", *words]), capsys.readouterr().out) == (0, "")
    assert (statusline.main(where), capsys.readouterr().out) == (0, "login 0/0\n")
    monkeypatch.setenv("GRAPHMEM_SCOPE", "clerk")
    assert (statusline.main(where), capsys.readouterr().out) == (0, "")


def test_a_campaign_without_a_phase_shows_that_of_the_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_memory(tmp_path) as memory:
        memory.campaigns.create("a login page", name="login")
        memory.phases.move("explore")
        memory.phases.move("plan")
        memory.phases.move("explore", campaign="login")
        assert printed(tmp_path, capsys) == said_by_commands(memory) == "login 0/0 · explore"
        memory.phases.reset(campaign="login")
        assert printed(tmp_path, capsys) == said_by_commands(memory) == "login 0/0 · plan"


def test_the_line_knows_the_states_of_the_tables() -> None:
    assert set(PHASE_MOVES) == statusline.PHASES
    assert set(ITEM_MOVES) == statusline.ITEMS


# --- whatever is there ------------------------------------------------------------------------------------------------


def test_nothing_is_printed_where_there_is_no_project(tmp_path: Path) -> None:
    done = process(tmp_path, "statusline")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = process(tmp_path, "statusline", "--dir", str(tmp_path / "missing"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = process(tmp_path, "statusline", "--dir")
    assert (done.returncode, done.stderr) == (0, "")


STATE = "state/state.db"
ODD = [
    b"", b"\xff\xfe\x00", b"{", b"[]\n3\nnull\n", b"<<<<<<< ours\n", b"[" * 100_000, b'{"a":' * 100_000,
    b'{"id": [], "type": "inbox-added", "kind": "event"}\n',
    b'{"id": "x", "type": "inbox-added"}\n{"subject": {}, "type": "inbox-moved", "data": {"to": []}}\n',
    b'{"type": "phase-moved", "data": {"to": "\\u001b[31mred"}}\n{"type": "phase-moved", "subject": []}\n',
    b'{"kind": "campaign", "name": ["x"], "status": 3}\n{"kind": "campaign", "name": null}\n',
    b'{"status": "complete", "campaign": ["c"]}\n',
    b'{"chunk_progress": {"current": "x", "total": 2}}', b'{"chunk_progress": {"current": 1e999, "total": 2}}',
    b'{"chunk_progress": 3}',
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD[-3:])
def test_a_damaged_run_state_is_no_error(tmp_path: Path, odd: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(tmp_path) as memory:
        memory.inbox.add("a dark mode")
    put_state(tmp_path, "run", "", odd)
    assert printed(tmp_path, capsys) == "1 in the inbox"


@pytest.mark.parametrize("place", ["data/event.ndjson", "data/campaign.ndjson", "data/task.ndjson", STATE])
def test_damaged_files_are_no_error(tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(tmp_path) as memory:
        memory.campaigns.create("a login page", name="login")
        memory.runs.set({"chunk_progress": {"current": 2, "total": 5}})
        memory.inbox.add("a dark mode")
    path = tmp_path / ".graphmem" / place
    path.parent.mkdir(exist_ok=True)
    before = path.read_bytes() if path.exists() and place != STATE else b""
    for odd in ODD:
        path.write_bytes(before + odd)
        found = printed(tmp_path, capsys)
        assert "\x1b" not in found
        if place == STATE:
            assert found == "login 0/0 · 1 in the inbox"
        elif place != "data/campaign.ndjson" and odd not in ODD[8:9]:
            assert found == "login 0/0 · chunk 2 of 5 · 1 in the inbox"


def test_a_name_is_shown_without_what_a_terminal_obeys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_memory(tmp_path).close()
    write(data(tmp_path, "campaign"), line(kind="campaign", name="\x1b]0;x\x07\u202ered\nline\u3164", objective="x"))
    assert printed(tmp_path, capsys) == "\\x1b]0;x\\x07\\u202ered\\nline\\u3164 0/0"


def test_links_are_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(tmp_path / "other") as memory:
        memory.campaigns.create("a secret", name="secret")
        memory.runs.set({"chunk_progress": {"current": 2, "total": 5}})
    open_memory(tmp_path / "mine").close()
    mine, other = tmp_path / "mine/.graphmem", tmp_path / "other/.graphmem"
    (mine / "data").mkdir(exist_ok=True)
    for place in ("data/campaign.ndjson", STATE):
        (mine / place).unlink(missing_ok=True)
        (mine / place).symlink_to(other / place)
    (mine / "data/campaign").symlink_to(other / "data")
    assert printed(tmp_path / "mine", capsys) == ""
    for place in ("data", "state"):
        shutil.rmtree(mine / place)
        (mine / place).symlink_to(other / place)
    assert printed(tmp_path / "mine", capsys) == ""
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/.graphmem").symlink_to(other)
    assert printed(tmp_path / "linked", capsys) == ""


@pytest.mark.parametrize("kind", ["a pipe", "a folder"])
def test_what_is_no_file_does_not_hold_it_up(tmp_path: Path, kind: str) -> None:
    with open_memory(tmp_path) as memory:
        memory.inbox.add("a dark mode")
    for place in ("data/campaign.ndjson", STATE):
        path = tmp_path / ".graphmem" / place
        path.unlink(missing_ok=True)
        path.mkdir() if kind == "a folder" else os.mkfifo(path)
    done = subprocess.run(
        [sys.executable, "-m", "graphmem", "statusline"],
        cwd=tmp_path, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 in the inbox\n", "")


# --- how much it reads ------------------------------------------------------------------------------------------------


def many_events(folder: Path, number: int) -> None:
    """Write a file of events of 16 MB, which is a pack of some kB."""
    row = line(kind="event", id="e", at="2026-11-01T09:30:00.000Z", type="inbox-added", data={"content": "x" * 1000})
    path = folder / f".graphmem/data/event/{number}.ndjson"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((row + b"\n") * (16 * 2**20 // len(row)))


def test_it_reads_at_most_2_mb_and_prints_what_is_known_by_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory(tmp_path) as memory:
        memory.campaigns.create("a login page", name="login")
        memory.campaigns.add_tasks("login", [{"seq": 1, "objective": "begin"}])
        memory.tasks.start("login/001")
        memory.tasks.block("login/001", "it fails")
        memory.runs.set({"chunk_progress": {"current": 2, "total": 5}})
    for number in range(6):
        many_events(tmp_path, number)
    read = list[int]()
    content = statusline.StatusReader.content

    def counting(reader: statusline.StatusReader, path: str) -> bytes:
        found = content(reader, path)
        read.append(len(found))
        return found

    monkeypatch.setattr(statusline.StatusReader, "content", counting)
    assert printed(tmp_path, capsys) == "login 0/1 · chunk 2 of 5 · 1 blocked · …"
    assert 0 < sum(read) <= statusline.MOST_BYTES == 2 * 2**20
    (tmp_path / ".graphmem/data/event.ndjson").unlink()
    shutil.move(tmp_path / ".graphmem/data/event/0.ndjson", tmp_path / ".graphmem/data/campaign.ndjson")
    read.clear()
    assert printed(tmp_path, capsys) == "…"
    assert sum(read) == 0


def test_it_ends_when_its_time_is_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory(tmp_path) as memory:
        memory.inbox.add("a dark mode")
    monkeypatch.setattr(statusline, "LIMIT_S", -1.0)
    monkeypatch.setattr("builtins.open", None)  # no file is read
    assert printed(tmp_path, capsys) == "…"


# --- how fast ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a campaign of 200 tasks and 2,000 events."""
    folder = tmp_path_factory.mktemp("busy")
    with open_memory(folder) as memory:
        memory.campaigns.create("a login page", name="login")
        plan = [{"seq": seq, "slug": f"t{seq}", "objective": f"objective {seq}"} for seq in range(1, 201)]
        memory.campaigns.add_tasks("login", plan)
        rows = [
            {"at": "2026-11-01T09:30:00.000Z", "id": f"e{number}", "kind": "event", "type": "inbox-added"}
            for number in range(2_000)
        ]
        memory.add_rows([json.dumps({**row, "data": {"content": "x", "type": "feature"}}).encode() for row in rows])
    return folder


def test_it_imports_neither_models_nor_the_command_line(busy: Path) -> None:
    code = (
        "import sys; from graphmem.doors.service import statusline; statusline.LIMIT_S = 60.0;"
        "statusline.main([]); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=busy, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    first, modules = done.stdout.splitlines()
    assert first == "login 0/200 · 2000 in the inbox"
    heavy = {"pydantic", "pydantic_core", "typer", "numpy", "orjson", "sqlite3", "asyncio", "graphmem.kernel.model"}
    assert heavy.isdisjoint(modules.split())


def best_of(command: list[str], folder: Path) -> float:
    """Return the seconds of the fastest of some runs of a command."""
    times = []
    for _ in range(7):
        began = time.monotonic()
        subprocess.run(command, cwd=folder, env={**os.environ, **ENVIRONMENT}, check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - began)
    return min(times)


@pytest.mark.long
def test_it_takes_less_than_100_ms_with_the_start_of_python(busy: Path) -> None:
    bare = best_of([sys.executable, "-c", "pass"], busy)
    whole = best_of([sys.executable, "-m", "graphmem", "statusline"], busy)
    assert whole - bare < 0.07 * patience(), f"{whole:.3f} s, of which Python {bare:.3f} s"


# --- events --follow --------------------------------------------------------------------------------------------------


class Followed:
    """A process of ``events --follow``, and the lines that it printed."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-m", "graphmem", "event", "list", "--follow", *words],
            cwd=folder, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        assert self.child.stdout is not None
        for one in self.child.stdout:
            self.lines.append(one.rstrip("\n"))

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C; return the exit status and what was said on standard error."""
        self.child.send_signal(signal.SIGINT)
        self.reader.join()
        assert self.child.stderr is not None
        said = self.child.stderr.read()
        return self.child.wait(), said


@contextlib.contextmanager
def following(folder: Path, *words: str) -> Iterator[Followed]:
    """Yield a follower that has begun to look: it has printed an event that was added for that."""
    found = Followed(folder, *words)
    try:
        with open_memory(folder) as memory:

            def has_begun() -> bool:
                memory.store.client.new_id()
                assert process(folder, "event", "add", "probe.x").returncode == 0
                return bool(found.lines)

            wait_until(has_begun)
        yield found
    finally:
        if found.child.poll() is None:
            found.child.kill()
        found.reader.join()
        found.child.wait()
        for pipe in (found.child.stdout, found.child.stderr):
            assert pipe is not None
            pipe.close()


@pytest.mark.long
def test_a_follower_prints_what_another_process_does_until_it_is_interrupted(tmp_path: Path) -> None:
    open_memory(tmp_path).close()
    with following(tmp_path) as found:
        assert process(tmp_path, "inbox", "add", "a dark mode").returncode == 0
        wait_until(lambda: any("inbox-added" in one for one in found.lines))
        assert process(tmp_path, "phase", "to", "explore").returncode == 0
        wait_until(lambda: any("phase-moved  none to explore" in one for one in found.lines))
        assert process(tmp_path, "event", "add", "context-compacted").returncode == 0  # of this machine alone
        wait_until(lambda: any("context-compacted" in one for one in found.lines))
        assert found.interrupt() == (130, "error: interrupted\n")
        assert sum("inbox-added" in one for one in found.lines) == 1


@pytest.mark.long
def test_a_follower_prints_what_a_merge_brings(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "project")
    open_memory(repository.folder).close()
    assert process(repository.folder, "event", "add", "review.note").returncode == 0
    repository.commit("a store")
    repository("checkout", "-q", "-b", "side")
    assert process(repository.folder, "event", "add", "review.verdict", "--data", '{"findings": []}').returncode == 0
    repository.commit("a verdict")
    repository("checkout", "-q", "main")
    with following(repository.folder, "--type", "review.", "--type", "probe.", "--json") as found:
        repository.commit("probes")
        repository("merge", "-q", "-X", "ours", "side", "-m", "merged")
        wait_until(lambda: any("review.verdict" in one for one in found.lines))
        assert found.interrupt()[0] == 130
    rows = [json.loads(one) for one in found.lines]
    assert {"id", "at", "type", "cursor"} <= rows[-1].keys()
    assert not any(one["type"] == "review.note" for one in rows)
