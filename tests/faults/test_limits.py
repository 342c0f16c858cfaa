"""Commands in a process that may not have much: they end in words of ours, lose nothing, and the next one works."""

import contextlib
import errno
import fcntl
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from select import select
from typing import Any

import pytest

from graphmem.errors import Unavailable
from tests.faults import whole

pytestmark = [pytest.mark.process, pytest.mark.long]
RUNNER = Path(__file__).parents[1] / "hostile/runner.py"
IS_LONG = "GRAPHMEM_TEST_LIMITS" in os.environ  # each command line in a new process
MOST_S = 60.0  # of one command
NAME = "project"
KIB = 1024
READS = ("list --json", "get f7", "query error+5", "solutions f9", "validate", "doctor", "stats", "list --at HEAD")
WRITES = ("add failure --trigger a+new+error --name new", "edit f1 --fix another+fix", "purge f2 --yes", "undo",
          "session decide use+kuzu", "rebuild --no-embed")  # fmt: skip
ENGINE = ("cypher MATCH+(n)+RETURN+count(n)",)


def limit(which: int, most: int) -> Callable[[], None]:
    """Return what sets a limit in a new process."""
    return lambda: resource.setrlimit(which, (most, most))


def hide_new_files() -> None:
    """Make files that nobody may read, in a new process."""
    os.umask(0o777)


LIMITS: dict[str, Callable[[], None]] = {
    "12 descriptors": limit(resource.RLIMIT_NOFILE, 12),
    "20 descriptors": limit(resource.RLIMIT_NOFILE, 20),
    "40 descriptors": limit(resource.RLIMIT_NOFILE, 40),
    "files of 20 KiB": limit(resource.RLIMIT_FSIZE, 20 * KIB),
    "files of 100 KiB": limit(resource.RLIMIT_FSIZE, 100 * KIB),
    "files of 600 KiB": limit(resource.RLIMIT_FSIZE, 600 * KIB),
    "a stack of 256 KiB": limit(resource.RLIMIT_STACK, 256 * KIB),
    "70 MiB of memory": limit(resource.RLIMIT_AS, 70 * KIB * KIB),
    "no home": lambda: None,
    "no folder for temporary files": lambda: None,
    "a umask of 777": hide_new_files,
}
TYPICAL = {  # of each sort one; a run of all tests has the other ones
    "20 descriptors", "files of 20 KiB", "70 MiB of memory", "no home", "a umask of 777",
}  # fmt: skip
PLACES: dict[str, dict[str, str | None]] = {
    "no home": {"HOME": None, "XDG_STATE_HOME": None, "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None},
    "no folder for temporary files": {"TMPDIR": "/nowhere"},
}


@contextlib.contextmanager
def process(folder: Path, name: str) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Yield what runs command lines, one after the other, in a process of their own under a limit."""
    environment: dict[str, str | None] = {
        **os.environ, "GRAPHMEM_EMBEDDING_MODEL": "none", "PYTHONPATH": str(RUNNER.parents[2]), **PLACES.get(name, {}),
    }  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-P", str(RUNNER)], cwd=folder, preexec_fn=LIMITS[name],  # noqa: PLW1509 - it has one thread
        env={key: value for key, value in environment.items() if value is not None},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert child.stdin
        assert child.stdout
        given, answers = child.stdin, child.stdout

        def run(command: str) -> dict[str, Any]:
            words = [word.replace("+", " ") for word in command.split()]
            given.write(json.dumps([words, ""]).encode() + b"\n")
            given.flush()
            assert select([answers], [], [], MOST_S)[0], f"{command} has not ended"
            answer = answers.readline()
            assert answer, f"{command} ended its process: {child.wait()}"
            found: dict[str, Any] = json.loads(answer)
            return found

        try:
            yield run
        finally:
            given.close()
            child.kill()


def parts(commands: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Return the command lines by the process that they share: a second one finds all code loaded."""
    return [(command,) for command in commands] if IS_LONG else [commands]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("limits") / NAME
    whole.fill(folder)
    return folder


@pytest.mark.parametrize(
    "name", [name if name in TYPICAL else pytest.param(name, marks=pytest.mark.long) for name in LIMITS]
)
@pytest.mark.slow
def test_a_command_under_a_limit_ends_in_words_and_loses_nothing(project: Path, tmp_path: Path, name: str) -> None:
    fresh = shutil.copytree(project, tmp_path / "fresh")
    shutil.rmtree(fresh / ".graphmem/local")
    used = shutil.copytree(project, tmp_path / "used")
    for folder, groups in ((fresh, parts(READS[:3])), (used, parts((*READS, *ENGINE))), (used, parts(WRITES))):
        for commands in groups:
            with process(folder, name) as run:
                for command in commands:
                    before = whole.rows(folder)
                    done = run(command)
                    check(done["status"], done["err"], f"{command} in {folder.name}")
                    if command not in WRITES or done["status"]:
                        assert whole.rows(folder) == before, command
    for folder in (fresh, used):
        with whole.opened(folder) as memory:
            checked = memory.store.validate()
            assert checked.ok, checked.findings
            shown = whole.answers(memory)
            memory.failures.add("an error after that", name="after")
            assert whole.drafts(folder) == []
            memory.undo()
        assert whole.clean(folder) == shown


def check(status: int, err: str, what: str) -> None:
    """Check that a command was done, or says in words why not."""
    said = f"{what}: {status}: {err}"
    assert status in (0, 1, 3, 4, 5), said
    assert "Traceback" not in err, said
    assert "fault of graphmem" not in err, said
    if status > 1:
        assert "error: " in err or '{"error":' in err, said


def test_a_file_system_without_locks_is_said(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(project, tmp_path / NAME)

    def flock(handle: int, mode: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    with whole.opened(folder) as memory:
        memory.list()
        before = whole.rows(folder)
        with monkeypatch.context() as patch:
            patch.setattr(fcntl, "flock", flock)
            with pytest.raises(Unavailable, match=r"store\.lock' cannot be locked: no locks available") as error:
                memory.failures.add("a new error")
            assert error.value.hint
            assert "NFS" in error.value.hint
            assert memory.list("failure").total == 60
        assert whole.rows(folder) == before
        memory.failures.add("a new error")
