"""The memory as it was: answers from a commit, the working tree untouched, nothing written, nothing embedded twice."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, NotFound, Refused, Unavailable, Usage
from graphmem.doors.cli.app import run
from graphmem.kernel.catalog.changes import ChangeApplier
from graphmem.kernel.embed.model import Embedder
from graphmem.kernel.model.entry import Batch
from tests.repository import Repository
from tests.sample import contents, data, failure, open_memory, write


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", "/nonexistent")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A store in a folder of a repository, with three commits: none of the memory, one failure, and it renamed."""
    made = Repository(tmp_path_factory.mktemp("prepared"))
    (made.folder / "README").write_text("x")
    made.commit("before the memory")
    with open_memory(made.folder / "project") as memory:
        memory.failures.add("It hangs", name="hang", cost=3)
        memory.patterns.add("It hangs", "Kill it", name="kill")
        memory.relations.link("pattern/kill", "solves", "failure/hang")
        made.commit("the failure")
        memory.edit("hang", {"fix": "restart"})
        memory.rename("hang", "freeze")
        memory.failures.add("It burns", name="burn")
        made.commit("renamed")
    return made


@pytest.fixture
def repository(prepared: Repository, tmp_path: Path) -> Repository:
    """A copy of the prepared repository, for one test."""
    return prepared.copied(tmp_path / "repository")


def past(repository: Repository, at: str, said: list[str] | None = None) -> Memory:
    return Memory(repository.folder / "project", at=at, on_message=(said if said is not None else []).append)


def test_every_reading_command_answers_from_the_commit(repository: Repository) -> None:
    said: list[str] = []
    with past(repository, "HEAD~1", said) as memory:
        assert memory.get("hang").record.model_dump()["fix"] is None
        assert [found.ref for found in memory.list().results] == ["failure/hang", "pattern/kill"]
        assert memory.query("hangs").results[0].ref == "failure/hang"
        assert [found.ref for found in memory.related("hang").results] == ["pattern/kill"]
        assert [found.ref for found in memory.solutions("hang").results] == ["pattern/kill"]
        assert memory.cypher("MATCH (f:Failure) RETURN f.name").rows == [["hang"]]
        assert memory.stats().records["failure"] == 1
        with pytest.raises(NotFound):
            memory.get("freeze")
    commit = repository("rev-parse", "HEAD~1")
    assert said == [f"as of commit {commit[:10]}, 2026-11-02T10:00:00.000Z: the failure"]


@pytest.mark.parametrize(
    ("date", "names"),
    [
        ("2026-11-03", ["hang"]),  # a day begins at midnight UTC
        ("2026-11-04", ["burn", "freeze"]),
        ("2026-11-03T10:00:00Z", ["hang"]),  # before it: not the commit of that very second
        ("2026-11-03T10:00:01", ["burn", "freeze"]),  # without a zone it is UTC
        ("2026-11-03T11:30+02:00", ["hang"]),
        ("2026-11-03 12:30+02:00", ["burn", "freeze"]),
    ],
)
def test_a_date_means_the_last_commit_before_it(repository: Repository, date: str, names: list[str]) -> None:
    with past(repository, date) as memory:
        assert [found.record.name for found in memory.list("failure").results] == names


def test_the_past_answers_as_a_checkout_of_the_commit_does(repository: Repository, tmp_path: Path) -> None:
    with past(repository, "HEAD~1") as memory:
        assert "as of commit" in memory.stale().notices[0]
        then = without_notices(memory)
    repository("worktree", "add", "-q", str(tmp_path / "checkout"), "HEAD~1")
    with Memory(tmp_path / "checkout" / "project") as memory:
        assert then == without_notices(memory)


def without_notices(memory: Memory) -> list[object]:
    """Return some answers but for what is said beside them: only the past says of which commit it is."""
    found = (memory.get("hang"), memory.related("kill"), memory.solutions("hang"))
    return [answer.model_copy(update={"notices": []}) for answer in found]


def test_neither_the_working_tree_nor_the_index_is_touched(repository: Repository) -> None:
    project = repository.folder / "project"
    write(data(project, "failure"), failure("uncommitted"))
    before, index = contents(project), (repository.folder / ".git" / "index").read_bytes()
    with past(repository, "HEAD~1") as memory:
        assert [found.ref for found in memory.list("failure").results] == ["failure/hang"]
    assert contents(project) == before
    assert (repository.folder / ".git" / "index").read_bytes() == index
    assert repository("status", "--short") == " M project/.graphmem/data/failure.ndjson"


def test_the_past_has_the_history_of_the_project(repository: Repository) -> None:
    with past(repository, "HEAD~1") as memory:
        assert [found.subject for found in memory.log("freeze").results] == ["renamed", "the failure"]
        assert memory.diff("HEAD~1..HEAD").summary == "+1 failure, 1 renamed"


