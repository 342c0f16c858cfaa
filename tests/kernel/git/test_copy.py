"""A commit is written into a folder as a checkout would, and a crafted one writes nothing outside of it."""

import os
import subprocess
from pathlib import Path

import pytest

from graphmem.errors import Unavailable
from graphmem.kernel.git.copy import entries_of, write
from tests.repository import Repository

FILE, LINK, FOLDER = "100644", "120000", "40000"
Tree = list[tuple[str, str, "str | Tree"]]  # mode, name, and the content, the target or the entries


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def made(repository: Repository, sort: str, content: bytes) -> str:
    """Write an object as it is, whatever git thinks of it; return its hash."""
    call = ["git", "hash-object", "-t", sort, "-w", "--literally", "--stdin"]
    done = subprocess.run(call, cwd=repository.folder, input=content, capture_output=True, check=True)
    return done.stdout.decode().strip()


def tree(repository: Repository, entries: Tree) -> str:
    """Write a tree with these entries in this order; return its hash."""
    content = b""
    for mode, name, what in entries:
        found = tree(repository, what) if isinstance(what, list) else made(repository, "blob", what.encode())
        content += f"{mode} {name}\0".encode() + bytes.fromhex(found)
    return made(repository, "tree", content)


def snapshot(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the files and links below a folder, with what they hold and whether they can be run."""
    return {
        path.relative_to(folder).as_posix(): ("link", os.readlink(path))
        if path.is_symlink()
        else (path.read_text(), oct(path.stat().st_mode & 0o111))
        for path in folder.rglob("*")
        if (path.is_symlink() or path.is_file()) and ".git" not in path.relative_to(folder).parts
    }


def test_a_copy_of_a_commit_is_what_a_checkout_has(repository: Repository, tmp_path: Path) -> None:
    folder = repository.folder
    for name, text in {"a b.txt": "one", "src/ü/deep.py": "two\r\n", "run.sh": "#!/bin/sh\n", "empty": ""}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / "run.sh").chmod(0o755)
    (folder / "src/up").symlink_to("../a b.txt")
    (folder / "latest").symlink_to("src")
    (folder / "through").symlink_to("latest/up")
    (folder / "gone").symlink_to("nowhere")
    repository("add", "-A")
    commit = repository.commit("all of it")
    for where in (folder, folder / "src"):  # a project may lie below the top of its repository
        target = tmp_path / f"copy of {where.name}"
        target.mkdir()
        if where == folder:
            write(where, entries_of(where, commit), target)
            assert snapshot(target) == snapshot(where)
        else:
            kept = [entry for entry in entries_of(where, commit) if entry.path != "up"]
            write(where, kept, target)
            assert snapshot(target).keys() == {"ü/deep.py"}


CRAFTED: dict[str, Tree] = {
    "a link and a folder": [(LINK, "a", "{out}"), (FOLDER, "a", [(FILE, "x", "evil")])],
    "a folder and a link": [(FOLDER, "a", [(FILE, "x", "evil")]), (LINK, "a", "{out}")],
    "a file twice": [(FILE, "a", "one"), (FILE, "a", "two")],
    "a name that goes up": [(FILE, "../x", "evil")],
    "a folder that goes up": [(FOLDER, "..", [(FILE, "x", "evil")])],
    "an absolute name": [(FILE, "{out}/x", "evil")],
    "a folder of git": [(FOLDER, ".git", [(FILE, "config", "evil")])],
    "a folder of git elsewhere": [(FOLDER, "sub", [(FOLDER, ".GIT", [(FILE, "config", "evil")])])],
    "a name that is too long": [(FILE, "n" * 256, "evil")],
    "a path that is too long": [(FOLDER, "d" * 247, [(FOLDER, "d" * 247, [(FOLDER, "d" * 247, [
        (FOLDER, "d" * 247, [(FOLDER, "d" * 247, [(FILE, "x", "evil")])])])])])],
    "a link out": [(LINK, "a", "{out}")],
    "a link up": [(LINK, "a", "../out")],
    "a link up through a link": [
        (FOLDER, "p", [(FOLDER, "q", [(LINK, "r", "../..")])]), (LINK, "s", "p/q/r/../out")
    ],
    "a link through a link to a link": [(LINK, "a", "b/../../out"), (LINK, "b", "c"), (FOLDER, "c", [(FILE, "x", "")])],
    "a link whose target is too long": [(LINK, "a", "x/" * 2_000)],
    "an object that is not there": [(FILE, "a", "missing")],
}  # fmt: skip


def filled(entries: Tree, out: Path) -> Tree:
    return [
        (mode, name.format(out=out), filled(what, out) if isinstance(what, list) else what.format(out=out))
        for mode, name, what in entries
    ]


@pytest.mark.parametrize("crafted", CRAFTED)
def test_nothing_is_written_outside_of_a_copy(crafted: str, repository: Repository, tmp_path: Path) -> None:
    out, target = tmp_path / "out", tmp_path / "target"
    out.mkdir()
    target.mkdir()
    name = tree(repository, filled(CRAFTED[crafted], out))
    if crafted == "an object that is not there":
        gone = made(repository, "blob", b"missing")
        (repository.folder / ".git/objects" / gone[:2] / gone[2:]).unlink()
    with pytest.raises(Unavailable):
        write(repository.folder, entries_of(repository.folder, name), target)
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("repository", "target")] == ["out"]
    assert list(out.iterdir()) == []


def test_a_copy_has_a_bound(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.kernel.git.copy.GIT_BYTES", 100)
    name = tree(repository, [(FILE, f"f{number}", "ten bytes.") for number in range(11)])
    with pytest.raises(Unavailable, match="a copy would have 110 bytes; at most 100 are written"):
        write(repository.folder, entries_of(repository.folder, name), tmp_path)
