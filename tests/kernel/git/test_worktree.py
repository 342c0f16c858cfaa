"""Trees, commits and branches that graphmem writes, in real repositories, hostile ones too."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.errors import Conflict, Unavailable, Usage
from graphmem.kernel.git import worktree
from graphmem.kernel.git.worktree import Head
from graphmem.kernel.store.git_setup import drivers
from tests.repository import Repository

MANY = 10_000


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of a user with an empty configuration of git."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(place / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (place / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return place


@pytest.fixture
def made(home: Path, tmp_path: Path) -> Repository:
    """Return a repository with three files on its branch main, and a branch ``work`` that is checked out."""
    repository = Repository(tmp_path / "repository")
    write(repository, {"a.txt": "a\n", "b.txt": "b\n", "sub/c.txt": "c\n", ".gitignore": "*.log\n"})
    repository.commit("first")
    repository("switch", "-q", "-c", "work")
    return repository


def write(repository: Repository, files: dict[str, str]) -> None:
    """Write files of a repository."""
    for name, text in files.items():
        path = repository.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def taken(repository: Repository) -> str:
    """Return the tree of what is in the working tree."""
    return worktree.take_tree(repository.folder, repository.folder / ".git/scratch")


def differing(repository: Repository, before: str = "HEAD^{tree}") -> dict[str, str]:
    """Return what the working tree differs in from a tree, by path."""
    found = worktree.changes(repository.folder, repository("rev-parse", before), taken(repository))
    return {change.path: change.status for change in found}


def commit(repository: Repository, *paths: str, message: str = "work/a: forge 1\n", sign: bool = False) -> str:
    """Commit paths of the working tree on the branch ``work``."""
    scratch = repository.folder / ".git/scratch"
    parent = repository("rev-parse", "work")
    return worktree.commit_changes(
        repository.folder, branch="work", parent=parent, tree=taken(repository), paths=paths, message=message,
        scratch=scratch, sign=sign,
    )  # fmt: skip


# --- what is there ---------------------------------------------------------------------------------------------------


def test_the_head_is_a_branch_with_a_commit_or_detached_or_unborn(made: Repository, tmp_path: Path) -> None:
    first = made("rev-parse", "HEAD")
    assert worktree.head_of(made.folder / "sub") == Head("work", first)
    made("checkout", "-q", "--detach")
    assert worktree.head_of(made.folder) == Head(None, first)
    assert worktree.head_of(Repository(tmp_path / "unborn").folder) == Head("main", None)


def test_no_repository_and_a_bare_one_have_no_head(made: Repository, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(Unavailable, match="is in no git repository"):
        worktree.head_of(tmp_path / "none")
    made("config", "core.bare", "true")
    with pytest.raises(Unavailable, match="is bare"):
        worktree.head_of(made.folder)


def test_what_differs_from_head_in_the_index_or_the_working_tree_is_dirty(made: Repository) -> None:
    assert worktree.dirty(made.folder) == []
    (made.folder / "a.txt").touch()  # its time alone
    write(made, {"new.txt": "not tracked\n"})
    assert worktree.dirty(made.folder) == []
    write(made, {"b.txt": "changed\n"})
    made("add", "b.txt")
    write(made, {"b.txt": "b\n"})  # as in HEAD again, but the index is not
    (made.folder / "a.txt").chmod(0o755)
    (made.folder / "sub/c.txt").unlink()
    assert worktree.dirty(made.folder / "sub") == ["a.txt", "b.txt", "sub/c.txt"]


def test_a_branch_is_found_where_it_is_checked_out(made: Repository, tmp_path: Path) -> None:
    made("worktree", "add", "-q", str(tmp_path / "other"), "main")
    assert worktree.worktrees(made.folder) == {"work": made.folder, "main": tmp_path / "other"}


# --- trees -----------------------------------------------------------------------------------------------------------


def test_a_tree_has_what_is_tracked_or_new_and_leaves_the_index_as_it_was(made: Repository) -> None:
    write(made, {"new file.txt": "new\n", "a.txt": "changed\n", "x.log": "ignored\n", "tracked.log": "1\n"})
    made("add", "-f", "tracked.log")
    before = (made.folder / ".git/index").read_bytes(), made("status", "--porcelain")
    assert differing(made) == {"a.txt": "M", "new file.txt": "A", "tracked.log": "A"}
    assert ((made.folder / ".git/index").read_bytes(), made("status", "--porcelain")) == before
    assert not list((made.folder / ".git").glob("scratch*"))


def _rename(folder: Path) -> None:
    (folder / "a.txt").rename(folder / "z.txt")


def _link(folder: Path) -> None:
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to("/etc/passwd")


def _folder_for_file(folder: Path) -> None:
    (folder / "a.txt").unlink()
    (folder / "a.txt").mkdir()
    (folder / "a.txt/b").write_text("b")


def _file_for_folder(folder: Path) -> None:
    (folder / "sub/c.txt").unlink()
    (folder / "sub").rmdir()
    (folder / "sub").write_text("file")


def _link_for_folder(folder: Path) -> None:
    (folder / "sub").rename(folder / "moved")
    (folder / "sub").symlink_to("moved")


def _hidden_by_marks(folder: Path) -> None:
    for option, name in (("--assume-unchanged", "a.txt"), ("--skip-worktree", "b.txt")):
        subprocess.run(["git", "update-index", option, name], cwd=folder, check=True)
        (folder / name).write_text("changed behind the back of git\n")


def _hidden_by_times(folder: Path) -> None:
    path = folder / "a.txt"
    for name, value in (("core.checkStat", "minimal"), ("core.trustctime", "false")):
        subprocess.run(["git", "config", name, value], cwd=folder, check=True)
    at = path.stat()
    time.sleep(1.1)  # git compares whole seconds of the time of change
    path.write_text("x\n")
    os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))


SEEN: dict[Callable[[Path], object], dict[str, str]] = {
    _rename: {"a.txt": "D", "z.txt": "A"},
    lambda folder: (folder / "a.txt").unlink(): {"a.txt": "D"},
    lambda folder: (folder / "a.txt").chmod(0o755): {"a.txt": "M"},
    lambda folder: (folder / "-rf\n").write_text("x"): {"-rf\n": "A"},
    _link: {"a.txt": "T"},
    _folder_for_file: {"a.txt": "D", "a.txt/b": "A"},
    _file_for_folder: {"sub": "A", "sub/c.txt": "D"},
    _link_for_folder: {"sub": "A", "sub/c.txt": "D", "moved/c.txt": "A"},
    _hidden_by_marks: {"a.txt": "M", "b.txt": "M"},
    _hidden_by_times: {"a.txt": "M"},
}


@pytest.mark.parametrize("change", SEEN, ids=lambda change: change.__name__)
def test_each_way_to_change_a_file_is_seen_and_committed(made: Repository, change: Callable[[Path], object]) -> None:
    """A second that is not the current one: else git reads a file again because its time is as young as the index."""
    for path in made.folder.rglob("*.txt"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    made("status")
    change(made.folder)
    assert differing(made) == SEEN[change]
    tree = taken(made)
    commit(made, *SEEN[change])
    assert made("rev-parse", "work^{tree}") == tree
    assert made("status", "--porcelain") == ""
    assert worktree.dirty(made.folder) == []


def test_a_nested_repository_is_a_link_to_its_commit(made: Repository) -> None:
    inner = Repository(made.folder / "inner")
    first = inner.change("first", x="1")
    [change] = worktree.changes(made.folder, made("rev-parse", "HEAD"), taken(made))
    assert (change.path, change.status, change.new_mode, change.new) == ("inner", "A", "160000", first)
    commit(made, "inner")
    second = inner.change("second", x="2")
    [change] = worktree.changes(made.folder, made("rev-parse", "HEAD"), taken(made))
    assert (change.status, change.old, change.new) == ("M", first, second)
    assert worktree.dirty(made.folder) == ["inner"]


def test_a_nested_repository_without_a_commit_is_named(made: Repository) -> None:
    (Repository(made.folder / "sub/inner").folder / "x").write_text("x")
    with pytest.raises(Unavailable, match="'sub/inner' is a repository of its own without a commit"):
        taken(made)
    assert not list((made.folder / ".git").glob("scratch*"))


def test_the_working_tree_is_the_folder_that_has_the_git_directory(made: Repository, tmp_path: Path) -> None:
    """A configuration can name any folder: its files would be committed, and overwritten."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(made, {"new.txt": "new\n"})
    made("config", "core.worktree", str(elsewhere))
    with pytest.raises(Unavailable):  # git itself says that this folder is in no working tree
        taken(made)
    made("config", "core.worktree", str(tmp_path))
    tree = taken(made)
    assert {change.path for change in worktree.changes(made.folder, None, tree)} == {
        ".gitignore", "a.txt", "b.txt", "new.txt", "sub/c.txt",
    }  # fmt: skip


