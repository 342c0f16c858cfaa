"""Check a branch: what it does to the memory and to the code that records cite, for people, a comment and programs."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import Memory, NotFound, Unavailable
from graphmem.doors.cli.app import run
from graphmem.features.upkeep.branch_check import MARKER, BranchChecked
from graphmem.kernel.git import commands
from tests.core.history.test_operations import HOSTILE, without_code
from tests.repository import Repository
from tests.sample import data, failure, open_memory, write
from tests.secret_samples import KINDS, Maker

CODE = "def login(user):\n    return user\n\n\ndef logout():\n    return 1\n"


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", "/nonexistent")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A project in a folder of a repository, with code that two records cite; a branch is checked out."""
    made = Repository(tmp_path / "repository")
    folder = made.folder / "project"
    folder.mkdir()
    (folder / "auth.py").write_text(CODE)
    (folder / "other.py").write_text("x = 1\n")
    Memory.init(folder)
    with open_memory(folder) as memory:
        memory.failures.add("Login loops", name="loop", fix="clear the cookie", cites=["auth.py:login"])
        memory.failures.add("Logout hangs", name="hang", cites=["auth.py:logout"])
        memory.failures.add("Other breaks", name="breaks", files=["other.py"])
        memory.failures.add("Other burns", name="burns", files=["other.py"])
        memory.patterns.add("Burning", "put it out", name="water")
        memory.relations.link("water", "solves", "burns")
    made.commit("main")
    made("checkout", "-q", "-b", "feature")
    return made


def folder_of(repository: Repository) -> Path:
    return repository.folder / "project"


def checked(repository: Repository, base: str | None = None) -> BranchChecked:
    with open_memory(folder_of(repository)) as memory:
        return memory.check(base=base)


