"""What git makes of a store: what it keeps out of commits, what it has and the disk lacks, other worktrees."""

import os
from pathlib import Path

import pytest

from graphmem import BadInput, Memory, Refused, Unavailable
from tests.repository import Repository
from tests.sample import data, failure, open_memory, write

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    """A repository with a branch ``old`` from before ``init``, and a committed memory of one failure."""
    git = Repository(tmp_path / "project")
    (git.folder / "a.txt").write_text("a\n")
    git.commit("first")
    git("branch", "old")
    with open_memory(git.folder) as memory:
        memory.failures.add("KeyError: x in cart", name="f1")
    git.commit("memory")
    return git


def codes(folder: Path) -> list[str]:
    with open_memory(folder) as memory:
        return [found.code for found in memory.store.doctor().findings if found.code != "missing_folder"]


# --- a branch from before init ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [["add", "-A"], ["stash", "-u"], ["clean", "-fdq"]])
def test_what_is_of_this_machine_gets_into_no_commit_of_a_branch_without_memory(
    project: Repository, loss: list[str]
) -> None:
    with open_memory(project.folder) as memory:
        memory.query("cart")
    kept = sorted(os.listdir(project.folder / ".graphmem/state"))
    project("checkout", "-q", "old")
    assert project("status", "--short") == ""
    project(*loss)
    project("commit", "-q", "--allow-empty", "-m", "of the old branch")
    project("checkout", "-q", "main")
    assert sorted(os.listdir(project.folder / ".graphmem/state")) == kept
    assert (project.folder / ".graphmem/local/catalog.sqlite").exists()


def test_a_store_of_an_older_version_hides_its_private_folders_at_the_next_command(project: Repository) -> None:
    hiding = [project.folder / ".graphmem" / name / ".gitignore" for name in ("local", "state")]
    for path in hiding:
        path.unlink()
    said: list[str] = []
    with open_memory(project.folder, said=said) as memory:
        memory.list()
    assert [path.read_text() for path in hiding] == ["*\n", "*\n"]
    assert said == [".graphmem/local and .graphmem/state can no longer get into a commit"]


def test_private_folders_that_are_put_aside_are_hidden_too(project: Repository) -> None:
    state = project.folder / ".graphmem/state"
    (state / "clone-id").write_text("0" * 32)
    (state / ".gitignore").unlink()
    with open_memory(project.folder) as memory:
        memory.list()
    project("checkout", "-q", "old")
    assert (project.folder / ".graphmem/state.aside.tmp").is_dir()
    assert project("status", "--short") == ""


def test_a_write_on_a_branch_without_memory_says_so(project: Repository) -> None:
    project("checkout", "-q", "old")
    with open_memory(project.folder) as memory:
        memory.list()
        added = memory.failures.add("ValueError: y in cart", name="f2")
    assert any("config.toml is missing" in notice for notice in added.notices)


# --- ignore rules and attributes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules", ["data/\n", "*.ndjson\n", "data\ntypes\n", "*.md\n*.json\n", "*.toml\n**/data/**\n", ".graphmem/*\n"]
)
def test_rules_about_names_that_a_store_has_do_not_keep_it_out(tmp_path: Path, rules: str) -> None:
    git = Repository(tmp_path / "project")
    (git.folder / ".gitignore").write_text(rules)
    with open_memory(git.folder) as memory:
        memory.types.add_entity("service")
        memory.entities.add("service", "s1")
        memory.failures.add("KeyError: x in cart", name="f1")
    git.commit("memory")
    kept = git("ls-files", ".graphmem").split("\n")
    assert {"data/failure.ndjson", "data/entities/service.ndjson", "types/entities/service.md", "config.toml",
            "schema.json", ".gitignore"} <= {path.removeprefix(".graphmem/") for path in kept}  # fmt: skip
    assert not [path for path in kept if "/local/" in path or "/state/" in path]


