"""Git is asked about a stranger's repository: nothing of it runs, and nothing is without bound."""

import ast
import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import Memory, Unavailable
from graphmem.errors import GraphmemError
from graphmem.kernel.git import commands
from graphmem.kernel.store.git_setup import drivers
from tests.repository import Repository
from tests.sample import data, failure, open_memory
from tests.source import MODULES, nodes

CITE = "gone.py:f#0123456789abcdef"
# By what runs a program: lines of a git configuration, and a call of plain git that runs it; None needs a terminal.
ATTACKS: dict[str, tuple[str, list[str] | None]] = {
    "fsmonitor": ('[core]\n\tfsmonitor = "{}"\n', ["status"]),
    "clean filter": ('[filter "x"]\n\tclean = "{}; cat"\n', ["diff", "HEAD"]),
    "process filter": ('[filter "x"]\n\tprocess = "{}; cat"\n', ["diff", "HEAD"]),
    "external diff": ('[diff]\n\texternal = "{}"\n', ["diff", "HEAD"]),
    "diff driver": ('[diff "x"]\n\tcommand = "{}"\n', ["diff", "HEAD"]),
    "converter": ('[diff "x"]\n\ttextconv = "{}; cat"\n', ["diff", "HEAD"]),
    "signature": ('[gpg]\n\tprogram = "{}"\n[log]\n\tshowSignature = true\n', ["log", "-1"]),
    "hooks": ("[core]\n\thooksPath = hooks\n", ["update-index", "--refresh", "--really-refresh"]),
    "pager": ('[core]\n\tpager = "{0}"\n[pager]\n\tlog = "{0}"\n\tdiff = "{0}"\n\tgrep = "{0}"\n', None),
    "alias": ('[alias]\n\tlog = "!{0}"\n\tdiff = "!{0}"\n\tcat-file = "!{0}"\n', None),
    "ssh": (
        '[core]\n\tsshCommand = "{0}"\n\tgitProxy = "{0}"\n\taskPass = "{0}"\n[credential]\n\thelper = "!{0}"\n'
        '[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ssh://nowhere/x\n\tpromisor = true\n'
        '\tuploadpack = "{0}"\n',
        ["cat-file", "-p", "0123456789012345678901234567890123456789"],
    ),
}
ASKS: dict[str, Callable[[Memory], object]] = {
    "get": lambda memory: memory.get("failure/imp"),
    "query": lambda memory: memory.query("import-error"),
    "context": lambda memory: memory.context("import-error"),
    "stale": lambda memory: memory.stale(),
    "log": lambda memory: memory.log("failure/imp"),
    "diff": lambda memory: memory.diff(),
    "diff of a commit": lambda memory: memory.diff("HEAD~1..HEAD"),
    "cite": lambda memory: memory.failures.add("cited", cites=["notes.txt@HEAD"]),
    "validate": lambda memory: memory.store.validate(),
    "doctor": lambda memory: memory.store.doctor(),
    "resolve": lambda memory: memory.store.resolve(),
    "prime": lambda memory: memory.prime(),
    "status": lambda memory: memory.status(),
    "init": lambda memory: Memory.init(memory.store.client.root),
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def project(folder: Path) -> Repository:
    """Make a repository with a store of two commits, whose record cites code that is gone, and a signed commit."""
    repository = Repository(folder)
    (folder / "notes.txt").write_text("f is here\n")
    (folder / ".gitattributes").write_text("*.txt filter=x diff=x\n")
    (folder / "hooks").mkdir()
    for hook in ("post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        (folder / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {folder.parent / 'canary'}\n")
        (folder / "hooks" / hook).chmod(0o755)
    open_memory(folder).close()
    repository.commit("one")
    data(folder, "failure").write_bytes(failure("imp", "import-error in f", cites=[CITE]))
    repository.commit("two")
    plain = repository("cat-file", "commit", "HEAD")
    head, _, message = plain.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n nothing\n -----END PGP SIGNATURE-----"
    (folder.parent / "signed").write_text(f"{head}\n{signature}\n\n{message}\n")
    repository("reset", "-q", repository("hash-object", "-t", "commit", "-w", str(folder.parent / "signed")))
    return repository


def script(canary: Path) -> Path:
    """Return a program that leaves a trace that it ran."""
    made = canary.with_name("run")
    made.write_text(f"#!/bin/sh\ntouch {canary}\n")
    made.chmod(0o755)
    return made


def asked(folder: Path, canary: Path) -> None:
    """Ask everything that asks git, of an open memory and at a commit; nothing ran."""
    with open_memory(folder) as memory:
        for name, ask in ASKS.items():
            os.utime(folder / "notes.txt")  # the index has to look at it again
            with contextlib.suppress(GraphmemError):  # a clear answer
                ask(memory)
            assert not canary.exists(), name
    with contextlib.suppress(GraphmemError), Memory(folder, at="HEAD") as past:
        past.list()
    assert not canary.exists(), "--at"


@pytest.mark.long
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_a_repository_configures_runs(tmp_path: Path, attack: str) -> None:
    """Of the user's own clone; filters are the user's there, as git-lfs is one."""
    repository, canary = project(tmp_path / "own"), tmp_path / "canary"
    lines, plain = ATTACKS[attack]
    with (repository.folder / ".git/config").open("a") as config:
        config.write(lines.format(script(canary)))
    os.utime(repository.folder / "notes.txt", (1, 1))
    if plain is not None:
        (repository.folder / "notes.txt").write_text("f is there\n")
        subprocess.run(["git", *plain], cwd=repository.folder, capture_output=True, check=False)
        assert canary.exists(), "the attack is none"
        canary.unlink()
    if not attack.endswith("filter"):
        asked(repository.folder, canary)


@pytest.mark.long
@pytest.mark.parametrize(
    ("python", "is_made_here"), [("{}", False), ("/bin/sh -c '{}' x", False), ("env A=1 {}", True), ("$({})", True)]
)
def test_no_python_runs_that_a_setting_of_our_drivers_names(tmp_path: Path, python: str, is_made_here: bool) -> None:
    """An unpacked folder has no ``.graphmem/local``, and settings of whoever packed it."""
    repository, canary = project(tmp_path / "own"), tmp_path / "canary"
    for name, value in drivers(python.format(script(canary))).items():
        repository("config", name, value)
    if not is_made_here:
        shutil.rmtree(repository.folder / ".graphmem/local")
    with Memory(repository.folder) as memory:
        memory.list()
    asked(repository.folder, canary)


@pytest.mark.parametrize("is_old", [False, True])
def test_a_git_directory_that_a_branch_brings_is_not_asked(
    tmp_path: Path, is_old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real clone; ``is_old`` is a git that does not know ``safe.bareRepository`` yet."""
    inner, canary = project(tmp_path / "inner").folder, tmp_path / "canary"
    outer = Repository(tmp_path / "outer")
    shutil.copytree(inner, outer.folder / "sub", ignore=shutil.ignore_patterns(".git", "state", "local"))
    for part in ("HEAD", "index", "objects", "refs"):
        take = shutil.copytree if (inner / ".git" / part).is_dir() else shutil.copy
        take(inner / ".git" / part, outer.folder / "sub" / part)
    everything = "".join(lines.format(script(canary)) for name, (lines, _) in ATTACKS.items() if name != "ssh")
    config = f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n{everything}"
    (outer.folder / "sub/config").write_text(config)
    outer.commit("a trap")
    subprocess.run(["git", "clone", "-q", outer.folder, tmp_path / "clone"], check=True)
    sub = tmp_path / "clone/sub"
    os.utime(sub / "notes.txt", (1, 1))
    subprocess.run(["git", "status"], cwd=sub, capture_output=True, check=False)
    assert canary.exists(), "the trap is none"
    canary.unlink()
    if is_old:
        monkeypatch.setattr(commands, "SETTINGS", commands.SETTINGS[1:])
    else:
        monkeypatch.setattr(commands, "refuse_foreign", lambda folder: None)
    asked(sub, canary)
    with pytest.raises(Unavailable):
        commands.git(sub, "status")
    assert not canary.exists()


def test_a_git_that_runs_too_long_or_prints_too_much_is_ended(tmp_path: Path) -> None:
    repository = project(tmp_path / "own")
    with pytest.raises(Unavailable, match="took longer than"):
        commands.git(repository.folder, "-c", "alias.wait=!sleep 9", "wait", timeout_s=0.2)
    with pytest.raises(Unavailable, match="printed more than 0 MiB"):
        commands.git(repository.folder, "cat-file", "-p", "HEAD", most=20)
    loud = "alias.loud=!head -c 300000 /dev/zero >&2; exit 3"
    with pytest.raises(Unavailable, match="does not work here"):
        commands.git(repository.folder, "-c", loud, "loud")


def test_a_hook_that_calls_graphmem_asks_the_repository_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, other = project(tmp_path / "own"), project(tmp_path / "other")
    for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(other.folder / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {tmp_path / 'canary'}")
    assert commands.output_of(repository.folder, "rev-parse", "--show-toplevel") == str(repository.folder)


def test_git_is_run_in_one_place() -> None:
    """Besides ``history_filter``, which is a program of its own for the user to run, without graphmem."""
    for file in MODULES:
        if file == "kernel/git/history_filter.py":
            continue
        for node in nodes(file):
            if isinstance(node, ast.List) and node.elts and isinstance(node.elts[0], ast.Constant):
                assert node.elts[0].value != "git" or file == "kernel/git/commands.py", f"{file}:{node.lineno}"
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("subprocess.", "os.system")):
                allowed = (
                    "doors/agents/plugin.py", "doors/agents/install.py", "kernel/git/commands.py",
                        "kernel/system/checks.py", "kernel/system/tee.py",
                    "kernel/system/editor.py",
                    "features/cypher/worker.py", "kernel/store/git_setup.py",
                )  # fmt: skip
                assert file in allowed, f"{file}:{node.lineno}"