@pytest.fixture
def graphmem(repository: Repository, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in the project; returns status, output, talk."""

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(["--dir", str(folder_of(repository)), *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


Graphmem = Callable[..., tuple[int, str, str]]


def change_login(repository: Repository) -> None:
    (folder_of(repository) / "auth.py").write_text(CODE.replace("return user", "return user or None"))


def test_records_that_a_branch_adds_changes_and_removes_are_listed(repository: Repository) -> None:
    with open_memory(folder_of(repository)) as memory:
        memory.failures.add("It hangs", name="new", fix="kick it")
        memory.edit("loop", {"fix": "delete the cookie"})
        memory.forget("breaks")
        memory.relations.unlink("water", "solves", "burns")
        memory.feedback("loop", helped=True)
    repository.commit("work")
    answer = checked(repository, "main")
    assert answer.added == ["failure/new"]
    assert answer.changed == ["failure/breaks", "failure/loop"]
    assert answer.removed == ["pattern/water -solves-> failure/burns"]
    assert (answer.ok, answer.base, answer.since) == (True, "main", repository("rev-parse", "main"))
    assert answer.summary == "+1 failure, ~1 failure, -1 solves link, +1 report, 1 archived"
    assert {change.kind for change in answer.changes} == {"failure", "relation"}


def test_what_others_merged_meanwhile_is_not_of_the_branch(repository: Repository) -> None:
    with open_memory(folder_of(repository)) as memory:
        memory.failures.add("It hangs", name="mine")
    repository.commit("mine")
    repository("checkout", "-q", "main")
    with open_memory(folder_of(repository)) as memory:
        memory.failures.add("It burns", name="theirs")
    repository.commit("theirs")
    repository("checkout", "-q", "feature")
    assert checked(repository, "main").added == ["failure/mine"]


def test_a_record_is_doubtful_whose_cited_code_the_branch_changes(repository: Repository) -> None:
    change_login(repository)
    with open_memory(folder_of(repository)) as memory:
        memory.patterns.add("Tokens", "sign them", name="sign", cites=["auth.py:login"])
    repository.commit("work")
    assert [(one.ref, one.cite.partition("#")[0], one.state) for one in checked(repository, "main").doubtful] == [
        ("failure/loop", "auth.py:login", "changed")
    ]
    change = CODE.replace("return user", "return user or 0").replace("logout", "sign_out")
    (folder_of(repository) / "auth.py").write_text(change)  # also what the branch itself cited; not committed
    found = [(one.ref, one.state) for one in checked(repository, "main").doubtful]
    assert found == [("failure/hang", "gone"), ("failure/loop", "changed"), ("pattern/sign", "changed")]


def test_what_was_stale_before_the_branch_is_not_of_it(repository: Repository) -> None:
    repository("checkout", "-q", "main")
    change_login(repository)
    repository.commit("change")
    repository("checkout", "-q", "-b", "later")
    (folder_of(repository) / "auth.py").write_text((folder_of(repository) / "auth.py").read_text() + "\n\ny = 2\n")
    repository.commit("touch")
    assert checked(repository, "main").doubtful == []


def test_failures_of_the_files_that_nothing_fixes_are_named(repository: Repository) -> None:
    (folder_of(repository) / "other.py").write_text("x = 2\n")
    (folder_of(repository) / "auth.py").write_text(CODE + "\n\nz = 1\n")
    repository.commit("work")
    found = {one.ref: one.files for one in checked(repository, "main").known_failures}
    assert found == {"failure/breaks": ["other.py"], "failure/hang": ["auth.py"]}


def test_a_credential_that_the_branch_brings_is_an_error_and_an_older_one_a_warning(
    repository: Repository, graphmem: Graphmem
) -> None:
    secrets = [KINDS["github classic"](Maker(seed))[1] for seed in (1, 2)]
    repository("checkout", "-q", "main")
    old = failure("old", f"push with {secrets[0]}")
    write(data(folder_of(repository), "failure"), old)
    repository.commit("old")
    repository("checkout", "-q", "-b", "later")
    write(data(folder_of(repository), "failure"), failure("more", "fine"), old)
    found = checked(repository, "main").findings
    assert [one.severity for one in found if one.code == "secret"] == ["warning"]
    assert graphmem("check", "--base", "main")[0] == 0
    assert graphmem("check", "--base", "main", "--strict")[0] == 1
    write(data(folder_of(repository), "failure"), failure("more", f"pull with {secrets[1]}"), old)
    answer = checked(repository, "main")
    assert sorted(found.severity for found in answer.findings if found.code == "secret") == ["error", "warning"]
    assert not answer.ok
    for form in ("text", "markdown", "json"):
        status, printed, _ = graphmem("check", "--base", "main", "--format", form)
        assert status == 1
        assert ("looks like it holds a secret" in printed, secrets[1] in printed) == (True, False), form


def test_a_file_that_is_not_valid_is_an_error(repository: Repository, graphmem: Graphmem) -> None:
    with data(folder_of(repository), "failure").open("ab") as file:
        file.write(b"<<<<<<< ours\n")
    status, printed, _ = graphmem("check")
    assert status == 1
    assert "\nerror: data/failure.ndjson:" in printed


@pytest.mark.long
def test_the_branch_is_told_in_lines_in_markdown_and_as_json(repository: Repository, graphmem: Graphmem) -> None:
    change_login(repository)
    with open_memory(folder_of(repository)) as memory:
        memory.failures.add("It hangs", name="new")
        memory.edit("loop", {"fix": "delete the cookie"})
    repository.commit("work")
    status, printed, said = graphmem("check")
    assert (status, said) == (0, "")
    since = repository("rev-parse", "main")[:10]
    assert printed == (
        f"since main ({since}): +1 failure, ~1 failure\n"
        "doubtful: failure/loop cites auth.py:login, which is changed\n"
        "not fixed yet: failure/hang, about auth.py\n"
        "changed: failure/loop  fix\n"
        "added: failure/new  It hangs\n"
    )
    assert graphmem("check", "--format", "markdown")[1] == (
        f"{MARKER}\n"
        "**Memory:** +1 failure, ~1 failure since `main`\n"
        "\n"
        "- doubtful: `failure/loop cites auth.py:login, which is changed`\n"
        "- not fixed yet: `failure/hang, about auth.py`\n"
        "- changed: `failure/loop fix`\n"
        "- added: `failure/new It hangs`\n"
    )
    for form in (("--json",), ("--format", "json")):
        assert json.loads(graphmem("check", *form)[1])["added"] == ["failure/new"]
    assert graphmem("check", "--strict")[0] == 1
    assert graphmem("check", "--json", "--format", "markdown")[0] == 2
    repository("checkout", "-q", "main")
    assert graphmem("check")[1] == f"since main ({since}): no change of the memory\n"
    assert graphmem("check", "--format", "markdown")[1] == f"{MARKER}\n**Memory:** no change since `main`\n"


def test_no_text_of_a_branch_is_markup_in_a_comment(repository: Repository, graphmem: Graphmem) -> None:
    rows = [failure(f"f{number}", f"x {text}") for number, text in enumerate(HOSTILE)]
    write(data(folder_of(repository), "failure"), *rows)
    repository("branch", "evil`@everyone`<b>", "main")
    status, printed, _ = graphmem("check", "--format", "markdown", "--base", "evil`@everyone`<b>")
    assert status == 0
    lines = printed.splitlines()
    assert lines[0] == MARKER
    for text in lines[1:]:
        assert re.fullmatch(r"|\*\*Memory:\*\* [\w ,+~-]+ since |- [a-z ]+: ", without_code(text)), text


def test_a_clone_compares_with_the_default_branch_of_its_remote(repository: Repository, tmp_path: Path) -> None:
    repository("clone", "-q", str(repository.folder), str(tmp_path / "clone"))
    assert commands.default_branch(tmp_path / "clone") == "origin/feature"  # what was checked out there
    repository("checkout", "-q", "main")
    repository("clone", "-q", str(repository.folder), str(tmp_path / "other"))
    with open_memory(tmp_path / "other/project") as memory:
        assert memory.check().base == "origin/main"
    repository("-C", str(tmp_path / "other"), "remote", "remove", "origin")
    assert commands.default_branch(tmp_path / "other") == "main"


def test_a_shallow_clone_without_the_base_says_what_to_fetch(repository: Repository, tmp_path: Path) -> None:
    for number in range(3):
        (folder_of(repository) / "more").write_text(str(number))
        repository.commit(f"more {number}")
    repository("checkout", "-q", "main")
    clone = tmp_path / "clone"
    repository("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(clone), "--branch", "feature")
    with open_memory(clone / "project") as memory:
        with pytest.raises(NotFound) as refused:
            memory.check()
        assert refused.value.hint is not None and "git fetch origin main" in refused.value.hint
        with pytest.raises(NotFound) as refused:
            memory.check(base="origin/main")
        assert refused.value.hint == "fetch it first, such as: git fetch origin main"
        repository("-C", str(clone), "fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main")
        with pytest.raises(NotFound) as refused:
            memory.check()
        assert refused.value.hint == "the clone is shallow: git fetch --unshallow"
        repository("-C", str(clone), "fetch", "-q", "--unshallow")
        assert memory.check().since == repository("rev-parse", "main")


def test_what_cannot_be_compared_is_refused_in_words(repository: Repository, tmp_path: Path) -> None:
    with open_memory(folder_of(repository)) as memory, pytest.raises(NotFound, match="nothing can be compared"):
        memory.check(base="nonsense")
    with open_memory(tmp_path / "bare") as memory, pytest.raises(Unavailable, match="in no git repository"):
        memory.check()


def test_a_failure_that_the_branch_adds_is_listed_once(repository: Repository) -> None:
    (folder_of(repository) / "other.py").write_text("x = 2\n")
    with open_memory(folder_of(repository)) as memory:
        memory.failures.add("Other leaks", name="leaks", files=["other.py"])
    answer = checked(repository, "main")
    assert answer.added == ["failure/leaks"]
    assert [one.ref for one in answer.known_failures] == ["failure/breaks"]
