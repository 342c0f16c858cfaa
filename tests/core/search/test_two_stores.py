"""Questions to the store of a project and to the user's own: what each answers, in one order, and nothing is mixed."""

import json
import os
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem import Memory
from graphmem.core.search.budget import tokens
from graphmem.core.search.query_contract import Found
from graphmem.core.search.text import hit_lines
from graphmem.core.search.two_stores import CERTAINTIES
from graphmem.errors import NotFound
from tests.features.harvest.test_sessions import LINT, Transcript
from tests.sample import open_memory

ERROR = "ModuleNotFoundError: No module named 'pkg_resources'"
MARK = "quokka"  # a word that only the user's own store has
WORDS = ("build", "tool", "cart", "price", "push", "hook", "sign", "release", "lock", "timeout")


def refs(found: Found) -> list[tuple[str, str]]:
    return [(hit.store, hit.ref) for hit in found.results]


def test_a_query_finds_what_is_in_either_store_and_says_where(memory: Memory, user: Memory) -> None:
    memory.patterns.add("the cart has no price", "ask for the price first", name="price")
    user.patterns.add("git push is refused by the hook", "sign the commits", name="sign")
    assert refs(memory.query("git push is refused by the hook"))[0] == ("user", "pattern/sign")
    assert refs(memory.query("the cart has no price"))[0] == ("project", "pattern/price")
    assert memory.query("git push is refused by the hook").known
    assert refs(user.query("git push is refused by the hook")) == [("project", "pattern/sign")]  # it is the one asked


def test_at_equal_score_the_result_of_the_project_is_first(memory: Memory, user: Memory) -> None:
    memory.patterns.add("git push is refused by the hook", "ask Ann", name="ann")
    user.patterns.add("git push is refused by the hook", "sign the commits", name="sign")
    found = memory.query("git push is refused by the hook")
    assert found.results[0].score == found.results[1].score
    assert refs(found) == [("project", "pattern/ann"), ("user", "pattern/sign")]


def test_the_first_result_is_of_the_store_that_is_surer_whatever_the_scores(memory: Memory, user: Memory) -> None:
    asked = "pip install of numpy 1.26 fails on python 3.13 with a missing wheel"
    memory.failures.add("ERROR: no matching distribution found for numpy 1.26 on python 3.13", name="other")
    user.patterns.add("a wheel is missing on python 3.13", "build it", name="wheel")
    found = memory.query(asked)
    assert refs(found) == [("user", "pattern/wheel"), ("project", "failure/other")]
    assert found.results[0].score < found.results[1].score
    assert (found.known, found.certainty, found.probability) == (True, "high", user.query(asked).probability)


def test_what_is_said_of_a_copy_that_is_not_shown_is_not_said_of_another_result(memory: Memory, user: Memory) -> None:
    memory.patterns.add("module lock push hook build cache deploy", "friday cart error tool python deploy", name="lock")
    memory.patterns.add("push build release import price timeout", "price deploy sign", name="push")
    memory.patterns.add("lock sign python", "error tool sign build import", name="sign")
    memory.user.promote("pattern/sign")
    user.patterns.add(
        "hook friday release tool price cart", "deploy cart python price timeout cache error", name="cart"
    )
    asked = "numpy branch sign import cart"
    alone = user.query(asked)
    assert (refs(alone)[0], alone.certainty) == (("project", "pattern/sign"), "low")
    found = memory.query(asked)
    assert refs(found)[0] == ("user", "pattern/cart")
    assert (found.known, found.certainty) == (False, "none")


def test_a_copy_with_the_same_texts_is_shown_once_and_another_fix_of_the_same_error_twice(
    memory: Memory, user: Memory
) -> None:
    user.failures.add(ERROR, fix="pin setuptools", name="gone")
    memory.user.adopt("failure/gone")
    assert refs(memory.query(ERROR)) == [("project", "failure/gone")]
    assert [(one.store, one.ref) for one in memory.match([ERROR]).results] == [("project", "failure/gone")]
    memory.edit("failure/gone", fix="use importlib")
    assert refs(memory.query(ERROR)) == [("project", "failure/gone"), ("user", "failure/gone")]
    fixes = [(fix.store, fix.text) for fix in memory.solutions("failure/gone").fixes]
    assert fixes == [("project", "use importlib"), ("user", "pin setuptools")]
    user.edit("failure/gone", fix="use importlib")
    assert [fix.store for fix in memory.solutions("failure/gone").fixes] == ["project"]


