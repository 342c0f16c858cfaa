"""What changed: in one record by commits, in the memory in words; for people, for a pull request, for programs."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from graphmem import Memory, NotFound, Unavailable, Usage
from graphmem.core.history.contract import Difference, History
from graphmem.doors.cli.app import run
from tests.repository import Repository
from tests.sample import contents, data, edge, failure, line, open_memory, pattern, write


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", "/nonexistent")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a store in a folder of it."""
    made = Repository(tmp_path / "repository")
    Memory.init(made.folder / "project")
    made.commit("init")
    return made


def project(repository: Repository) -> Path:
    return repository.folder / "project"


def failures(repository: Repository, *rows: bytes) -> None:
    write(data(project(repository), "failure"), *rows)


def log(repository: Repository, ref: str, limit: int | None = None) -> History:
    with Memory(project(repository)) as memory:
        return memory.log(ref, limit=limit)


def diff(repository: Repository, revisions: str | None = None) -> Difference:
    with Memory(project(repository)) as memory:
        return memory.diff(revisions)


def told(answer: History) -> list[tuple[str | None, str]]:
    """Return the subject of each commit with what it did."""
    return [(found.subject, f"{found.change.action} {found.change.ref}") for found in answer.results]


def fields(found: Difference) -> dict[str, dict[str, tuple[object, object]]]:
    """Return old and new of each changed field, by reference."""
    return {change.ref: {field.field: (field.old, field.new) for field in change.fields} for change in found.changes}


# --- log ------------------------------------------------------------------------------------------------------------


def test_log_tells_what_became_of_a_record_under_every_name_it_had(repository: Repository) -> None:
    with open_memory(project(repository)) as memory:
        memory.failures.add("It hangs", name="hang", cost=3, tags=["ci"])
        memory.failures.add("It burns", name="burn")
        repository.commit("one")
        memory.edit("hang", {"cost": 5}, tag=["linux"])
        repository.commit("two")
        memory.edit("burn", {"cost": 1})
        repository.commit("another record")
        memory.rename("hang", "freeze")
        repository.commit("three")
        memory.forget("freeze", "fixed upstream")
        repository.commit("four")
        memory.restore("freeze")
        answer = memory.log("freeze")
    assert answer.ref == "failure/freeze"
    assert told(answer) == [
        (None, "restored failure/freeze"),
        ("four", "archived failure/freeze"),
        ("three", "renamed failure/freeze"),
        ("two", "changed failure/hang"),
        ("one", "created failure/hang"),
    ]
    two = answer.results[3]
    assert [(field.field, field.old, field.new) for field in two.change.fields] == [
        ("cost", 3, 5),
        ("tags", ["ci"], ["ci", "linux"]),
    ]
    assert (two.author, two.at, len(two.commit or "")) == ("Ada", "2026-11-03T10:00:00.000Z", 40)
    assert [(field.field, field.new) for field in answer.results[1].change.fields] == [
        ("archive_reason", "fixed upstream")
    ]
    assert told(log(repository, "hang", limit=2)) == told(answer)[:2]
    assert log(repository, "freeze", limit=2).truncated
    assert not log(repository, "freeze", limit=5).truncated


