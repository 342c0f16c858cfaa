"""Marks of doubt: every answer that shows a record says first what speaks against relying on it."""

import json
import shlex
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import BadInput, Memory, Refused
from graphmem.core.records.record_contract import Changed, Got
from graphmem.doors.cli.app import run
from graphmem.kernel.model import Failure
from tests.core.evidence.test_lock_files import GO_MOD, LOCKS
from tests.sample import Clock, open_memory

LOCK = '[[package]]\nname = "werkzeug"\nversion = "{}"\n\n[[package]]\nname = "flask"\nversion = "3.0.1"\n'


def lock(folder: Path, version: str) -> None:
    """Write a lock file of a project that has this version of werkzeug."""
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["werkzeug", "flask"]\n')
    (folder / "uv.lock").write_text(LOCK.format(version))


def said(found: Changed | Got) -> Failure:
    """Return the failure of an answer."""
    assert isinstance(found.record, Failure)
    return found.record


def doubts(memory: Memory, ref: str) -> list[tuple[str, str]]:
    return [(one.sign, one.text) for one in memory.get(ref).doubts]


@pytest.fixture
def doubtful(tmp_path: Path) -> Memory:
    """A failure and its pattern that have every mark there is, and a lesson that is disputed."""
    clock = Clock()
    memory = open_memory(tmp_path, clock=clock)
    lock(tmp_path, "2.3.8")
    (tmp_path / "code.py").write_text("def route():\n    return 1\n")
    memory.failures.add(
        "werkzeug.Request loses the query", name="old", fix="pin it", match="loses the query", cites=["code.py:route"],
        check_after="2026-11-20",
    )  # fmt: skip
    memory.patterns.add(
        "a query is lost by werkzeug", "pip install werkzeug==2.3.8", name="pin", check_after="2026-11-20"
    )
    memory.lessons.add("never trust a redirect", type="preference", name="redirect")
    memory.relations.link("pin", "solves", "old")
    memory.failures.add("werkzeug.Request is slow with a query", name="slow")
    memory.relations.link("old", "causes", "slow")
    for ref in ("old", "pin", "redirect"):
        memory.feedback(ref, helped=False, wrong=True, note="not since the new router")
    lock(tmp_path, "3.0.1")
    (tmp_path / "code.py").write_text("def route():\n    return 2\n")
    clock.time += timedelta(days=30)
    return memory


# --- each mark ------------------------------------------------------------------------------------------------------


def test_a_record_says_everything_that_speaks_against_it(doubtful: Memory) -> None:
    assert doubts(doubtful, "old") == [
        ("disputed", "disputed on 2026-11-01: not since the new router"),
        ("code", "cites code.py:route (changed)"),
        ("date", "to be checked after 2026-11-20"),
        ("versions", "seen with werkzeug 2.3.8, here 3.0.1"),
        ("failed", "did not help in 1 of 1 reports"),
    ]