def test_a_copy_that_only_the_user_knows_a_solution_of_is_shown_beside_the_project_s(
    memory: Memory, user: Memory
) -> None:
    memory.failures.add(ERROR, name="gone")
    memory.user.promote("failure/gone")
    user.patterns.add("a tool dropped a module", "pin build tools", name="pin")
    user.relations.link("pattern/pin", "solves", "failure/gone")

    def shown() -> list[tuple[str, list[str]]]:
        return [(one.store, [found.ref for found in one.solved_by]) for one in memory.match([ERROR]).results]

    assert shown() == [("project", []), ("user", ["pattern/pin"])]
    assert "  > fix, user:pattern/pin, never reported on: pin build tools" in memory.context(ERROR).text
    memory.user.adopt("pattern/pin")
    memory.relations.link("pattern/pin", "solves", "failure/gone")
    assert shown() == [("project", ["pattern/pin"])]


@pytest.mark.long
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ours=st.lists(st.lists(st.sampled_from(WORDS), min_size=2, max_size=5, unique=True), max_size=5),
    theirs=st.lists(st.lists(st.sampled_from(WORDS), min_size=2, max_size=5, unique=True), max_size=5),
    asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True),
)
def test_both_stores_keep_their_own_order_and_scores(
    tmp_path: Path, user: Memory, ours: list[list[str]], theirs: list[list[str]], asked: list[str]
) -> None:
    folder = tmp_path / "project"
    shutil.rmtree(folder, ignore_errors=True)
    with open_memory(folder) as memory:
        user.store.reset(yes=True)
        for store, texts in ((memory, ours), (user, theirs)):
            for place, words in enumerate(texts):
                store.patterns.add(" ".join(words), f"{store is user} {place}", name=f"p{place}", dedup=False)
        text = " ".join(asked)
        apart = {"user": user.query(text), "project": memory_alone(folder, text)}
        both = memory.query(text)
        for name, alone in apart.items():
            assert [(hit.ref, hit.score) for hit in both.results if hit.store == name] == [
                (hit.ref, hit.score) for hit in alone.results
            ][: sum(hit.store == name for hit in both.results)]
        assert CERTAINTIES.index(both.certainty) == max(CERTAINTIES.index(alone.certainty) for alone in apart.values())
        for one, other in pairwise(both.results[1:]):
            if (one.band == "exact") == (other.band == "exact"):
                assert one.score >= other.score