@pytest.mark.long
def test_ten_thousand_unchanged_files_are_not_read_again(made: Repository) -> None:
    made("config", "gc.auto", "0")
    for number in range(MANY):
        write(made, {f"many/{number % 100}/{number}.txt": f"{number}\n"})
    made.commit("many")
    name = made("rev-parse", "HEAD:many/2/2.txt")
    lost = made.folder / ".git/objects" / name[:2] / name[2:]
    lost.unlink()  # whoever reads that file writes it again
    write(made, {"many/1/new.txt": "new\n", "many/3/3.txt": "changed\n"})
    assert differing(made) == {"many/1/new.txt": "A", "many/3/3.txt": "M"}
    assert not lost.exists()


# --- commits ---------------------------------------------------------------------------------------------------------


def test_a_commit_has_only_the_paths_it_is_given(made: Repository) -> None:
    write(made, {"a.txt": "changed\n", "b.txt": "changed\n", "new.txt": "new\n"})
    made("add", "b.txt")
    found = commit(made, "a.txt", "new.txt")
    assert made("rev-parse", "work") == found == worktree.head_of(made.folder).commit
    assert made("show", "--format=%s/%an", "--name-status", found) == "work/a: forge 1/Ada\n\nM\ta.txt\nA\tnew.txt"
    assert made("status", "--porcelain") == "M  b.txt"