def test_a_dispute_ends_with_an_edit_of_what_the_record_says(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.failures.add("it loops", fix="restart", name="a")
    assert memory.feedback("a", helped=False, wrong=True).disputed == 1
    for edit in ({"tags": ["x"]}, {"sources": ["me"]}, {"cost": 4.0}, {"versions": {"x": "1"}}):
        memory.edit("a", edit)
        assert said(memory.get("a")).disputed == 1
    memory.rename("a", "b")
    assert doubts(memory, "b")[0] == ("disputed", "disputed on 2026-11-01")
    memory.edit("b", {"fix": "stop it first"})
    assert said(memory.get("b")).disputed == 0
    memory.feedback("b", helped=False, wrong=True)
    memory.feedback("b", helped=False, wrong=True, note="still\nloops")
    assert doubts(memory, "b")[0] == ("disputed", "disputed 2 times, last on 2026-11-01: still loops")


def test_a_report_for_a_task_takes_a_dispute_back(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.failures.add("it loops", name="a")
    assert memory.feedback("a", helped=False, wrong=True, task="auth").disputed == 1
    answer = memory.feedback("a", helped=True, task="auth")
    assert (answer.action, answer.disputed, answer.helped) == ("updated", 0, 1)
    assert memory.feedback("a", helped=False, task="auth").disputed == 0
    assert memory.feedback("a", helped=False, wrong=True, task="auth").disputed == 1
    memory.feedback("a", helped=False, wrong=True, note="it still loops", task="auth")
    assert doubts(memory, "a")[0] == ("disputed", "disputed on 2026-11-01: it still loops")


def test_what_is_wrong_did_not_help(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.failures.add("it loops", name="a")
    with pytest.raises(BadInput, match="did not help"):
        memory.feedback("a", helped=True, wrong=True)
    memory.types.add_entity("tool", description="what builds it")
    memory.entities.add("tool", "make")
    with pytest.raises(Refused, match="failures, patterns and lessons are disputed"):
        memory.feedback("tool/make", helped=False, wrong=True)


def test_disputes_survive_a_rebuild_and_are_in_the_graph(doubtful: Memory) -> None:
    before = doubts(doubtful, "old")
    doubtful.store.rebuild()
    assert doubts(doubtful, "old") == before
    query = (
        "MATCH (f) WHERE f.disputed > 0 AND f.check_after < '2026-11-25' RETURN f.ref AS ref, f.versions AS seen"
        " ORDER BY ref"
    )
    answer = doubtful.cypher(query)
    assert answer.rows == [["failure/old", ["werkzeug 2.3.8"]], ["pattern/pin", ["werkzeug 2.3.8"]]]
    assert [one.sign for one in answer.doubts["failure/old"]] == ["disputed", "code", "date", "versions", "failed"]
    doubtful.edit("old", {"fix": "pin it below 3"})
    assert [row[0] for row in doubtful.cypher(query).rows] == ["pattern/pin"]


def test_a_day_counts_from_the_next_one_on(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.failures.add("it loops", name="today", check_after="2026-11-01")
    memory.failures.add("it hangs", name="past", check_after="2026-10-31")
    assert (doubts(memory, "today"), len(doubts(memory, "past"))) == ([], 1)
    with pytest.raises(BadInput, match="check_after"):
        memory.failures.add("it dies", check_after="next week")


# --- versions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "sign"),
    [
        ("2.3.8", None),
        ("2.3.9", "other_version"),
        ("2.4.0", "other_version"),
        ("3.0.0", "versions"),
        ("1.0", "versions"),
    ],
)
def test_a_version_is_compared_with_what_the_project_has_now(tmp_path: Path, now: str, sign: str | None) -> None:
    memory = open_memory(tmp_path)
    lock(tmp_path, "2.3.8")
    memory.failures.add("werkzeug.Request loses the query", name="a")
    assert said(memory.get("a")).versions == {"werkzeug": "2.3.8"}
    lock(tmp_path, now)
    found = doubts(memory, "a")
    assert [one for one, _ in found] == ([sign] if sign else [])
    if sign:
        assert found[0][1] == f"seen with werkzeug 2.3.8, here {now}"


def test_what_no_file_of_the_project_names_is_only_a_note(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.failures.add("it loops", name="a", versions={"postgres": "15.2"})
    assert doubts(memory, "a") == []  # nothing is known of what the project has
    lock(tmp_path, "3.0.1")
    assert doubts(memory, "a") == [("other_version", "seen with postgres 15.2, not among the project's packages")]
    assert memory.query("it loops", strict=True).results != []


def test_versions_that_are_given_go_before_those_of_the_lock_file(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    lock(tmp_path, "2.3.8")
    given = memory.failures.add("werkzeug.Request and flask.Request lose it", versions={"Werkzeug": "1.0"}, dedup=False)
    assert said(given).versions == {"Werkzeug": "1.0", "flask": "3.0.1"}
    none = memory.failures.add("werkzeug.Request or flask.Request hangs", versions_from="none", dedup=False)
    assert said(none).versions == {}


def test_a_memory_that_is_added_again_keeps_both_versions(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    lock(tmp_path, "2.3.8")
    memory.failures.add("werkzeug.Request loses the query", name="a")
    lock(tmp_path, "3.0.1")
    again = memory.failures.add("werkzeug.Request loses the query")
    assert (again.action, said(again).versions) == ("updated", {"werkzeug": ("2.3.8", "3.0.1")})
    assert doubts(memory, "a") == []


def test_what_is_installed_counts_when_it_is_asked_for(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    folder = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (folder / "werkzeug-2.3.8.dist-info").mkdir(parents=True)
    text = "site-packages/werkzeug/routing.py: NotFound"
    assert said(memory.failures.add(text, dry_run=True)).versions == {}
    assert said(memory.failures.add(text, versions_from="auto")).versions == {"werkzeug": "2.3.8"}


def test_a_broken_or_foreign_lock_file_counts_as_none(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "project")
    (tmp_path / "uv.lock").write_text(LOCK.format("2.3.8"))
    (tmp_path / "project" / "uv.lock").symlink_to(tmp_path / "uv.lock")
    (tmp_path / "project" / "package-lock.json").write_text("[1, {")
    (tmp_path / "project" / "pyproject.toml").write_bytes(b"\xff\xfe")
    assert said(memory.failures.add("import werkzeug")).versions == {}


# --- what marks do --------------------------------------------------------------------------------------------------


def test_marks_lower_a_record_a_little_and_hide_nothing(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    for name in ("pip", "uv"):
        memory.failures.add(f"the import fails after an upgrade of {name}", name=name, dedup=False)
    first, second = (hit.record.name for hit in memory.query("import fails after an upgrade").results)
    memory.edit(first, {"check_after": "2026-10-01"})
    hits = memory.query("import fails after an upgrade").results
    assert [hit.record.name for hit in hits] == [second, first]
    assert hits[1].factors.doubt == 0.97
    classic = memory.query("import fails after an upgrade", profile="classic").results
    assert {hit.factors.doubt for hit in classic} == {1.0}


def test_strict_leaves_out_what_has_a_mark(doubtful: Memory) -> None:
    assert [hit.ref for hit in doubtful.query("werkzeug query", strict=True).results] == []
    assert doubtful.solutions("old", strict=True).results == []
    assert doubtful.match("it loses the query now", strict=True).results == []
    assert [hit.ref for hit in doubtful.match("it loses the query now").results] == ["failure/old"]
    block = doubtful.context("werkzeug.Request loses the query", strict=True)
    assert (block.text, block.refs) == ("", [])


def test_a_context_block_says_it_before_the_text(doubtful: Memory) -> None:
    text = doubtful.context("werkzeug.Request loses the query").text
    doubts_at = text.index("  > doubt: disputed on 2026-11-01: not since the new router\n")
    assert text.index("- `failure/old`") < doubts_at < text.index("  > when: werkzeug.Request loses the query")
    assert "  > doubt about pattern/pin: seen with werkzeug 2.3.8, here 3.0.1\n" in text


def test_stale_lists_past_dates_and_other_major_versions(doubtful: Memory) -> None:
    answer = doubtful.stale()
    assert [one.ref for one in answer.results] == ["failure/old", "failure/slow", "pattern/pin"]
    assert [one.text for one in answer.results[1].doubts] == ["seen with werkzeug 2.3.8, here 3.0.1"]
    assert answer.checked == 3


# --- correcting -----------------------------------------------------------------------------------------------------


def test_a_record_takes_the_place_of_another_in_one_write(doubtful: Memory) -> None:
    made = doubtful.failures.add("werkzeug 3 loses the query", fix="use the router", supersedes="old")
    assert made.action == "created"
    old = said(doubtful.get("old"))
    assert (old.is_archived, old.superseded_by) == (True, made.ref)
    (write,) = doubtful.undo().writes
    assert (write.added, write.changed) == (1, 1)
    assert not said(doubtful.get("old")).is_archived


def test_a_lesson_and_an_experience_are_corrected_in_one_step_too(doubtful: Memory) -> None:
    made = doubtful.lessons.add("trust a redirect of our own router", type="preference", supersedes="redirect")
    assert (made.action, doubtful.get("redirect").record.superseded_by) == ("created", made.ref)
    for text, older in (("logged in twice", None), ("logged in once", "logged-in-twice")):
        doubtful.experiences.add(
            "bug", text, approach="traced it", outcome="success", lessons=["look"], name=text.replace(" ", "-"),
            supersedes=older,
        )  # fmt: skip
    assert doubtful.get("logged-in-twice").record.superseded_by == "experience/logged-in-once"


def test_a_correction_of_the_same_error_becomes_the_current_text(doubtful: Memory) -> None:
    made = doubtful.failures.add("werkzeug.Request loses the query", fix="use the router", supersedes="old")
    assert (made.action, made.ref, said(made).fix) == ("updated", "failure/old", "use the router")
    assert "disputed" not in [sign for sign, _ in doubts(doubtful, "old")]


def test_a_correction_is_never_merged_into_what_it_corrects(memory_with_model: Memory) -> None:
    memory_with_model.failures.add("the import of the package fails at line 12", fix="pin it", name="old")
    made = memory_with_model.failures.add("the import of the package fails at line 99", fix="unpin", supersedes="old")
    assert (made.action, made.variants) == ("created", [])
    assert said(memory_with_model.get("old")).superseded_by == made.ref


def test_what_cannot_be_superseded_is_refused_and_nothing_is_added(doubtful: Memory) -> None:
    with pytest.raises(Refused, match="of the kind pattern"):
        doubtful.failures.add("another error", supersedes="pin")
    doubtful.forget("slow")
    with pytest.raises(Refused, match="archived"):
        doubtful.failures.add("another error", supersedes="slow")
    assert doubtful.query("another error").results == []


def test_a_fix_that_was_disputed_is_shown_last_and_says_so(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.failures.add("the job times out", fix="restart it", name="z")
    for task in ("a", "b"):
        memory.feedback("z", helped=True, task=task)
    memory.feedback("z", helped=False, wrong=True, note="a restart deletes the queue")
    memory.failures.add("the job times out", fix="raise the limit", supersedes="z")
    found = [(fix.text, fix.disputed) for fix in memory.get("z").fixes]
    assert found == [("raise the limit", False), ("restart it", True)]
    assert "  > fix: raise the limit\n  > fix, disputed: restart it\n" in memory.context("the job times out").text


def test_what_failed_before_a_correction_is_no_mark_of_it(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.failures.add("the job crashes", fix="wrong", name="y")
    memory.feedback("y", helped=False, wrong=True)
    memory.edit("y", {"fix": "right"})
    assert (doubts(memory, "y"), said(memory.get("y")).failed) == ([], 1)
    memory.feedback("y", helped=False)
    assert doubts(memory, "y") == [("failed", "did not help in 1 of 1 reports")]


def test_strict_says_what_it_left_out(doubtful: Memory) -> None:
    assert doubtful.query("werkzeug.Request loses the query", strict=True).left_out[0] == "failure/old"
    assert doubtful.context("werkzeug.Request loses the query", strict=True).note == "empty: 3 with marks of doubt"


# --- every command --------------------------------------------------------------------------------------------------

SHOWING = {  # each command that shows records, and whether it shows the failure, the pattern or the lesson
    "get old": "failure",
    "list": "failure",
    "query 'werkzeug.Request loses the query'": "failure",
    "match LOG": "failure",
    "ran -- sh -c 'echo it loses the query; exit 1'": "failure",
    "context 'werkzeug.Request loses the query'": "failure",
    "solutions old": "pattern",
    "related slow": "failure",
    "stale": "failure",
    "inject": "lesson",
    "cypher 'MATCH (f:Failure) RETURN f'": "failure",
    "cypher --named failure/solutions -p ref=failure/old": "pattern",
}


@pytest.mark.parametrize("command", SHOWING)
def test_every_command_that_shows_a_record_says_what_speaks_against_it(
    command: str, doubtful: Memory, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    (tmp_path / "LOG").write_text("it loses the query\n")
    run(shlex.split(command))
    shown = "".join(capfd.readouterr())
    assert "disputed on 2026-11-01: not since the new router" in shown or command == "stale"
    if SHOWING[command] == "failure":
        assert "code.py:route" in shown and "changed" in shown
    if SHOWING[command] != "lesson":
        assert "seen with werkzeug 2.3.8, here 3.0.1" in shown
    run(["--json", *shlex.split(command)])
    answered = next(line for line in "".join(capfd.readouterr()).splitlines() if line.startswith("{"))
    assert '"sign":"disputed"' in answered and json.loads(answered)


FLAKY = (
    "get clock", "list", "list failure", "query 'the clock test is late'", "match LOG", "match --format markdown LOG",
    "ran -- sh -c 'echo the clock test is late; exit 1'", "context 'the clock test is late'", "solutions clock",
    "related other", "cypher 'MATCH (f:Failure) RETURN f'", "prime",
    "task start old/1", "task start old/2", "task block new/1 --reason 'the clock test is late'",
    "similar 'mend the clock'",
    "dump --to rules --dry-run",
)  # fmt: skip


def test_every_command_that_shows_a_failure_says_that_it_is_flaky(
    memory: Memory, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    (tmp_path / "LOG").write_text("the clock test is late\n")
    memory.failures.add("the clock test is late", name="clock", flaky=True, fix="freeze the clock", sources=["a", "b"])
    memory.failures.add("another one", name="other", fix="do that")
    memory.relations.link("other", "causes", "clock")
    memory.pin("clock")
    for name in ("old", "new"):
        memory.campaigns.create(f"mend the {name} clock", name=name)
        memory.campaigns.add_tasks(name, [{"seq": n, "objective": "mend the clock test"} for n in (1, 2)])
    memory.tasks.block("old/1", "the clock test is late")
    memory.tasks.start("old/1")
    silent = []
    for command in FLAKY:
        if command.startswith("similar"):
            memory.campaigns.complete("old", status="partial")
        run(shlex.split(command))
        shown = "".join(capfd.readouterr())
        silent += [] if "flaky: failed without a cause in the code 2 times" in shown else [command]
    assert silent == []


# --- projects -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [*LOCKS, "go.mod"])
def test_a_project_of_each_kind_has_its_versions_captured_compared_and_merged(file: str, tmp_path: Path) -> None:
    """A lock file gives the version that a traceback or an import names; another major version becomes a mark."""
    text, name, old, new = LOCKS.get(file, GO_MOD), "werkzeug", "2.3.8", "3.0.1"
    if file == "go.mod":
        name, old, new = "github.com/gin-gonic/gin", "v1.9.1", "v2.0.0"
    memory = open_memory(tmp_path)
    (tmp_path / file).write_text(text)
    made = memory.failures.add(f"Cannot find module '{name}'", name="a")
    assert said(made).versions == {name: old}
    assert doubts(memory, "a") == []
    (tmp_path / file).write_text(text.replace(old, new))
    assert doubts(memory, "a") == [("versions", f"seen with {name} {old}, here {new}")]
    again = memory.failures.add(f"Cannot find module '{name}'")
    assert said(again).versions == {name: (old, new)}
    assert doubts(memory, "a") == []


@pytest.mark.parametrize(
    ("platform", "tags", "expected"),
    [
        ("linux", ["windows"], [("platform", "for Windows, here Linux")]),
        ("win32", ["linux", "MacOS"], [("platform", "for Linux and macOS, here Windows")]),
        ("linux", ["linux", "windows"], []),
        ("linux", ["build"], []),
        ("freebsd14", ["windows"], []),
    ],
)
def test_what_is_tagged_with_another_platform_has_a_mark(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, platform: str, tags: list[str], expected: list[tuple[str, str]]
) -> None:
    memory.failures.add("the build breaks", name="b", tags=tags)
    monkeypatch.setattr("graphmem.core.evidence.doubts.sys.platform", platform)
    assert doubts(memory, "b") == expected


def test_a_version_that_only_a_word_was_taken_for_is_named_with_the_command_that_takes_it_off(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.failures.add("the pages are old", fix="build the docs first", name="word", versions={"build": "1.3.0"})
    memory.failures.add("build.Error: no pyproject", fix="build again", name="code", versions={"build": "1.3.0"})
    memory.failures.add("it loops", name="given", versions={"postgres": "15.2"})
    (found,) = memory.store.validate().findings
    assert (found.code, found.severity) == ("word_version", "warning")
    assert "failure/word has the version of build" in found.message
    assert found.fix == "graphmem edit failure/word '{\"versions\": {}}'"
    memory.edit("word", {"versions": {}})
    assert memory.store.validate().findings == []
