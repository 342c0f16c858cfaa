"""
Every command on every hostile store, in a real clone of it.

What is checked of each run: nothing outside of the store has changed, no program ran that the branch named, it ended
within its bound with a status and a message of ours, and it printed no character that steers a terminal or hides.
"""

import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.doors.cli.verbs import VERBS
from tests.hostile.stores import ATTACKS
from tests.pace import within
from tests.repository import Repository
from tests.sample import open_memory

pytestmark = [pytest.mark.process, pytest.mark.long]
ROOT = Path(__file__).parents[2]
SEEDS = int(os.environ.get("GRAPHMEM_TEST_HOSTILE_SEEDS", "4"))  # stores that combine several attacks
MOST_S = 20.0  # of one command, on a machine that runs other tests too; usual is 0.05
PROGRAMS = ("sh", "bash", "less", "more", "pager", "vi", "vim", "nano", "editor", "ssh", "gpg", "curl", "wget", "open",
            "xdg-open", "python", "touch", "rm", "git-lfs")  # fmt: skip
COMMANDS = [
    "list", "list --json failure", "list --archived", "get mine", "get --json failure/mine", "query wrong",
    "query --json wrong", "context mine-went-wrong", "context --json wrong", "match -", "match --json -",
    "ran -- /bin/false", "related mine", "solutions mine", "path mine other", "stale", "similar work", "lesson inject",
    "experience", "session", "type list", "type show missing", "history mine", "why mine --query x",
    "dump --to html", "view --out ../page.html", "diff",
    "diff HEAD", "check",
    "export --check", "validate", "validate --json", "doctor", "doctor --json", "undo --list", "stats", "verify-loop",
    "trust", "extract list", "extract run mine", "extract run mine --dry-run", "extract python .",
    "campaign ready c", "campaign status c", "campaign replan-input c", "phase status", "inbox list", "event list",
    "work list", "work list --all", "work show w", "work next w --peek", "item list --work w", "item show i",
    "work verify HEAD", "snapshot list", "snapshot show s", "snapshot diff s t",
    "build show", "statusline",
    "task show c/001", "list --at HEAD",
    "textconv .graphmem/data/failure.ndjson", "experience insights", "promote failure/boom --to user",
    "adopt pattern/none",
    "config", "schema", "prune", "purge other",
    "reset", "scope list", "scope show mine", "list --scope mine", "query wrong --scope deep", "cypher --list",
    "embed status", "review",
    "graph push unix:///nowhere --project x", "cypher --projects all RETURN+1",
    "team init postgresql:///x?project=shop --sql",
    "team grant postgresql:///x?project=shop ana --sql", "team upgrade postgresql:///x?project=shop --sql",
    "team revoke postgresql:///x?project=shop ana --sql",
    "team grant redis://x?project=shop ana", "team revoke redis://x?project=shop ana",
    "type brief", "type rename thing other", "type drop thing",
    # from here on, what writes
    "add failure --trigger new-one --fix x", "add --ndjson -", "edit mine --tag t", "rename mine renamed",
    "rename renamed mine", "link mine causes other", "unlink mine causes other", "feedback mine --helped",
    "pin other", "unpin other", "forget other", "restore other", "supersede other mine", "lesson learn -",
    "lesson decay r1", "session task t", "session decide d", "task start c/001", "task block c/001 --reason x",
    "campaign propagate c", "phase to explore", "inbox add x", "event add review.verdict",
    "work start f objective", "work branch config x", "work next w", "work advance w c", "work abandon w --yes",
    "work finish w",
    "stage begin token", "stage run token", "stage end token", "stage retry w", "item add x --work w",
    "item action i", "item wont-fix i why", "item resolve i", "item reject i why",
    "campaign learn c",
    'build set {"workflow_step":"build"}', "build done explore", "build require build", "build require build --skip",
    "build change add a.py", "build change done a.py",
    "import sessions", "import notes", "import ci .", "build begin plan.json", "build resume", "explore start",
    "type add entity fresh", "type rename fresh fresher --yes", "type drop fresher --yes",
    "extract add python", "extract run python", "import rows.ndjson",
    "scope add fresh --read failure", "export", "resolve", "init",
    "undo", "trust --yes 0", "purge other --yes", "embed change none",
    # the graph is made once and then asked, for that takes longest; the shuffled command lines ask it earlier
    "split failure", "dump --to okf", "vacuum", "rebuild --no-embed", "doctor --fix --yes", "cypher --json RETURN+1",
    "cypher MATCH+(n)+RETURN+n+LIMIT+50",
    "cypher --named failure/steer", "cypher --scope mine MATCH+(n)+RETURN+n+LIMIT+9",
    "validate", "prime", "prime --json", "status", "ledger move ref --dry-run", "ledger move ref",
    "add failure --trigger x", "sync", "ledger move branch",
    "install claude-code", "uninstall claude-code", "export --to ../out",
]  # fmt: skip
NOT_OF_A_STORE = {"benchmark", "demo", "help", "hook", "mcp", "serve"}  # tests/doors/mcp, tests/doors/service
# Control characters but line end and tab, and characters of no width: joiners are allowed, which words need.
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)