def test_a_branch_that_moved_meanwhile_stays_as_it_is(made: Repository) -> None:
    first, tree = made("rev-parse", "work"), made("rev-parse", "work^{tree}")
    moved = made.change("by another process", other="1")
    scratch = made.folder / ".git/scratch"
    with pytest.raises(Unavailable, match=f"'work' names {moved} by now, not {first}"):
        worktree.commit_changes(
            made.folder, branch="work", parent=first, tree=tree, paths=[], message="m", scratch=scratch
        )
    with pytest.raises(Unavailable, match=r"update-ref failed.*is at"):
        worktree.move_refs(made.folder, {"refs/heads/work": (first, first), "refs/heads/new": (first, None)})
    assert made("for-each-ref", "--format=%(refname:short) %(objectname)") == f"main {first}\nwork {moved}"


def test_a_locked_index_lets_nothing_be_committed(made: Repository) -> None:
    write(made, {"a.txt": "changed\n"})
    lock = made.folder / ".git/index.lock"
    lock.touch()
    first = made("rev-parse", "work")
    with pytest.raises(Unavailable, match=r"index\.lock"):
        commit(made, "a.txt")
    assert made("rev-parse", "work") == first
    lock.unlink()
    assert commit(made, "a.txt") == made("rev-parse", "work")