def test_the_past_is_not_written(repository: Repository) -> None:
    with past(repository, "HEAD~1") as memory:
        for write_something in (
            lambda: memory.failures.add("new"),
            lambda: memory.edit("hang", {"fix": "x"}),
            lambda: memory.feedback("hang", helped=True),
            lambda: memory.types.add_entity("service"),
            memory.store.export,
        ):
            with pytest.raises(Refused, match=r"a past state .* cannot be written"):
                write_something()


@pytest.mark.parametrize(
    ("at", "error", "message"),
    [
        ("nothing", NotFound, "'nothing' is not a commit"),
        ("HEAD:README", NotFound, "'HEAD:README' is not a commit"),
        ("HEAD~2", NotFound, "holds no .graphmem here"),
        ("2026-10-01", NotFound, "there is no commit before 2026-10-01"),
        ("2026-11-31", Usage, "'2026-11-31' is not a date"),
        ("--all", Usage, "'--all' is not a commit"),
        ("--output=stolen", Usage, "'--output=stolen' is not a commit"),
        ("", NotFound, "'' is not a commit"),
        ("HEAD\0", Usage, "is not a commit"),
        ("HEAD@{99}", NotFound, "is not a commit"),
    ],
)
def test_what_names_no_commit_is_refused(repository: Repository, at: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        past(repository, at)
    assert not (repository.folder / "project" / "stolen").exists()


def test_a_project_without_git_and_a_machine_without_git_say_so(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = tmp_path / "alone"
    Memory.init(alone)
    with pytest.raises(Unavailable, match="is in no git repository"):
        Memory(alone, at="HEAD")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="git is not installed"):
        past(repository, "HEAD")


def test_a_repository_that_git_does_not_read_is_told_in_its_words(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(Unavailable, match="does not work here: fatal: detected dubious ownership"):
        past(repository, "HEAD")


def test_a_store_that_was_a_file_once_is_no_store(tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    (other.folder / ".graphmem").write_text("x")
    other.commit("a file")
    (other.folder / ".graphmem").unlink()
    with open_memory(other.folder) as memory:
        memory.failures.add("x", name="x")
    other.commit("a store")
    with pytest.raises(NotFound, match=r"holds no \.graphmem here"):
        Memory(other.folder, at="HEAD~1")
    with Memory(other.folder) as memory:
        assert memory.diff("HEAD~1..HEAD").summary == "+1 failure"


def test_a_date_before_a_shallow_clone_says_how_to_get_the_rest(repository: Repository, tmp_path: Path) -> None:
    repository("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(tmp_path / "clone"))
    with pytest.raises(NotFound) as caught:
        Memory(tmp_path / "clone" / "project", at="2026-11-03")
    assert caught.value.hint == "the clone is shallow: git fetch --unshallow"
    with Memory(tmp_path / "clone" / "project", at="HEAD") as memory:
        assert memory.stats().records["failure"] == 2


def test_a_hook_of_another_repository_does_not_lead_astray(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repository(tmp_path / "other")
    other.commit("elsewhere")
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    with past(repository, "HEAD") as memory:
        assert memory.stats().records["failure"] == 2


def test_a_crafted_tree_writes_only_below_the_store(repository: Repository, tmp_path: Path) -> None:
    """A link could lead a later file anywhere, and a name with two dots too."""

    def made(kind: str, *entries: str) -> str:
        text = "".join(f"{entry}\0" for entry in entries)
        return subprocess.run(
            ["git", kind, *(("-z", "--missing") if kind == "mktree" else ("-w", "--stdin"))],
            input=text if kind == "mktree" else entries[0], cwd=repository.folder, capture_output=True, text=True,
            check=True,
        ).stdout.strip()  # fmt: skip

    row = made("hash-object", failure("evil").decode())
    target = made("hash-object", str(tmp_path))
    above = raw_tree(repository, [(b"100644", b"stolen.ndjson", row)])
    for _ in range(4):
        above = raw_tree(repository, [(b"40000", b"..", above)])
    entries = [(b"40000", b"..", above), (b"100644", b"failure.ndjson", row), (b"120000", b"link.ndjson", target)]
    tree = raw_tree(repository, entries)
    store = made("mktree", f"040000 tree {tree}\tdata")
    root = made("mktree", f"040000 tree {store}\t.graphmem")
    project = made("mktree", f"040000 tree {root}\tproject")
    commit = repository("commit-tree", project, "-m", "crafted")
    with past(repository, commit) as memory:
        assert [found.ref for found in memory.list().results] == ["failure/evil"]
    (taken,) = (repository.folder / "project/.graphmem/local/at").iterdir()
    assert [path.name for path in (taken / ".graphmem" / "data").iterdir()] == ["failure.ndjson"]
    assert list(tmp_path.rglob("stolen.ndjson")) == []


def raw_tree(repository: Repository, entries: Sequence[tuple[bytes, bytes, str]]) -> str:
    """Write a tree that git itself would not make."""
    content = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(digest) for mode, name, digest in entries)
    done = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"], input=content, cwd=repository.folder,
        capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().strip()


def test_the_same_files_are_taken_out_once_and_only_the_latest_states_stay(repository: Repository) -> None:
    project = repository.folder / "project"
    for number in range(7):
        write(data(project, "failure"), failure(f"f{number}"))
        repository.commit(f"{number}")
    for back in range(7):
        with past(repository, f"HEAD~{back}") as memory:
            assert [found.ref for found in memory.list("failure").results] == [f"failure/f{6 - back}"]
    taken = project / ".graphmem" / "local" / "at"
    assert len(list(taken.iterdir())) == 5
    made = taken / repository("rev-parse", "HEAD~6:project/.graphmem") / ".graphmem" / "data"
    inode = made.stat().st_ino
    with past(repository, "HEAD~6"):
        assert made.stat().st_ino == inode


def test_a_vector_that_the_store_has_is_not_made_again(
    repository: Repository, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []
    real = type(embedder).encode_documents

    def count(self: Embedder, texts: Sequence[str]) -> Any:
        embedded.extend(texts)
        return real(self, texts)

    monkeypatch.setattr(type(embedder), "encode_documents", count)
    with open_memory(repository.folder / "project", embedder=embedder) as memory:
        memory.query("hangs")
    assert len(embedded) == 3
    embedded.clear()
    for _ in range(2):
        with past(repository, "HEAD~1") as memory:
            assert memory.store.client.present is not None
            memory.store.client.present.__dict__["model"] = embedder, []
            found = memory.query("It hangs")
            assert (found.search, found.results[0].ref) == ("semantic+lexical", "failure/hang")
            assert found.results[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert embedded == ["It hangs"]  # of then: today the failure has a fix, which is part of its text


def test_the_command_line_takes_at_where_it_reads(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository.folder / "project")
    assert run(["list", "failure", "--at", "2026-11-03"]) == 0
    out, err = capsys.readouterr()
    assert out == "failure/hang  It hangs\n"
    assert err.startswith("graphmem: as of commit ")
    assert run(["stats", "--at", "HEAD~1", "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["records"]["failure"], err) == (1, "")
    assert run(["verify-loop", "--at", "HEAD~1", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["stages"][0]["refs"] == ["failure/hang"]
    assert run(["add", "failure", "--trigger", "x", "--at", "HEAD"]) == 2
    assert "no such option: --at" in capsys.readouterr().err


def test_a_subject_cannot_steer_the_terminal(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit("\x1b[31mred \u202e")
    monkeypatch.chdir(repository.folder / "project")
    assert run(["list", "--at", "HEAD"]) == 0
    err = capsys.readouterr().err
    assert "\\x1b[31mred \\u202e" in err
    assert "\x1b" not in err


@pytest.mark.long
def test_a_past_that_begins_with_the_catalog_of_now_answers_as_if_it_were_read_from_its_files(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what was other then is read, so the first look at 100,000 records takes 2 seconds and not 22."""
    project = repository.folder / "project"
    with open_memory(project) as memory:
        memory.types.add_entity("part")
        memory.add_rows([failure(f"f{n}", f"broken thing number {n}", fix="screw") for n in range(30)])
        memory.entities.add("part", "screw")
        memory.relations.link("failure/f1", "causes", "failure/f2", note="then")
    repository.commit("then")
    with open_memory(project) as memory:
        memory.edit("f1", {"fix": "glue"})
        memory.rename("f2", "other")
        memory.forget("f3")
        memory.store.purge(["f4"], yes=True)
        memory.relations.unlink("failure/f1", "causes", "other")
        memory.feedback("f5", helped=True)
        memory.failures.add("a new thing broke", name="new")
        memory.query("broken")
    repository.commit("now")
    applied: list[int] = []
    take = ChangeApplier.take

    def counted(self: ChangeApplier, batch: Batch) -> None:
        applied.append(len(batch.entries))
        take(self, batch)

    monkeypatch.setattr(ChangeApplier, "take", counted)
    with past(repository, "HEAD~1") as memory:
        found = answers(memory)
        assert {found.code for found in memory.store.validate().findings} <= {"stale_schema"}
    assert sum(applied) < 15  # rows of some 40
    (state,) = (project / ".graphmem/local/at").iterdir()
    shutil.rmtree(state / ".graphmem/local")
    with past(repository, "HEAD~1") as memory:
        assert answers(memory) == found
    assert sum(applied) > 30


def answers(memory: Memory) -> list[str]:
    """Return what a store answers."""
    asked = [
        memory.list(), memory.get("f1"), memory.get("f3"), memory.related("f1"), memory.types.list(),
        memory.cypher("MATCH (n) RETURN n.ref, n.fix ORDER BY n.ref"),
    ]  # fmt: skip
    hits = [f"{hit.ref} {hit.relevance}" for hit in memory.query("thing number 7").results]
    return [answer.model_dump_json() for answer in asked] + hits