# What brings files that git ignores; then git tracks all of them, and every write is refused.
FORCED = {"links_to_everywhere", "a_forged_catalog", "a_forged_state", "a_journal_that_is_a_folder"}

MAY_CHANGE = (
    "clone/.claude", "clone/.mcp.json", "clone/.graphmem", "clone/.git", "./out", "./page.html", "home/.cache",
    "home/.local", "home/.config",
)  # fmt: skip


def test_every_command_is_tried() -> None:
    assert {command.split()[0] for command in COMMANDS} == VERBS.keys() - NOT_OF_A_STORE


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a store that is well."""
    folder = tmp_path_factory.mktemp("stranger") / "project"
    folder.mkdir()
    with open_memory(folder) as memory:
        memory.failures.add("mine went wrong", name="mine", fix="x")
        memory.failures.add("the other one broke", name="other", fix="y")
        memory.patterns.add("it goes wrong", "do it right", name="right")
        memory.relations.link("right", "solves", "mine")
    (folder / "main.py").write_text("def f():\n    return 1\n")
    return folder


def cloned(stranger: Path, victim: Path, *attacks: str) -> Path:
    """Return a clone of the stranger's project after some attacks, among other things of the victim."""
    repository = Repository(victim.parent / "origin")
    shutil.copytree(stranger, repository.folder, dirs_exist_ok=True)
    if not FORCED.intersection(attacks):
        for name in ("local", "state"):
            shutil.rmtree(repository.folder / ".graphmem" / name)
            (repository.folder / ".graphmem" / name).mkdir()
    for name in attacks:
        try:
            ATTACKS[name](repository.folder)
        except (IsADirectoryError, NotADirectoryError, FileExistsError):
            assert attacks[1:]  # of several, one may stand in the place of what another one needs
    repository("add", "-A", *(["-f"] if FORCED.intersection(attacks) else []))
    repository.commit(f"a gift \x1b[31m {', '.join(attacks)}")
    for folder in ("sibling/.git", "home/.ssh", "bin"):
        (victim / folder).mkdir(parents=True)
    for name in ("secret", "sibling/precious", "home/.ssh/id"):
        (victim / name).write_text(f"hunter2 of {name}\n")
    for name in PROGRAMS:
        program = victim / "bin" / name
        program.write_text(f"#!/bin/sh\n: > '{victim}/PWNED'\n")
        program.chmod(0o755)
    subprocess.run(["git", "clone", "-q", str(repository.folder), str(victim / "clone")], check=True)
    return victim / "clone"


def snapshot(victim: Path) -> dict[str, Any]:
    """Return everything of the victim's but for the store, and what a program may keep in the user's folders."""
    found: dict[str, Any] = {}
    for top, folders, files in os.walk(victim):
        here = os.path.relpath(top, victim)
        folders[:] = [name for name in folders if os.path.join(here, name) not in MAY_CHANGE]
        for name in (*folders, *files):
            if os.path.join(here, name) in MAY_CHANGE:
                continue
            path = os.path.join(top, name)
            what = os.lstat(path)
            text = Path(path).read_bytes() if stat.S_ISREG(what.st_mode) else None
            found[os.path.join(here, name)] = (stat.S_IFMT(what.st_mode), what.st_mode & 0o777, text)
    found.pop("out", None)
    return found