@pytest.mark.parametrize("rule", [".graphmem", ".*", ".graphmem/", "/.graphmem"])
def test_a_rule_about_the_whole_store_is_named_by_init_status_and_doctor(tmp_path: Path, rule: str) -> None:
    git = Repository(tmp_path / "project")
    (git.folder / ".gitignore").write_text(f"# mine\n{rule}\n")
    (found,) = Memory.init(git.folder).findings
    assert (found.code, found.severity) == ("kept_out", "warning")
    assert f"line 2 of .gitignore: {rule}" in found.message
    with open_memory(git.folder) as memory:
        assert memory.status().in_git == [found]
        assert found in memory.store.doctor().findings


def test_a_rule_of_the_user_in_the_store_counts_and_is_named(project: Repository) -> None:
    ignored = project.folder / ".graphmem/.gitignore"
    ignored.write_text(ignored.read_text() + "pattern.ndjson\n/data/decision.ndjson\n")
    assert codes(project.folder) == []
    with open_memory(project.folder) as memory:
        memory.patterns.add("when x", "do y")
    assert codes(project.folder) == ["kept_out"]


def test_a_rule_that_keeps_definitions_of_guarded_work_out_is_named(project: Repository) -> None:
    store = project.folder / ".graphmem"
    (store / ".gitignore").write_text((store / ".gitignore").read_text() + "/artefacts/\n")
    assert codes(project.folder) == []
    (store / "artefacts").mkdir()
    (store / "artefacts/code.md").write_text("---\nfiles: [a.txt]\n---\n")
    assert codes(project.folder) == ["kept_out"]


def test_the_lines_that_an_older_version_wrote_are_completed_and_its_users_kept(project: Repository) -> None:
    ignored = project.folder / ".graphmem/.gitignore"
    ignored.write_text("local/\nstate/\n*.tmp\nmine.txt\n")
    assert codes(project.folder) == ["missing_entry"]
    with open_memory(project.folder) as memory:
        memory.store.doctor(fix=True)
    lines = ignored.read_text().splitlines()
    assert lines[0] == "!*/" and lines[-4:] == ["local/", "state/", "*.tmp", "mine.txt"]
    assert codes(project.folder) == []


def test_filters_of_the_project_do_not_change_what_is_committed(project: Repository) -> None:
    (project.folder / ".gitattributes").write_text("*.ndjson filter=lfs merge=lfs diff=lfs -text\n")
    project("config", "filter.lfs.clean", "echo pointer; cat >/dev/null")
    with open_memory(project.folder) as memory:
        memory.failures.add("ValueError: y in cart", name="f2")
    project.commit("more")
    assert project("show", "HEAD:.graphmem/data/failure.ndjson").count("\n") == 1
    assert codes(project.folder) == []
    os.rename(project.folder / ".gitattributes", project.folder / ".git/info/attributes")
    assert codes(project.folder) == ["attributes"]


def test_a_pointer_of_lfs_is_named_as_such_and_not_written_over(project: Repository) -> None:
    path = data(project.folder, "failure")
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 120\n")
    with open_memory(project.folder) as memory:
        (found,) = memory.store.validate().findings
        assert (found.code, found.fix, found.line) == ("lfs_pointer", "git lfs pull", 1)
        with pytest.raises(BadInput, match="a pointer of Git LFS") as refused:
            memory.failures.add("ValueError: y in cart", name="f2")
        assert refused.value.hint == "git lfs pull"


# --- files that git has and the disk lacks ---------------------------------------------------------------------------