def test_who_has_no_name_commits_as_graphmem(made: Repository, home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    write(made, {"a.txt": "changed\n"})
    commit(made, "a.txt")
    assert made("log", "-1", "--format=%an %ae") == "graphmem graphmem@localhost"


# --- merges and branches ---------------------------------------------------------------------------------------------


def test_trees_merge_without_a_working_tree_or_name_what_conflicts(made: Repository) -> None:
    write(made, {"a.txt": "work\n", "b.txt": "work\n"})
    ours = commit(made, "a.txt", "b.txt")
    made("switch", "-q", "main")
    theirs = made.change("other", other="1")
    tree, conflicts = worktree.merge_trees(made.folder, ours, theirs, drivers())
    assert conflicts == []
    assert made("ls-tree", "--name-only", tree) == ".gitignore\na.txt\nb.txt\nother.py\nsub"
    write(made, {"a.txt": "main\n", "b.txt": "main\n"})
    theirs = made.commit("conflict")
    assert worktree.merge_trees(made.folder, ours, theirs, drivers())[1] == ["a.txt", "b.txt"]
    assert made("status", "--porcelain") == ""


def test_a_branch_is_made_once_switched_to_and_deleted(made: Repository) -> None:
    first = made("rev-parse", "HEAD")
    worktree.create_branch(made.folder, "more/a-b", first)
    with pytest.raises(Conflict, match="'more/a-b' is there already"):
        worktree.create_branch(made.folder, "more/a-b", first)
    for name in ("-b", "a..b", "a b", "", "a\0"):
        with pytest.raises(Usage, match="is not the name of a branch"):
            worktree.create_branch(made.folder, name, first)
        with pytest.raises(Usage, match="is not the name of a branch"):
            worktree.switch(made.folder, name)
    worktree.switch(made.folder, "more/a-b")
    assert worktree.head_of(made.folder) == Head("more/a-b", first)
    with pytest.raises(Unavailable, match="is checked out in"):
        worktree.delete_branch(made.folder, "more/a-b", first)
    worktree.switch(made.folder, "main")
    worktree.delete_branch(made.folder, "more/a-b", first)
    assert made("branch", "--format=%(refname:short)") == "main\nwork"


def test_a_switch_overwrites_nothing(made: Repository) -> None:
    write(made, {"x.log": "in the commit\n", "y.txt": "in the commit\n"})
    made("add", "-f", "x.log")
    made.commit("files")
    worktree.switch(made.folder, "main")
    for name in ("x.log", "y.txt"):  # ignored, and untracked
        write(made, {name: "mine\n"})
        with pytest.raises(Unavailable, match="would be overwritten"):
            worktree.switch(made.folder, "work")
        assert (made.folder / name).read_text() == "mine\n"
        (made.folder / name).unlink()
    write(made, {"a.txt": "mine\n"})
    with pytest.raises(Unavailable, match=r"'a\.txt' differs from HEAD"):
        worktree.switch(made.folder, "work")


# --- a hostile repository --------------------------------------------------------------------------------------------

HOSTILE = """
[core]
    fsmonitor = {run}
    hooksPath = {hooks}
    editor = {run}
    pager = {run}
    alternateRefsCommand = {run}
    sshCommand = {run}
[filter "a=b"]
    clean = {run}
    smudge = {run}
    required
[filter "evil"]
    process = {run}
[filter "users"]
    clean = {run}
    smudge = {run}
[merge "evil"]
    driver = {run}
[merge "graphmem"]
    driver = {run}
[diff]
    external = {run}
[diff "evil"]
    textconv = {run}
    command = {run}
[gpg]
    program = {run}
[gpg "openpgp"]
    program = {run}
[gpg "ssh"]
    program = {run}
    defaultKeyCommand = {run}
[commit]
    gpgSign = true
"""


@pytest.fixture
def hostile(made: Repository, tmp_path: Path, home: Path) -> Path:
    """Have all that git can be configured to run write a marker, and return the path of the marker."""
    marker, run, hooks = tmp_path / "ran", tmp_path / "evil.sh", tmp_path / "hooks"
    run.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\ncat\n')
    run.chmod(0o755)
    hooks.mkdir()
    for name in (
        *("reference-transaction", "post-checkout", "pre-commit", "commit-msg", "post-commit", "post-index-change"),
        *("post-merge", "pre-push", "post-rewrite"),
    ):
        for folder in (hooks, made.folder / ".git/hooks"):
            folder.mkdir(exist_ok=True)
            (folder / name).symlink_to(run)
    included = made.folder / ".git/included"
    included.write_text(HOSTILE.format(run=run, hooks=hooks))
    made("config", "include.path", str(included))
    attributes = (
        "a.txt filter=a=b diff=evil merge=evil",
        "b.txt filter=evil diff=evil",
        "sub/c.txt merge=graphmem",
        "sub/lfs.txt filter=users",
    )
    (made.folder / ".git/info").mkdir(exist_ok=True)
    (made.folder / ".git/info/attributes").write_text("".join(f"{line}\n" for line in attributes))
    with (home / ".gitconfig").open("a") as file:
        file.write('[filter "users"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n')
    return marker


def _everything(repository: Repository) -> None:
    """Do all that writes and compares."""
    folder = repository.folder
    write(repository, {"a.txt": "changed\n", "b.txt": "changed\n", "sub/c.txt": "abc\n", "sub/lfs.txt": "abc\n"})
    assert worktree.dirty(folder) == ["a.txt", "b.txt", "sub/c.txt"]
    first = worktree.head_of(folder).commit or ""
    ours = commit(repository, "a.txt", "b.txt", "sub/c.txt", "sub/lfs.txt")
    worktree.create_branch(folder, "other", first)
    worktree.switch(folder, "other")
    write(repository, {"a.txt": "other\n", "sub/c.txt": "x\n"})
    scratch = folder / ".git/scratch"
    theirs = worktree.commit_changes(
        folder, branch="other", parent=first, tree=worktree.take_tree(folder, scratch), paths=["a.txt"], message="m",
        scratch=scratch,
    )  # fmt: skip
    assert worktree.merge_trees(folder, ours, theirs, drivers())[1] == ["a.txt"]
    write(repository, {"sub/c.txt": "c\n"})
    worktree.dirty(folder)
    worktree.worktrees(folder)


def test_nothing_that_a_repository_configures_runs(made: Repository, hostile: Path) -> None:
    _everything(made)
    assert not hostile.exists(), hostile.read_text()


def test_a_filter_that_the_user_configures_runs(made: Repository, hostile: Path) -> None:
    """As those of git-lfs: what is committed is what they make of a file, also where the repository names another."""
    write(made, {"sub/lfs.txt": "abc\n"})
    commit(made, "sub/lfs.txt")
    assert subprocess.check_output(["git", "cat-file", "blob", "work:sub/lfs.txt"], cwd=made.folder) == b"ABC\n"
    (made.folder / ".git/included").unlink()
    worktree.switch(made.folder, "main")
    worktree.switch(made.folder, "work")
    assert (made.folder / "sub/lfs.txt").read_text() == "abc\n"


def test_the_hostile_repository_would_run_things(made: Repository, hostile: Path) -> None:
    """What the tests above are worth."""
    write(made, {"a.txt": "changed\n", "b.txt": "changed\n"})
    subprocess.run(["git", "add", "-A"], cwd=made.folder, check=False, capture_output=True)
    assert hostile.exists()


def test_no_status_of_a_nested_repository_is_asked(made: Repository, tmp_path: Path, home: Path) -> None:
    """Git would ask with the configuration of that one."""
    inner = Repository(made.folder / "inner")
    inner.change("first", x="1")
    commit(made, "inner")
    marker = tmp_path / "ran"
    run = tmp_path / "evil.sh"
    run.write_text(f"#!/bin/sh\ntouch {marker}\n")
    run.chmod(0o755)
    inner("config", "core.fsmonitor", str(run))
    (inner.folder / "x.py").write_text("changed")
    write(made, {"a.txt": "changed\n"})
    worktree.dirty(made.folder)
    commit(made, "a.txt")
    worktree.switch(made.folder, "main")
    worktree.switch(made.folder, "work")
    assert not marker.exists()


def test_a_replaced_object_is_not_taken_for_the_one_it_replaces(made: Repository) -> None:
    first = made("rev-parse", "HEAD:a.txt")
    write(made, {"a.txt": "something else\n"})
    made("replace", first, made("hash-object", "-w", "a.txt"))
    with worktree.objects(made.folder) as found:
        assert found.read(first) == b"a\n"


@pytest.mark.parametrize("name", ["HEAD", "--output=x", "main", ""])
def test_only_a_hash_names_what_is_compared(made: Repository, name: str) -> None:
    with pytest.raises(Unavailable, match="is not the hash of an object"):
        worktree.changes(made.folder, made("rev-parse", "HEAD"), name or "x")


def test_a_signature_is_made_by_the_program_of_the_user(
    made: Repository, hostile: Path, tmp_path: Path, home: Path
) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    with (home / ".gitconfig").open("a") as file:
        file.write(f"[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n")
    assert not worktree.does_sign(made.folder)  # the repository says so, the user does not
    with (home / ".gitconfig").open("a") as file:
        file.write("[commit]\n\tgpgSign = true\n")
    assert worktree.does_sign(made.folder)
    write(made, {"a.txt": "changed\n"})
    commit(made, "a.txt", sign=True)
    assert "gpgsig -----BEGIN SSH SIGNATURE-----" in made("cat-file", "commit", "work")
    assert not hostile.exists()


@pytest.mark.slow
def test_a_file_that_changes_within_the_second_of_the_index_is_seen(tmp_path: Path) -> None:
    """The copy of the index looked younger than the file, so that git did not read it."""
    repository = Repository(tmp_path / "project")
    file = repository.folder / "a.txt"
    for number in range(3):
        time.sleep(1.02 - time.time() % 1)  # what follows is within one second
        file.write_text(f"{number:04}\n")
        repository.commit("next")
        file.write_text(f"{number + 5000:04}\n")
        time.sleep(1)
        tree = worktree.take_tree(repository.folder, tmp_path / "index")
        changed = worktree.changes(repository.folder, repository("rev-parse", "HEAD"), tree)
        assert [one.path for one in changed] == ["a.txt"]
