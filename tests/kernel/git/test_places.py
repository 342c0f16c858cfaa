"""A folder has a git directory of its own, or git is not asked: an unpacked one can name that of another project."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import Memory, Unavailable
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import worktrees
from tests.repository import Repository
from tests.sample import open_memory

BLANK = "\N{NO-BREAK SPACE}"


@pytest.fixture
def secret(tmp_path: Path) -> Repository:
    """Another project of the same user, with a worktree and a submodule."""
    repository = Repository(tmp_path / "secret")
    (repository.folder / "plan.txt").write_text("the plan")
    repository.commit("fix the plan: TypeError: plan is not callable")
    repository("worktree", "add", "-q", str(tmp_path / "tree"))
    shutil.copytree(repository.folder / ".git", repository.folder / ".git/modules/part")
    repository("clone", "-q", "--bare", ".", "../bare.git")
    repository("init", "-q", "--separate-git-dir=../kept", "../apart")
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


def heads(folder: Path) -> str:
    return str(folder.parent / "secret/.git/refs/heads")


def borrowed(folder: Path, name: str, target: str) -> None:
    """Read the objects of the other project too, and link what names a commit of it."""
    (folder / ".git/objects/info/alternates").write_text(f"{folder.parent}/secret/.git/objects\n")
    link(folder, name, target)


def named(folder: Path) -> None:
    """Let a branch name any file in the git directory, which is a link."""
    borrowed(folder, ".git/hooks/x", f"{heads(folder)}/main")
    (folder / ".git/refs/heads/main").write_text("ref: hooks/x\n")


def of_another(folder: Path) -> None:
    """Name a git directory that names another folder in turn."""
    Repository(folder)("--git-dir=../kept", "config", "core.worktree", "../apart")
    file(folder, "../kept")


def blank_first(folder: Path) -> None:
    link(folder, " ", "../secret")
    file(folder, " /.git")


def blank_last(folder: Path) -> None:
    """Name a link whose name ends with a blank, of which there is a like without."""
    link(folder, f"x{BLANK}", "../secret/.git")
    file(folder, f"x{BLANK}")


def blank_common(folder: Path) -> None:
    link(folder, f".git/x{BLANK}", "../../secret/.git")
    link(folder, ".git/x", ".")
    (folder / ".git/commondir").write_text(f"x{BLANK}\n")


def linked_objects(folder: Path) -> None:
    """Link the folders with the objects of the other project, and its branch, but not what holds them."""
    secret = folder.parent / "secret/.git/objects"
    shutil.rmtree(folder / ".git/objects")
    (folder / ".git/objects").mkdir()
    for place in secret.iterdir():
        (folder / ".git/objects" / place.name).symlink_to(place)
    link(folder, ".git/refs/heads/main", heads(folder) + "/main")


def long(folder: Path) -> None:
    (folder / ".git/commondir").write_text(f"{'./' * 3_000}../../secret/.git")


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
    "linked branches": lambda folder: borrowed(folder, ".git/refs/heads", heads(folder)),
    "linked branch": lambda folder: borrowed(folder, ".git/refs/heads/main", f"{heads(folder)}/main"),
    "branch that names a file": named,
    "linked folder of objects": linked_objects,
    "bare repository": lambda folder: file(folder, "../bare.git"),
    "git directory that names no folder": lambda folder: file(folder, "../kept"),
    "git directory that names another folder": of_another,
    "name that begins with a blank": blank_first,
    "name that ends with a blank": blank_last,
    "name that a NUL ends": lambda folder: file(folder, "../secret/.git\0x"),
    "common folder that ends with a blank": blank_common,
    "long name of a common folder": long,
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
    secret("-C", "../apart", "config", "core.worktree", str(tmp_path / "apart"))
    secret("clone", "-q", "--reference=.", ".", "../borrowing")
    kept_by_repo = tmp_path / ".repo/projects/main.git"
    shutil.copytree(main / ".git", kept_by_repo)
    shutil.move(kept_by_repo / "objects", tmp_path / ".repo/objects")
    (kept_by_repo / "objects").symlink_to("../../objects")
    (tmp_path / "of_repo").mkdir()
    (tmp_path / "of_repo/.git").symlink_to("../.repo/projects/main.git")
    secret("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(main), "part2")
    for folder in (
        main,
        tree,
        main / "sub",
        main / "part2",
        *(tmp_path / one for one in ("apart", "borrowing", "of_repo")),
    ):
        assert commands.git(folder, "rev-parse", "--git-dir")
    assert worktrees(tmp_path / "apart") == [tmp_path / "apart"]
    assert worktrees(main / "part2") == [main / "part2"]
    secret("worktree", "move", str(tree), str(tmp_path / "moved"))
    assert worktrees(main) == [main, tmp_path / "moved"]