def memory_alone(folder: Path, text: str) -> Found:
    """Return what a project answers without the user's own store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHMEM_USER_STORE", "")
        with Memory(folder) as alone:
            return alone.query(text)


@pytest.mark.parametrize("budget", [60, 150, 400, 1_000, 4_000])
def test_a_third_of_a_context_block_at_most_is_of_the_user_and_all_of_it_fits(
    memory: Memory, user: Memory, budget: int
) -> None:
    for place in range(12):
        memory.patterns.add(f"git push number {place} is refused by the hook", f"ask Ann {place} " * 9, dedup=False)
        user.patterns.add(f"git push number {place} is refused by a hook", f"{MARK} {place} " * 9, dedup=False)
    found = memory.context("git push is refused by the hook", budget=budget)
    assert found.tokens == tokens(found.text) <= budget == found.budget
    theirs = [entry for entry in found.entries if entry.store == "user"]
    assert sum(tokens(entry.text) for entry in theirs) <= budget / 3
    assert all(f"`user:{entry.ref}`" in found.text for entry in theirs)
    assert {f"user:{entry.ref}" for entry in theirs} <= set(found.refs)
    assert len(theirs) > 0 or budget < 400
    assert len(theirs) < len(found.entries) or budget < 150


def test_whatever_an_entry_of_the_user_names_is_marked_too(memory: Memory, user: Memory) -> None:
    user.failures.add("KeyError: 'price' of a cart", fix="ask", name="near")
    user.failures.add("KeyError: 'price' of a basket", name="far")
    user.relations.link("failure/far", "variant", "failure/near")
    user.failures.add("a push is refused by the hook", name="push")
    user.patterns.add("a remote that takes signed commits only", "sign the commits", name="sign")
    user.relations.link("pattern/sign", "solves", "failure/push")
    for objective, named in (
        ("KeyError: 'price' of a basket", "fix of user:failure/near, a variant: ask"),
        ("a push is refused by the hook", "fix, user:pattern/sign, never reported on: sign the commits"),
    ):
        text = memory.context(objective).text
        assert named in text
        assert not re.search(r"(?<!user:)(pattern|failure)/\w+", text)
    text = hit_lines(memory.query("KeyError: 'price' of a basket").results, explain=False)
    assert [text.count(ref) for ref in ("failure/near", "user:failure/near")] == [2, 2]


@pytest.mark.long
def test_the_marks_of_many_short_entries_count_too(memory: Memory, user: Memory) -> None:
    for place in range(30):
        user.patterns.add(f"push {place}", "ask", name=f"p{place}", dedup=False)
    for budget in range(820, 900, 2):
        theirs = memory.context("push", budget=budget).entries
        assert sum(tokens(f"{entry.text}\n") for entry in theirs) <= budget / 3


def test_a_context_is_of_the_user_alone_where_the_project_knows_nothing(memory: Memory, user: Memory) -> None:
    user.patterns.add("git push is refused by the hook", "sign the commits", name="sign")
    found = memory.context("git push is refused by the hook")
    assert [entry.ref for entry in found.entries] == ["pattern/sign"]
    assert found.note is None
    assert found.known
    assert "sign the commits" in found.text


def test_a_log_is_compared_with_both_stores_however_long_it_is(memory: Memory, user: Memory) -> None:
    memory.failures.add("KeyError: 'price'", fix="add a price", name="price")
    user.failures.add(ERROR, fix="pin setuptools", name="gone")
    lines = [*["nothing here\n"] * 100_000, f"{ERROR}\n", "KeyError: 'price'\n", "TypeError: None is not callable\n"]
    found = memory.match(line.encode() for line in lines)
    assert [(one.store, one.ref, one.line) for one in found.results] == [
        ("user", "failure/gone", 100_001), ("project", "failure/price", 100_002),
    ]  # fmt: skip
    assert found.unknown == ["TypeError: None is not callable"]


@pytest.mark.parametrize("has_own", [True, False])
def test_a_report_on_either_store_takes_the_id_of_what_was_asked(memory: Memory, user: Memory, has_own: bool) -> None:
    if has_own:
        memory.failures.add("KeyError: 'price'", fix="add a price", name="price")
        memory.patterns.add(f"{ERROR} in a build", "ask Ann", name="ann")
    user.failures.add(ERROR, fix="pin setuptools", name="gone")
    log = memory.match(["KeyError: 'price'\n", f"{ERROR}\n"])
    for asked in (log.asked, memory.query(ERROR).asked, memory.context(ERROR).asked):
        assert asked is not None
        user.feedback("failure/gone", helped=True, asked=asked)
    if has_own:
        memory.feedback("failure/price", helped=True, asked=log.asked)
    questions = {report.question for report in user.why("failure/gone").reports}
    assert questions == {ERROR}


def test_a_failure_is_solved_by_what_the_user_knows_of_the_same_error_and_not_of_the_same_name(
    memory: Memory, user: Memory
) -> None:
    memory.failures.add(ERROR, name="gone")
    user.failures.add("TypeError: something else", fix="wrong here", name="gone")
    user.failures.add("ModuleNotFoundError: No module named 'pkg_resources.extern'", fix="wrong too", name="near")
    assert memory.solutions("failure/gone").fixes == []
    user.failures.add(ERROR, fix="pin setuptools", name="missing")
    user.patterns.add("a tool dropped a module", "pin build tools", name="pin")
    user.relations.link("pattern/pin", "solves", "failure/missing")
    found = memory.solutions("failure/gone")
    assert [(fix.store, fix.text) for fix in found.fixes] == [("user", "pin setuptools")]
    assert [(one.store, one.ref) for one in found.results] == [("user", "pattern/pin")]


def test_a_line_that_many_logs_end_with_is_not_the_same_error(memory: Memory, user: Memory) -> None:
    log = "gcc: foo.c:3: error: undeclared x\nmake: *** [all] Error 1"
    memory.failures.add(log, name="undeclared")
    user.failures.add("make: *** [all] Error 1", fix="run make clean", name="make")
    assert memory.solutions("failure/undeclared").fixes == []
    user.failures.add(log, fix="declare it", name="same")
    assert [fix.text for fix in memory.solutions("failure/undeclared").fixes] == ["declare it"]


def test_kinds_that_the_user_has_none_of_are_no_error(memory: Memory, user: Memory) -> None:
    memory.types.add_entity("service")
    memory.entities.add("service", "billing", value="git push")
    user.patterns.add("git push is refused", "sign", name="sign")
    assert refs(memory.query("git push", kinds=["service"])) == [("project", "service/billing")]
    assert refs(memory.query("git push", kinds=["service", "pattern"]))[1:] == [("user", "pattern/sign")]


def test_a_user_store_that_cannot_be_read_is_reported_and_the_project_answers(memory: Memory, user: Memory) -> None:
    memory.patterns.add("git push is refused", "sign", name="sign")
    config = user.store.client.layout.config
    config.write_text("format = 1\n[retrieval]\nno_such_key = 1\n")
    found = memory.query("git push is refused")
    assert refs(found) == [("project", "pattern/sign")]
    assert any("of the user's own store" in text and "no_such_key" in text for text in found.notices)


def test_what_is_wrong_with_the_user_store_names_commands_for_that_store(memory: Memory, user: Memory) -> None:
    user.patterns.add("git push is refused", "sign", name="sign")
    user.store.client.layout.config.write_text("format = 1\n[embedding]\nmodel = 'some/model'\n")
    with (user.store.client.layout.data / "pattern.ndjson").open("a") as file:
        file.write("<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    said = "\n".join(memory.query("git push is refused").notices)
    assert "of the user's own store: ignored: embedding.model" in said and ": graphmem --user trust" in said
    assert ": graphmem --user resolve" in said


def test_a_store_of_another_user_is_not_asked(memory: Memory, user: Memory) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    user.patterns.add("git push is refused", "sign", name="sign")
    os.chown(user.store.client.layout.store, 12345, -1)
    found = memory.query("git push is refused")
    assert found.results == []
    assert [text for text in found.notices if "belongs to another user" in text]


def test_a_damaged_catalog_of_the_user_is_made_again(memory: Memory, user: Memory) -> None:
    user.patterns.add("git push is refused", "sign", name="sign")
    assert refs(memory.query("git push is refused")) == [("user", "pattern/sign")]
    root = user.store.client.root
    user.close()
    with (root / ".graphmem" / "local" / "catalog.sqlite").open("r+b") as file:
        file.seek(0)
        file.write(os.urandom(8192))
    with Memory(memory.store.client.root) as again:
        assert refs(again.query("git push is refused")) == [("user", "pattern/sign")]


@pytest.mark.parametrize("way", ["empty", "setting", "relative", "scope"])
def test_the_user_store_is_not_asked_where_it_is_off(
    memory: Memory, user: Memory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    user.patterns.add("git push is refused", "sign", name="sign")
    memory.patterns.add("the cart has no price", "ask", name="price")
    root = memory.store.client.root
    assert ("user", "pattern/sign") in refs(memory.query("git push is refused"))
    scope = None
    match way:
        case "empty":
            monkeypatch.setenv("GRAPHMEM_USER_STORE", "")
        case "setting":
            (root / ".graphmem" / "config.toml").write_text("format = 1\nuser_store = false\n")
        case "relative":
            monkeypatch.chdir(user.store.client.root.parent)
            monkeypatch.setenv("GRAPHMEM_USER_STORE", user.store.client.root.name)
        case "scope":
            memory.store.scopes.add("narrow", read=["pattern"])
            scope = "narrow"
    with Memory(root, scope=scope) as again:
        assert ("user", "pattern/sign") not in refs(again.query("git push is refused"))
        with pytest.raises(NotFound):
            again.get("user:pattern/sign")


def test_a_project_cannot_turn_the_user_store_on(memory: Memory, user: Memory) -> None:
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "graphmem"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("user_store = false\n")
    root = memory.store.client.root
    (root / ".graphmem" / "config.toml").write_text("format = 1\nuser_store = true\n")
    user.patterns.add("git push is refused", "sign", name="sign")
    with Memory(root) as again:
        found = again.query("git push is refused")
    assert found.results == []
    assert any("user_store" in text and "not on" in text for text in found.notices)


def test_nothing_of_the_user_store_is_in_the_folder_of_the_project(
    memory: Memory, user: Memory, tmp_path: Path
) -> None:
    """Not in its files, and not in what is derived from them or kept of what was asked."""
    user.failures.add(f"{MARK} said\n{ERROR}", fix=f"{MARK} setuptools", name=f"{MARK}-gone", tags=[MARK])
    user.patterns.add("a tool dropped a module", f"{MARK} build tools", name=f"{MARK}-pin")
    user.relations.link(f"pattern/{MARK}-pin", "solves", f"failure/{MARK}-gone")
    memory.failures.add(ERROR, name="gone")
    memory.query(ERROR)
    memory.context(ERROR)
    memory.match([ERROR])
    memory.solutions("failure/gone")
    assert MARK in memory.ran(["make"], log=[ERROR], status=2).model_dump_json()
    assert leaks(tmp_path) == []
    memory.ran(["make"], log=["ok"], status=0)
    shown = ""
    for event in (
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": ERROR},
        {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "make"},
         "tool_response": {"stdout": "", "stderr": ERROR, "exit_code": 2}},
        {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "make"},
         "tool_response": {"stdout": "1 passed", "stderr": "", "exit_code": 0}},
        {"hook_event_name": "SessionEnd"},
    ):  # fmt: skip
        given = {"session_id": "s", "cwd": str(tmp_path), **event}
        shown += memory.store.hook("claude-code", json.dumps(given)).text
        assert leaks(tmp_path) == []
    assert MARK in shown and MARK in memory.context(ERROR).text  # it was there to leak
    block = f"user:failure/{MARK}-gone  [the same error]\n    > {ERROR}\n    fix: {MARK}Error: {MARK} setuptools"
    memory.ran(["make"], log=[*block.splitlines(), "OSError: disk of 3 is full"], status=2)
    memory.match([*block.splitlines(), ERROR])
    said = f"{LINT}\n{block}\n1 failed"
    made = Transcript(tmp_path.parent / f"{tmp_path.name}-s.jsonl", tmp_path, "s1").ran("make lint", said, status=1)
    made.edited(f"{tmp_path}/src/a.go", "return err", "wrap(err)").said(f"missing because of user:failure/{MARK}-gone")
    made.ran(f"graphmem --user get {MARK}", f"TypeError: {MARK} is not callable", status=1)
    made.ran("make lint", "0 issues.")
    assert memory.imports.sessions(paths=[made.path]).waiting == 1
    job = tmp_path.parent / f"{tmp_path.name}-job.log"
    job.write_text(f"##[group]Run make\n{said}\n##[error]Process completed with exit code 1.\n")
    memory.imports.ci([job])
    suite = f'<testsuite><testcase name="t"><failure message="{ERROR}">{said}</failure></testcase></testsuite>'
    job.with_suffix(".xml").write_text(suite.replace("    > ", "    &gt; "))
    assert memory.imports.ci([job.with_suffix(".xml")]).waiting
    assert leaks(tmp_path) == []


def test_a_hook_does_not_offer_to_record_what_the_user_knows(memory: Memory, user: Memory, tmp_path: Path) -> None:
    user.failures.add("AssertionError: assert 'blue' == 'teal' in render", fix="repaint", name="blue")
    run = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "pytest"}}
    shown = []
    for stdout, status in (("AssertionError: assert 'blue' == 'teal' in render\n1 failed", 1), ("1 passed", 0)):
        response = {"tool_response": {"stdout": stdout, "stderr": "", "exit_code": status}}
        given = {"session_id": "s", "cwd": str(tmp_path), **run, **response}
        shown.append(memory.store.hook("claude-code", json.dumps(given)).text)
        (tmp_path / "render.py").write_text("colour = 'teal'\n")
    assert "repaint" in shown[0]
    assert shown[1] == ""
    assert memory.candidates.review().candidates == []


def test_what_the_user_knows_is_told_with_the_next_event_where_an_answer_came_too_late(
    memory: Memory, user: Memory, tmp_path: Path
) -> None:
    user.failures.add(ERROR, fix=f"pin {MARK}", name="gone")
    base = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": "PostToolUse", "tool_name": "Bash"}
    failing = {"tool_response": {"stdout": ERROR, "stderr": "", "exit_code": 2}, "tool_input": {"command": "make"}}
    other = {"tool_response": {"stdout": "a.py", "stderr": "", "exit_code": 0}, "tool_input": {"command": "ls"}}
    assert memory.store.hook("claude-code", json.dumps(base | failing), until=0).text == ""
    told = memory.store.hook("claude-code", json.dumps(base | other))
    assert (f"pin {MARK}" in told.text, told.refs) == (True, ["user:failure/gone"])
    assert memory.store.hook("claude-code", json.dumps(base | failing)).text == ""  # it was told once
    assert leaks(tmp_path) == []


def leaks(folder: Path) -> list[Path]:
    """Return the files of a project that hold what only the user's own store has."""
    return [path for path in folder.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()]