def test_log_has_what_happened_to_a_record_too_but_for_who_sees_no_events(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory(project(repository)) as memory:
        memory.campaigns.create("ship it", name="ship")
        memory.campaigns.add_tasks("ship", [{"seq": 1, "slug": "build", "objective": "build it"}])
        memory.tasks.start("ship/001-build")
        memory.tasks.complete("ship/001-build", delivered="built")
        memory.store.scopes.add("tasks", read=["task"])
    assert [one.type for one in log(repository, "task/ship/001-build").events] == ["task-started", "task-completed"]
    with Memory(project(repository), scope="tasks") as narrow:
        assert narrow.log("task/ship/001-build").events == []
    monkeypatch.chdir(project(repository))
    assert run(["history", "task/ship/001-build"]) == 0
    shown = [text.split("  ")[1] for text in capsys.readouterr().out.splitlines() if "  task-" in text]
    assert shown == ["task-completed", "task-started"]


def test_a_record_that_is_gone_from_the_files_is_found_by_its_key(repository: Repository) -> None:
    failures(repository, failure("hang"))
    repository.commit("one")
    failures(repository)
    repository.commit("two")
    assert told(log(repository, "failure/hang")) == [("two", "removed failure/hang"), ("one", "created failure/hang")]
    with pytest.raises(NotFound, match="nothing is named 'failure/never'"):
        log(repository, "failure/never")
    with pytest.raises(NotFound, match="nothing is named 'hang'"):
        log(repository, "hang")


def test_a_merge_that_takes_a_row_from_one_side_changed_nothing_and_one_that_mixes_did(repository: Repository) -> None:
    failures(repository, failure("a"), failure("b"))
    repository.commit("base")
    repository("checkout", "-q", "-b", "side")
    failures(repository, failure("a", cost=2), failure("b"))
    repository.commit("on the side")
    repository("checkout", "-q", "main")
    failures(repository, failure("a"), failure("b", cost=1))
    repository.commit("on main")
    repository("merge", "-q", "--no-commit", "-s", "ours", "side")
    failures(repository, failure("a", cost=2), failure("b", cost=3))
    repository.commit("merged")
    assert told(log(repository, "failure/a")) == [("on the side", "changed failure/a"), ("base", "created failure/a")]
    assert [subject for subject, _ in told(log(repository, "failure/b"))] == ["merged", "on main", "base"]
    with Memory(project(repository)) as memory:
        (change,) = memory.log("failure/b", limit=1).results[0].change.fields
    assert (change.old, change.new) == (1, 3)  # against the first parent


def test_a_side_branch_whose_change_the_merge_threw_away_is_told_all_the_same(repository: Repository) -> None:
    failures(repository, failure("a"))
    repository.commit("base")
    repository("checkout", "-q", "-b", "side")
    failures(repository, failure("a", cost=2))
    repository.commit("on the side")
    repository("checkout", "-q", "main")
    repository.commit("on main")
    repository("merge", "-q", "-s", "ours", "-m", "merged", "side")
    assert [subject for subject, _ in told(log(repository, "failure/a"))] == ["on the side", "base"]


def test_a_row_that_moves_to_another_file_of_its_kind_did_not_change(repository: Repository) -> None:
    failures(repository, failure("a"))
    repository.commit("one")
    data(project(repository), "failure").unlink()
    write(data(project(repository), "failure/2026"), failure("a"))
    repository.commit("moved")
    assert told(log(repository, "failure/a")) == [("one", "created failure/a")]


def test_entities_have_a_history_too_and_odd_names_are_only_names(repository: Repository) -> None:
    with open_memory(project(repository)) as memory:
        memory.types.add_entity("service")
        for name in ("--all", "a/b ü", "x\"'$(touch y)"):
            memory.entities.add("service", name, value="1")
        repository.commit("one")
        for name in ("--all", "a/b ü", "x\"'$(touch y)"):
            memory.entities.add("service", name, value="2")
            assert told(memory.log(f"service/{name}")) == [
                (None, f"changed service/{name}"),
                ("one", f"created service/{name}"),
            ]


def test_runs_and_lessons_have_a_history_too(repository: Repository) -> None:
    with Memory(project(repository)) as memory:
        memory.lessons.learn([b'{"type":"review.verdict","findings":[{"description":"no tests","severity":"bug"}]}'],
                             run="failure/r1")  # fmt: skip
    repository.commit("learn")
    assert told(log(repository, "run/failure/r1")) == [("learn", "created run/failure/r1")]
    assert told(log(repository, "lesson/no-tests")) == [("learn", "created lesson/no-tests")]
    with Memory(project(repository)) as memory:
        memory.lessons.decay("r2")
        memory.lessons.add("wait for it", type="preference")
    assert diff(repository).summary == "+1 lesson, +1 run"


def test_a_row_in_another_writers_spelling_is_the_same_row(repository: Repository) -> None:
    failures(repository, b'{"kind": "failure", "name": "\\u0061", "trigger": "t", '
                         b'"created_at": "2026-11-01T09:30:00.000Z"}\r\n')  # fmt: skip
    repository.commit("by hand")
    failures(repository, failure("a", "t"))
    repository.commit("canonical")
    assert told(log(repository, "failure/a")) == [("by hand", "created failure/a")]
    assert diff(repository, "HEAD~1").changes == []


def test_a_shallow_clone_says_that_its_history_is_cut(repository: Repository, tmp_path: Path) -> None:
    failures(repository, failure("a"))
    repository.commit("one")
    failures(repository, failure("a", cost=1))
    repository.commit("two")
    repository("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(tmp_path / "clone"))
    with Memory(tmp_path / "clone" / "project") as memory:
        answer = memory.log("a")
    assert (answer.shallow, len(answer.results)) == (True, 1)
    assert not log(repository, "a").shallow


def test_without_git_or_a_repository_there_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("x", name="x")
        for ask in (lambda: memory.log("x"), memory.diff):
            with pytest.raises(Unavailable, match="is in no git repository"):
                ask()
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(Unavailable, match="git is not installed"):
            memory.diff()


# --- diff -----------------------------------------------------------------------------------------------------------


def change_much(repository: Repository) -> None:
    """Commit a memory, and change it in every way."""
    folder = project(repository)
    write(folder / ".graphmem/types/entities/service.md", b"---\ntype: service\n---\n\nIt runs.\n")
    failures(repository, failure("a"), failure("b", cost=1), failure("c"), failure("old"), failure("gone"))
    write(data(folder, "pattern"), pattern("p"), pattern("q", archived_at="2026-11-01T09:30:00.000Z"))
    write(data(folder, "entities/service"), line(kind="entity", type="service", name="shop", value="Python"))
    write(data(folder, "relations/solves"), edge("pattern/p", "solves", "failure/a"))
    repository.commit("much")
    failures(repository, failure("a", archived_at="2026-11-02T09:30:00.000Z", superseded_by="failure/b"),
             failure("b", cost=2), failure("c", archived_at="2026-11-02T09:30:00.000Z"),
             failure("new", "old went wrong", key="old", aliases=["old"]), failure("d"), failure("e"))  # fmt: skip
    write(data(folder, "pattern"), pattern("p", tags=["x"]), pattern("q"))
    write(data(folder, "entities/service"), line(kind="entity", type="service", name="stock"),
          line(kind="entity", type="service", name="till"))  # fmt: skip
    write(data(folder, "relations/solves"), edge("pattern/p", "solves", "failure/b", note="since May"))
    write(data(folder, "feedback"), line(kind="feedback", ref="pattern/p", helped=True, at="2026-11-02T09:30:00.000Z",
                                         id="1"))  # fmt: skip
    write(folder / ".graphmem/types/entities/service.md", b"---\ntype: service\n---\n\nIt sells.\n")


SUMMARY = (
    "+2 failures, ~1 failure, -1 failure, ~1 pattern, +2 service entities, -1 service entity, +1 solves link,"
    " -1 solves link, +1 report, ~1 entity type, 1 archived, 1 renamed, 1 restored, 1 superseded"
)


def test_a_difference_is_counted_in_words_and_told_field_by_field(repository: Repository) -> None:
    change_much(repository)
    found = diff(repository)
    assert (found.summary, found.skipped, found.after) == (SUMMARY, 0, None)
    assert [(change.action, change.ref) for change in found.changes] == [
        ("superseded", "failure/a"),
        ("changed", "failure/b"),
        ("archived", "failure/c"),
        ("created", "failure/d"),
        ("created", "failure/e"),
        ("removed", "failure/gone"),
        ("renamed", "failure/new"),
        ("changed", "pattern/p"),
        ("restored", "pattern/q"),
        ("removed", "service/shop"),
        ("created", "service/stock"),
        ("created", "service/till"),
        ("removed", "pattern/p -solves-> failure/a"),
        ("created", "pattern/p -solves-> failure/b"),
        ("created", "pattern/p (1)"),
        ("changed", "entity type/service"),
    ]
    assert fields(found)["failure/new"] == {"name": ("old", "new")}
    assert fields(found)["failure/b"] == {"cost": (1, 2)}
    assert fields(found)["pattern/p"] == {"tags": (None, ["x"])}


def test_two_commits_a_commit_and_dates_can_be_compared(repository: Repository) -> None:
    change_much(repository)
    repository.commit("changed")
    assert diff(repository).changes == []
    there, back = diff(repository, "HEAD~1..HEAD"), diff(repository, "HEAD..HEAD~1")
    assert there.summary == diff(repository, "HEAD~1").summary == diff(repository, "2026-11-03..").summary == SUMMARY
    assert (there.before, there.after) == (repository("rev-parse", "HEAD~1"), repository("rev-parse", "HEAD"))
    assert {change.ref for change in back.changes if change.action == "created"} >= {"failure/gone", "service/shop"}
    assert diff(repository, "HEAD~2..2026-11-03").summary.startswith("+5 failures, +2 patterns")


def test_three_dots_leave_out_what_the_other_branch_did_meanwhile(repository: Repository) -> None:
    repository("checkout", "-q", "-b", "side")
    failures(repository, failure("a"))
    repository.commit("on the side")
    repository("checkout", "-q", "main")
    write(data(project(repository), "pattern"), pattern("p"))
    repository.commit("on main")
    assert diff(repository, "main..side").summary == "+1 failure, -1 pattern"
    assert diff(repository, "main...side").summary == "+1 failure"
    repository("checkout", "-q", "--orphan", "elsewhere")
    repository.commit("no history in common")
    with pytest.raises(NotFound, match="have no history in common"):
        diff(repository, "main...elsewhere")


def test_before_the_first_commit_all_of_it_is_new(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    Memory.init(project(repository))
    failures(repository, failure("a"))
    found = diff(repository)
    assert (found.summary, found.before) == ("+1 failure", None)
    assert told(log(repository, "a")) == [(None, "created failure/a")]


def test_lines_that_are_no_rows_are_left_out_and_counted(repository: Repository) -> None:
    bad = [b"{\n", b'{"kind":"failure"}\n', b'{"kind":"fail\\u001bure","name":"x"}\n', b'{"kind":1,"name":"x"}\n']
    failures(repository, failure("a"), *bad)
    found = diff(repository)
    assert (found.summary, found.skipped) == ("+1 failure", 4)


@pytest.mark.parametrize("revisions", ["--output=stolen", "HEAD..--all", "nothing..HEAD", "-p...HEAD"])
def test_what_is_no_commit_is_refused_and_no_option(repository: Repository, revisions: str) -> None:
    with pytest.raises((Usage, NotFound), match="is not a commit"):
        diff(repository, revisions)
    assert not (project(repository) / "stolen").exists()


def test_a_link_that_came_with_a_branch_shows_nothing_of_elsewhere(repository: Repository, tmp_path: Path) -> None:
    types = project(repository) / ".graphmem" / "types"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "secret.md").write_text("secret")
    (types / "entities" / "key.md").symlink_to(tmp_path / "notes" / "secret.md")
    (types / "relations").rmdir()
    (types / "relations").symlink_to(tmp_path / "notes")
    repository.commit("links")
    assert diff(repository).changes == []
    assert diff(repository, "HEAD~1").changes == []


def test_reading_history_writes_no_committed_file(repository: Repository) -> None:
    change_much(repository)
    before = contents(project(repository))
    diff(repository)
    log(repository, "b")
    assert contents(project(repository)) == before


# --- forms ----------------------------------------------------------------------------------------------------------

Graphmem = Callable[..., tuple[int, str, str]]


@pytest.fixture
def graphmem(repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Graphmem:
    """The command line in the store's folder: status, output, talk."""
    monkeypatch.chdir(project(repository))

    def call(*arguments: str) -> tuple[int, str, str]:
        return run(arguments), *capsys.readouterr()

    return call


def test_people_get_a_line_a_row_and_a_line_a_field(repository: Repository, graphmem: Graphmem) -> None:
    long = "x" * 200
    failures(repository, failure("a", fix=f"{long} old"), failure("gone"), failure("b", tags=["x"]))
    repository.commit("one")
    failures(repository, failure("a", fix=f"{long} new"), failure("b", tags=["y"]), failure("c", "It\nhangs"))
    assert graphmem("list")[0] == 0
    assert graphmem("diff") == (
        0,
        "+1 failure, ~2 failures, -1 failure\n"
        f"~ failure/a\n    fix: …{'x' * 19} old → …{'x' * 19} new\n"
        "~ failure/b\n    tags: +y, -x\n"
        "+ failure/c  It hangs\n"
        "- failure/gone  gone went wrong\n",
        "",
    )
    commit = repository("rev-parse", "HEAD")[:10]
    assert graphmem("history", "b") == (
        0,
        "not committed yet\n  changed failure/b\n    tags: +y, -x\n"
        f"{commit}  2026-11-02T10:00:00.000Z  Ada  one\n  created failure/b\n",
        "",
    )
    assert graphmem("diff", "HEAD..HEAD") == (0, "", "graphmem: nothing changed\n")
    assert graphmem("diff", "--markdown", "--json")[0] == 2


def test_programs_get_the_models(repository: Repository, graphmem: Graphmem) -> None:
    failures(repository, failure("a"))
    printed = json.loads(graphmem("diff", "--json")[1])
    assert printed["summary"] == "+1 failure"
    assert printed["changes"][0]["row"]["trigger"] == "a went wrong"
    assert json.loads(graphmem("history", "a", "--json")[1])["results"][0]["commit"] is None


HOSTILE: Sequence[str] = (
    "<script>alert(1)</script>",
    "@everyone closes #1 https://evil.example [x](https://evil.example) ![i](https://evil.example/i.png)",
    "``` \n# heading\n- item\n> quote\n",
    "`` ` ``` **bold** `",
    "\x1b[31mred\u202e",
    "`",
    "   ",
)


def test_no_text_of_the_store_is_markup_in_a_pull_request(repository: Repository, graphmem: Graphmem) -> None:
    folder = project(repository)
    write(folder / ".graphmem/types/entities/t.md", b"---\ntype: t\n---\n")
    names = [name for name in HOSTILE if "\n" not in name and "\x1b" not in name and name.strip()]
    write(data(folder, "entities/t"), *(line(kind="entity", type="t", name=f"a {name}") for name in names))
    failures(repository, *(failure(f"f{n}", f"x {text}") for n, text in enumerate(HOSTILE)))
    repository.commit("one")
    write(data(folder, "entities/t"), *(line(kind="entity", type="t", name=f"b {name}") for name in names))
    failures(repository, *(failure(f"f{n}", text or "x", fix=text) for n, text in enumerate(HOSTILE)))
    status, printed, _ = graphmem("diff", "HEAD", "--markdown")
    assert status == 0
    assert printed.startswith("**Memory:** ~7 failures, +")
    assert not set(printed) & set("\x1b\u202e")
    for text in printed.splitlines():
        assert re.fullmatch(r"|### \w+|\*\*Memory:\*\* [\w ,+~-]+|(  )?- [: →_]*", without_code(text)), text


def without_code(text: str) -> str:
    """Return a line of Markdown without its code, found as CommonMark finds it: a run of backticks to its equal."""
    rest, at = "", 0
    while at < len(text):
        fence = re.compile("`+").match(text, at)
        if fence is None:
            rest, at = rest + text[at], at + 1
            continue
        end = re.compile(f"(?<!`){fence[0]}(?!`)").search(text, fence.end())
        assert end is not None, text
        at = end.end()
    return rest


def test_no_text_of_the_store_steers_the_terminal(repository: Repository, graphmem: Graphmem) -> None:
    failures(repository, failure("a", "\x1b[31mred \u202e\r\n", **{"un\x1bknown": "\x07"}))
    for form in (["diff"], ["diff", "--markdown"], ["diff", "--json"], ["log", "a"], ["log", "a", "--json"]):
        status, printed, _ = graphmem(*form)
        assert status == 0
        assert printed
        assert not set(printed) & set("\x1b\u202e\r\x07"), form


def test_what_a_change_refers_to_is_shown_by_name(repository: Repository) -> None:
    Memory.init(repository.folder)
    with Memory(repository.folder) as memory:
        memory.failures.add("the build is slow", name="slow")
        memory.failures.add("the cake is burnt", name="cake")
        memory.failures.add("the milk is sour", name="milk")
        memory.relations.link("cake", "causes", "slow")
        repository.commit("one")
        memory.rename("cake", "burnt-cake")
        memory.relations.link("burnt-cake", "causes", "milk")
        memory.supersede("slow", "burnt-cake")
        memory.feedback("burnt-cake", helped=True, task="t1")
        refs = {change.kind: change.ref for change in memory.diff().changes if change.action == "created"}
        assert refs == {
            "relation": "failure/burnt-cake -causes-> failure/milk",
            "feedback": "failure/burnt-cake for t1",
        }
        (superseded,) = [change for change in memory.diff().changes if change.action == "superseded"]
        assert [field.new for field in superseded.fields] == ["failure/burnt-cake"]
        (last, *_) = memory.log("slow").results
        assert [field.new for field in last.change.fields] == ["failure/burnt-cake"]
        assert getattr(memory.get("slow").record, "superseded_by", None) == "failure/burnt-cake"


def test_an_edge_of_a_record_that_only_another_branch_has_is_shown_by_name(repository: Repository) -> None:
    repository("checkout", "-q", "-b", "side")
    with Memory(project(repository)) as memory:
        memory.failures.add("the milk is sour", name="milk")
        memory.failures.add("the cake is burnt", name="cake")
        memory.relations.link("cake", "causes", "milk")
    repository.commit("on the side")
    repository("checkout", "-q", "main")
    edges = [change.ref for change in diff(repository, "main...side").changes if change.kind == "relation"]
    assert edges == ["failure/cake -causes-> failure/milk"]
