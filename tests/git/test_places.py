"""A folder has a git directory of its own, or git is not asked: an unpacked one can name that of another project."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import Memory, Unavailable
from graphmem.git import commands
from graphmem.git.places import worktrees
from tests.repository import Repository
from tests.sample import open_memory


@pytest.fixture
def secret(tmp_path: Path) -> Repository:
    """Another project of the same user, with a worktree and a submodule."""
    repository = Repository(tmp_path / "secret")
    (repository.folder / "plan.txt").write_text("the plan")
    repository.commit("fix the plan: TypeError: plan is not callable")
    repository("worktree", "add", "-q", str(tmp_path / "tree"))
    shutil.copytree(repository.folder / ".git", repository.folder / ".git/modules/part")
    return repository


def file(folder: Path, text: str) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_text(f"gitdir: {text}\n")


def link(folder: Path, name: str, target: str) -> None:
    path = folder / name
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(target)


def forged(folder: Path, common: str) -> None:
    """Make a git directory of a worktree, in the folder, that names the folder in turn."""
    file(folder, "meta/worktrees/x")
    (folder / "meta/worktrees/x").mkdir(parents=True)
    (folder / "meta/worktrees/x/commondir").write_text(common)
    (folder / "meta/worktrees/x/HEAD").write_text("ref: refs/heads/main\n")
    (folder / "meta/worktrees/x/gitdir").write_text(str(folder / ".git"))


def file_behind_link(folder: Path) -> None:
    file(folder, "../secret/.git")
    (folder / ".git").rename(folder / "other")
    (folder / ".git").symlink_to("other")


ATTACKS: dict[str, Callable[[Path], object]] = {
    "file": lambda folder: file(folder, "../secret/.git"),
    "absolute file": lambda folder: file(folder, str(folder.parent / "secret/.git")),
    "file behind a link": file_behind_link,
    "file of a worktree": lambda folder: file(folder, "../secret/.git/worktrees/tree"),
    "file of a submodule": lambda folder: file(folder, "../secret/.git/modules/part"),
    "forged worktree": lambda folder: forged(folder, str(folder.parent / "secret/.git")),
    "link": lambda folder: link(folder, ".git", "../secret/.git"),
    "common folder": lambda folder: (folder / ".git/commondir").write_text("../../secret/.git\n"),
    "linked objects": lambda folder: link(folder, ".git/objects", "../../secret/.git/objects"),
    "linked refs": lambda folder: link(folder, ".git/refs", "../../secret/.git/refs"),
    "linked packs": lambda folder: link(folder, ".git/packed-refs", "../../secret/.git/packed-refs"),
}  # fmt: skip


@pytest.mark.parametrize("below", ["", "sub"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_the_git_directory_of_another_project_is_not_asked(
    tmp_path: Path, secret: Repository, attack: str, below: str
) -> None:
    folder = Repository(tmp_path / "unpacked").folder
    with open_memory(folder / below):
        pass
    ATTACKS[attack](folder)
    assert worktrees(folder / below) == [folder / below]
    with pytest.raises(Unavailable, match="is of another project"):
        commands.git(folder / below, "log")
    with Memory(folder / below) as memory:
        with pytest.raises(Unavailable, match="is of another project"):
            memory.imports.git()
        memory.list()


@pytest.mark.parametrize("named", ["../secret", "../tree", "../nowhere"])
def test_a_worktree_is_one_where_it_names_the_repository_in_turn(
    tmp_path: Path, secret: Repository, named: str
) -> None:
    folder = Repository(tmp_path / "unpacked").folder
    (folder / ".git/worktrees/x").mkdir(parents=True)
    (folder / ".git/worktrees/x/commondir").write_text("../..\n")
    (folder / ".git/worktrees/x/gitdir").write_text(str(folder.parent / named[3:] / ".git"))
    assert worktrees(folder) == [folder]
    link(folder, ".git/worktrees", "../../secret/.git/worktrees")
    assert worktrees(folder) == [folder]
    config = (folder / ".git/config").read_text()
    (folder / ".git/config").write_text(f"{config}\tworktree = {folder.parent / named[3:]}\n")
    assert worktrees(folder) == [folder]
    with pytest.raises(Unavailable):
        commands.differing(folder, None, timeout_s=9)


def test_the_layouts_of_git_are_its_own(tmp_path: Path, secret: Repository) -> None:
    main, tree = secret.folder, tmp_path / "tree"
    (main / "sub").mkdir()
    assert worktrees(main) == [*worktrees(tree)[1:], tree] == [main, tree]
    assert worktrees(main / "sub") == [main / "sub", main, tree]
    secret("init", "-q", f"--separate-git-dir={tmp_path / 'kept'}", str(tmp_path / "apart"))
    secret("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(main), "part2")
    for folder in (main, tree, main / "sub", tmp_path / "apart", main / "part2"):
        assert commands.git(folder, "rev-parse", "--git-dir")
    assert worktrees(tmp_path / "apart") == [tmp_path / "apart"]
    assert worktrees(main / "part2") == [main / "part2"]
    secret("worktree", "move", str(tree), str(tmp_path / "moved"))
    assert worktrees(main) == [main, tmp_path / "moved"]