class Runner:
    """A process in which the code of graphmem is loaded; a fork of it runs the command lines of each clone."""

    def __init__(self, errors: Path) -> None:
        self.errors = errors  # what was written past the streams of Python
        with errors.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(ROOT / "tests/hostile/runner.py"), "--forks"], start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, env={**os.environ, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip

    def ran(self, clone: Path, commands: list[str]) -> list[dict[str, Any]]:
        """Run command lines in the clone, in one process; return what each came to."""
        victim = clone.parent
        given = {
            "match": "error: mine went wrong\n" + "a" * 2_000 + "\n",
            "learn": "{}\n",
            "add": '{"kind":"failure"}\n',
        }
        lines = []
        for command in commands:
            words = [word.replace("+", " ") for word in command.split()]
            lines.append((words, given.get(words[0], "")))
        environment = {
            "HOME": str(victim / "home"), "PATH": f"{victim / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
            "GRAPHMEM_EMBEDDING_MODEL": "none", "GRAPHMEM_STORE_LOCK_TIMEOUT": "5",
        }  # fmt: skip
        found = self.answers(json.dumps([str(clone), environment, lines]), MOST_S * len(commands) / 4)
        ended = (
            f"{commands[min(len(found), len(commands) - 1)]} ended the process: {self.errors.read_bytes()[-2_000:]!r}"
        )
        assert len(found) == len(commands), ended
        return found

    def answers(self, batch: str, most_s: float) -> list[dict[str, Any]]:
        """Return the answers to a batch, fewer than command lines where the fork did not end by itself in its time."""
        assert self.process.stdin and self.process.stdout
        watch = threading.Timer(most_s, os.killpg, (self.process.pid, signal.SIGKILL))
        watch.start()
        try:
            self.process.stdin.write(batch.encode() + b"\n")
            self.process.stdin.flush()
            found = []
            while (line := self.process.stdout.readline()) not in (b"", b"\n"):
                found.append(json.loads(line))
            return found
        finally:
            watch.cancel()

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    made = Runner(tmp_path_factory.mktemp("runner") / "errors")
    yield made
    made.close()


def check(runner: Runner, clone: Path, commands: list[str]) -> None:
    """Run commands in a hostile clone and look at what came of it."""
    before = snapshot(clone.parent)
    faults = []
    for command, done in zip(commands, runner.ran(clone, commands), strict=True):
        printed = done["out"] + done["err"]
        if done["status"] not in range(6):
            faults.append((command, "status", done["status"]))
        for word in ("Traceback", "fault of graphmem", "hunter2"):
            if word in printed:
                faults.append((command, word, printed[-600:]))
        if raw := RAW.search(printed):
            faults.append((command, f"raw {raw[0]!r}", printed[max(0, raw.start() - 100) : raw.end() + 20]))
        if not within(done["seconds"], MOST_S):
            faults.append((command, "seconds", done["seconds"]))
        if done["status"] and command != "ran -- /bin/false" and not done["err"].strip() and not done["out"].strip():
            faults.append((command, "says nothing", done["status"]))
        for hint in re.findall(r"(?:hint|fix|mend)[^\n]{0,20}(?:graphmem|git) [^\n]{0,40}PWNED", printed):
            faults.append((command, "prints a command with a name that is none", hint))
    assert faults == [], "\n".join(map(str, faults[:8]))
    after = snapshot(clone.parent)
    assert [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)] == []


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_store_harms_nothing_and_ends_every_command_in_words(
    runner: Runner, stranger: Path, tmp_path: Path, name: str
) -> None:
    check(runner, cloned(stranger, tmp_path / "victim", name), COMMANDS)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.slow
def test_several_attacks_at_once_do_no_more(runner: Runner, stranger: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = ("a_file_in_the_place_of_the_store", "a_store_that_is_a_link", "files_in_the_place_of_folders")
    names = chance.sample(sorted(ATTACKS.keys() - set(whole)), 4)
    commands = COMMANDS[:]
    chance.shuffle(commands)
    check(runner, cloned(stranger, tmp_path / "victim", *names), commands)


def test_a_store_that_is_well_passes_the_same_commands(runner: Runner, stranger: Path, tmp_path: Path) -> None:
    """The oracle sees no fault where there is none, and the commands do what they are for."""
    clone = cloned(stranger, tmp_path / "victim")
    check(runner, clone, COMMANDS)
    with Memory(clone) as memory:
        assert "failure/mine" in {found.ref for found in memory.list().results}