def test_a_sparse_checkout_without_the_memory_makes_no_empty_one(
    project: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.makedirs(project.folder / "src")
    (project.folder / "src/a.txt").write_text("a\n")
    project.commit("src")
    project("sparse-checkout", "set", "src")
    assert not (project.folder / ".graphmem/config.toml").exists()
    with pytest.raises(Refused, match="sparse checkout leaves it out") as refused:
        Memory.init(project.folder)
    assert "sparse-checkout add .graphmem" in (refused.value.hint or "")
    monkeypatch.chdir(project.folder / "src")
    with pytest.raises(Unavailable, match="sparse checkout leaves it out"):
        Memory().list()


def test_data_that_a_sparse_checkout_leaves_out_is_missed_and_not_written_over(project: Repository) -> None:
    project("sparse-checkout", "set", "--no-cone", "/*", "!/.graphmem/data/")
    with open_memory(project.folder) as memory:
        assert any("data/failure.ndjson" in notice for notice in memory.list().notices)
        (found,) = [one for one in memory.store.validate().findings if one.severity == "error"]
        assert (found.code, found.file) == ("not_on_disk", "data/failure.ndjson")
        with pytest.raises(Refused, match="a sparse checkout leaves it out"):
            memory.failures.add("ValueError: y in cart", name="f2")
        memory.patterns.add("when x", "do y")
    project("sparse-checkout", "disable")
    assert b"f1" in data(project.folder, "failure").read_bytes()


def test_a_data_file_that_was_removed_is_missed_until_git_knows(project: Repository) -> None:
    data(project.folder, "failure").unlink()
    assert codes(project.folder) == ["not_on_disk"]
    project("rm", "-q", "--cached", ".graphmem/data/failure.ndjson")
    assert codes(project.folder) == []


def test_files_that_graphmem_put_into_others_are_not_missed(project: Repository) -> None:
    with open_memory(project.folder) as memory:
        memory.types.add_entity("service")
        memory.entities.add("service", "s1")
    project.commit("service")
    with open_memory(project.folder) as memory:
        memory.store.split("failure", files=16)
        memory.store.split("service", files=16)
        memory.types.rename("service", "component", yes=True)
    assert codes(project.folder) == []


def test_a_removed_store_is_not_made_again_over_what_git_has(project: Repository) -> None:
    os.rename(project.folder / ".graphmem", project.folder.parent / "aside")
    with pytest.raises(Refused, match="not on the disk") as refused:
        Memory.init(project.folder)
    assert "checkout -- .graphmem" in (refused.value.hint or "")
    project("rm", "-rq", "--cached", ".graphmem")
    assert Memory.init(project.folder).created


@pytest.mark.parametrize("what", ["blob:none", "tree:0"])
def test_a_partial_clone_says_how_to_get_what_it_lacks(project: Repository, tmp_path: Path, what: str) -> None:
    with open_memory(project.folder) as memory:
        memory.edit("f1", {"fix": "x"})
    project.commit("more")
    project("config", "uploadpack.allowFilter", "true")
    part = tmp_path / "part"
    project("clone", "-q", f"--filter={what}", f"file://{project.folder}", str(part))
    with open_memory(part) as memory:
        for ask in (lambda: memory.log("f1"), lambda: memory.diff("HEAD~1"), lambda: open_past(part)):
            with pytest.raises(Unavailable) as error:
                ask()
            assert error.value.hint == "this clone is partial; to have all of it: git fetch --refetch --no-filter"
        project("-C", str(part), "fetch", "-q", "--refetch", "--no-filter")
        assert len(memory.log("f1").results) == 2
        open_past(part)


def open_past(folder: Path) -> None:
    with Memory(folder, at="HEAD~1") as past:
        past.list()


def test_copies_that_a_mergetool_left_are_named_and_removed(project: Repository) -> None:
    copies = [data(project.folder, f"failure_{what}_4711") for what in ("BASE", "LOCAL", "REMOTE", "BACKUP")]
    for copy in copies:
        write(copy, failure("f1"))
    assert codes(project.folder) == ["leftover"] * 4
    with open_memory(project.folder) as memory:
        memory.store.doctor(fix=True)
        assert [hit.ref for hit in memory.list().results] == ["failure/f1"]
    assert not any(copy.exists() for copy in copies)
    assert codes(project.folder) == []


# --- bare repositories, other worktrees ------------------------------------------------------------------------------


def test_no_store_is_made_around_the_worktrees_of_a_bare_repository(project: Repository, tmp_path: Path) -> None:
    place = tmp_path / "bare"
    project("clone", "-q", "--bare", ".", str(place / ".bare"))
    (place / ".git").write_text("gitdir: ./.bare\n")
    with pytest.raises(Refused, match="is bare"):
        Memory.init(place)
    assert not (place / ".graphmem").exists()
    Memory.init(place, nested=True)
    assert "no_working_tree" in codes(place)


def test_memory_of_another_worktree_that_is_not_committed_is_said(project: Repository, tmp_path: Path) -> None:
    others = [tmp_path / "w1", tmp_path / "w2", tmp_path / "w3"]
    for other, branch in zip(others, ("main", "old", "main"), strict=True):
        project("worktree", "add", "-q", "-b", other.name, str(other), branch)
    with open_memory(others[0]) as memory:
        memory.failures.add("ValueError: y in cart", name="f2")
        memory.patterns.add("when x", "do y")
    with open_memory(others[1]) as memory:  # its branch has no memory at all
        memory.failures.add("ValueError: z in cart", name="f3")
    with open_memory(project.folder) as memory:
        found = {one.message for one in memory.status().in_git if one.code == "uncommitted"}
        assert found == {
            f"the worktree '{others[0]}' has memory that is not committed: 2 files",
            f"the worktree '{others[1]}' has memory that is not committed: 1 file",
        }
        assert found == {one.message for one in memory.store.doctor().findings if one.code == "uncommitted"}
    with open_memory(others[2]) as memory:
        assert len([one for one in memory.status().in_git if one.code == "uncommitted"]) == 2
    data(project.folder, "failure").write_bytes(b"")
    with open_memory(others[2]) as memory:
        assert any(f"'{project.folder}' has" in one.message for one in memory.status().in_git)


def test_what_only_claims_to_be_a_worktree_is_not_read(project: Repository, tmp_path: Path) -> None:
    """What is in a git directory may have come out of an archive."""
    foreign = Repository(tmp_path / "foreign")
    with open_memory(foreign.folder) as memory:
        memory.failures.add("ValueError: y in cart", name="f2")
    linked = tmp_path / "linked"
    linked.symlink_to(foreign.folder)
    known = project.folder / ".git/worktrees"
    for name, place in (("a", foreign.folder), ("b", linked), ("c", Path("../foreign"))):
        (known / name).mkdir(parents=True)
        (known / name / "gitdir").write_text(f"{place}/.git\n")
    with open_memory(project.folder) as memory:
        assert memory.status().in_git == []


def test_a_folder_that_only_claims_to_be_a_worktree_of_a_repository_does_not_see_it(
    project: Repository, tmp_path: Path
) -> None:
    """A ``.git`` file of an archive can name the git directory of any repository."""
    other, claiming = tmp_path / "other", tmp_path / "claiming"
    project("worktree", "add", "-q", "-b", "other", str(other))
    data(project.folder, "failure").write_bytes(b"")
    with open_memory(other) as memory:
        assert len(memory.status().in_git) == 1
    claiming.mkdir()
    open_memory(claiming).close()
    (claiming / ".git").write_text((other / ".git").read_text())
    with open_memory(claiming) as memory:
        assert "uncommitted" not in [found.code for found in memory.status().in_git]


def test_links_in_another_worktree_are_not_followed(project: Repository, tmp_path: Path) -> None:
    other, mine = tmp_path / "other", tmp_path / "mine"
    project("worktree", "add", "-q", "-b", "other", str(other))
    mine.mkdir()
    write(data(mine, "failure"), failure("f2"))
    (other / ".graphmem/data").rename(tmp_path / "aside")
    (other / ".graphmem/data").symlink_to(mine / ".graphmem/data")
    with open_memory(project.folder) as memory:
        (found,) = memory.status().in_git
        assert "1 file" in found.message  # the one that is gone
    (other / ".graphmem").rename(tmp_path / "store")
    (other / ".graphmem").symlink_to(tmp_path / "store")
    with open_memory(project.folder) as memory:
        assert memory.status().in_git == []


def test_status_names_data_files_that_a_commit_of_all_changes_leaves_out(project: Repository, tmp_path: Path) -> None:
    with open_memory(project.folder) as memory:
        memory.patterns.add("Prices are stored", "Keep money as whole cents")
        (found,) = memory.status().in_git
        assert (found.code, found.message) == (
            "not_added",
            "`git commit -a` leaves out what is new: data/pattern.ndjson",
        )
        assert found.fix == "git add .graphmem"
        project("add", ".graphmem")
        assert memory.status().in_git == []
    Repository(tmp_path / "fresh")
    with open_memory(tmp_path / "fresh") as memory:
        memory.patterns.add("Prices are stored", "Keep money as whole cents")
        assert memory.status().in_git == [], "before the first commit all of it is new"
