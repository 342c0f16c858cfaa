"""Code anchors: what is cited is compared with the working tree, and answers say what became of it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import BadInput, Memory
from graphmem.core.evidence.citation_contract import Cited
from graphmem.doors.cli.app import run
from tests.repository import Repository
from tests.sample import data, failure, open_memory, write

AUTH = '''def login(user):
    """Log in."""
    return user


class Token:
    def refresh(self):
        return 1
'''


@pytest.fixture(autouse=True)
def _git_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    """A repository with code, and below its top the project."""
    made = Repository(tmp_path / "repository")
    root = made.folder / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.py").write_text(AUTH)
    (root / "conf.yml").write_text("limit: 3\nretry: 5\ntimeout: 10\n")
    made.commit("the code")
    return made


@pytest.fixture
def memory(project: Repository) -> Iterator[Memory]:
    with open_memory(project.folder / "project") as made:
        yield made


def root_of(memory: Memory) -> Path:
    return memory.store.client.root


def edited(memory: Memory, path: str, old: str, new: str) -> None:
    """Change a file of the project."""
    file = root_of(memory) / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def states(memory: Memory, ref: str = "a") -> list[tuple[str, str | None]]:
    return [(one.state, one.moved_to) for one in memory.get(ref).cites]


def cite(memory: Memory, *cites: str, name: str = "a") -> None:
    memory.failures.add(f"{name} went wrong", name=name, cites=list(cites))


# --- what becomes of cited code ------------------------------------------------------------------------------------


def test_a_symbol_is_fresh_wherever_it_moves_in_its_file(memory: Memory) -> None:
    cite(memory, "src/auth.py:login", "src/auth.py:Token.refresh")
    assert states(memory) == [("fresh", None)] * 2
    edited(memory, "src/auth.py", "def login", "import os\n\n\ndef before():\n    pass\n\n\ndef login")
    assert states(memory) == [("fresh", None)] * 2
    edited(memory, "src/auth.py", "return 1", "return 2")
    assert [(one.symbol, one.state) for one in memory.get("a").cites] == [
        ("Token.refresh", "changed"),
        ("login", "fresh"),
    ]


def test_line_ends_make_no_difference(memory: Memory) -> None:
    cite(memory, "src/auth.py:login", "src/auth.py", "conf.yml:retry")
    for path in ("src/auth.py", "conf.yml"):
        file = root_of(memory) / path
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert states(memory) == [("fresh", None)] * 3


def test_what_is_nothing_that_a_file_defines_is_the_lines_that_name_it(memory: Memory) -> None:
    cite(memory, "conf.yml:retry")
    edited(memory, "conf.yml", "limit: 3", "limit: 4")
    assert states(memory) == [("fresh", None)]
    edited(memory, "conf.yml", "retry: 5", "retry: 6")
    assert states(memory) == [("changed", None)]
    edited(memory, "conf.yml", "retry: 6\n", "")
    assert states(memory) == [("gone", None)]


def test_a_renamed_file_is_followed_before_and_after_the_commit(memory: Memory, project: Repository) -> None:
    cite(memory, "src/auth.py:login", "conf.yml")
    project("mv", "project/src/auth.py", "project/src/account.py")
    project("mv", "project/conf.yml", "project/settings.yml")
    assert states(memory) == [("moved", "settings.yml"), ("moved", "src/account.py")]
    project.commit("renamed")
    assert states(memory) == [("moved", "settings.yml"), ("moved", "src/account.py")]
    project("mv", "project/settings.yml", "project/src/settings.yml")
    project.commit("renamed again")
    assert states(memory)[0] == ("moved", "src/settings.yml")
    edited(memory, "src/account.py", "return user", "return None")
    edited(memory, "src/settings.yml", "5", "6")
    assert states(memory) == [("changed", "src/settings.yml"), ("changed", "src/account.py")]
    edited(memory, "src/account.py", "def login", "def log_in")
    (root_of(memory) / "src" / "settings.yml").unlink()
    assert states(memory) == [("gone", None), ("changed", "src/account.py")]


def test_a_definition_that_went_to_another_file_is_found_there(memory: Memory) -> None:
    cite(memory, "src/auth.py:login")
    text = (root_of(memory) / "src/auth.py").read_text()
    login, token = text.split("\n\n\n")
    (root_of(memory) / "src/auth.py").write_text(f"from src.account import login\n\n\n{token}")
    (root_of(memory) / "src/account.py").write_text(f"import os\n\n\n{login}\n")
    assert states(memory) == [("moved", "src/account.py")]
    edited(memory, "src/account.py", "return user", "return None")
    assert states(memory) == [("changed", None)]  # it is named, and not as it was
    edited(memory, "src/auth.py", "from src.account import login\n", "")
    assert states(memory) == [("gone", None)]


def test_a_copy_elsewhere_does_not_hide_a_change(memory: Memory) -> None:
    cite(memory, "src/auth.py:login")
    (root_of(memory) / "src/copy.py").write_text(AUTH)
    edited(memory, "src/auth.py", "return user", "return None")
    assert states(memory) == [("changed", None)]


def test_without_a_repository_a_missing_file_is_gone(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        (tmp_path / "a.py").write_text(AUTH)
        cite(memory, "a.py:login")
        assert states(memory) == [("fresh", None)]
        (tmp_path / "a.py").unlink()
        assert states(memory) == [("gone", None)]


def test_a_commit_says_where_the_text_is_taken_from(memory: Memory, project: Repository) -> None:
    first = project("rev-parse", "HEAD")
    edited(memory, "src/auth.py", "return user", "return None")
    project.commit("changed")
    cite(memory, "src/auth.py:login", name="now")
    cite(memory, "src/auth.py:login@HEAD~1", name="then")
    (kept,) = memory.get("then").record.model_dump()["cites"]
    assert kept.startswith(f"src/auth.py:login@{first[:12]}#")
    assert (states(memory, "now"), states(memory, "then")) == ([("fresh", None)], [("changed", None)])
    cite(memory, "conf.yml@2026-11-02", name="dated")
    assert memory.get("dated").cites[0].cite.startswith(f"conf.yml@{first[:12]}#")


def test_a_cite_that_has_its_hash_stays_as_it_is(memory: Memory) -> None:
    cite(memory, "src/auth.py:login")
    kept = memory.get("a").record.model_dump()["cites"]
    edited(memory, "src/auth.py", "return user", "return None")
    memory.patterns.add("when login loops", "clear the cookie", name="b", cites=kept)
    assert memory.get("b").record.model_dump()["cites"] == kept
    assert states(memory, "b") == [("changed", None)]
    with pytest.raises(BadInput):
        memory.patterns.add("t", "i", cites=[3])  # type: ignore[list-item]


def test_of_two_texts_of_one_place_the_one_that_is_there_counts(memory: Memory) -> None:
    cite(memory, "src/auth.py:login")
    edited(memory, "src/auth.py", "return user", "return None")
    cite(memory, "src/auth.py:login")
    assert len(memory.get("a").record.model_dump()["cites"]) == 2  # as two branches would leave it
    assert states(memory) == [("fresh", None)]
    memory.edit("a", {"cites": ["src/auth.py:login"]})
    assert len(memory.get("a").record.model_dump()["cites"]) == 1
    memory.edit("a", {}, unset=["cites"])
    assert states(memory) == []


def test_a_merged_duplicate_brings_its_cites(memory: Memory) -> None:
    memory.failures.add("ValueError: login loops in line 4", name="a", cites=["src/auth.py:login"])
    answer = memory.failures.add("ValueError: login loops in line 7", name="b", cites=["conf.yml"])
    assert answer.action == "merged"
    assert [one.path for one in memory.get("a").cites] == ["conf.yml", "src/auth.py"]


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("../x", "not one from the project's root"),
        ("/etc/passwd", "not one from the project's root"),
        ("src", "not a regular file"),
        ("src/nope.py", "no such file"),
        ("src/auth.py:nope", "nothing in src/auth.py is named 'nope'"),
        ("src/auth.py:12", "line number"),
        ("src/auth.py@nope", "not a commit"),
        ("src/nope.py@HEAD", "has no such file"),
        ("src@HEAD", "has no such file"),
        ("out.py", "link out of the project"),
        ("pipe", "not a regular file"),
        ("huge", "more than 1 MiB"),
        ("", "no path"),
    ],
)
def test_what_is_not_there_is_not_cited(memory: Memory, text: str, why: str) -> None:
    root = root_of(memory)
    (root / "out.py").symlink_to(root.parent.parent / "outside.py")
    (root.parent.parent / "outside.py").write_text(AUTH)
    os.mkfifo(root / "pipe")
    (root / "huge").write_bytes(b"x" * (2**20 + 1))
    for act in (lambda: cite(memory, text), lambda: memory.lessons.add("d", cites=[text])):
        with pytest.raises(BadInput, match=why) as error:
            act()
        assert error.value.hint
    assert memory.list().total == 0


def test_a_path_that_is_nearly_right_is_told(memory: Memory) -> None:
    for text in ("./src/auth.py:login", "src/../src/auth.py:login", f"{root_of(memory)}/src/auth.py:login"):
        with pytest.raises(BadInput) as error:
            cite(memory, text)
        assert "'src/auth.py:login' would be" in str(error.value.hint)


def test_a_link_inside_of_the_project_is_followed(memory: Memory) -> None:
    (root_of(memory) / "link.py").symlink_to("src/auth.py")
    cite(memory, "link.py:login")
    assert states(memory) == [("fresh", None)]
    edited(memory, "src/auth.py", "return user", "return None")
    assert states(memory) == [("changed", None)]


# --- rows that anyone wrote ----------------------------------------------------------------------------------------


def test_what_a_row_cites_is_opened_only_where_it_is_a_file_of_the_project(memory: Memory) -> None:
    root = root_of(memory)
    outside = root.parent.parent / "outside.py"
    outside.write_text(AUTH)
    (root / "out.py").symlink_to(outside)
    (root / "far").symlink_to(root.parent.parent)
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    (root / "huge").write_bytes(b"x" * (2**20 + 1))
    cite(memory, "src/auth.py")
    digest = memory.get("a").cites[0].cite.partition("#")[2]
    paths = ["out.py", "far/outside.py", "pipe", "huge", "src", "../../outside.py", str(outside), "loop", "x" * 900,
             "y" * 200_000, "a\x1b[2Jb", "", ":", "#"]  # fmt: skip
    cites = sorted(f"{path}#{digest}" for path in paths)
    write(data(root, "failure"), failure("a", cites=cites), failure("b", cites=["src/auth.py", "src/auth.py:login@x"]))
    assert {state for state, _ in states(memory)} <= {"unknown", "gone"}
    seen = {one.path for one in memory.get("a").cites if one.state != "unknown"}
    assert seen == {"x" * 900, "#"}  # they are nowhere, and that is all that is said
    assert states(memory, "b") == [("unknown", None)] * 2
    assert memory.query("went wrong").results[0].factors.freshness == 1.0
    assert memory.store.validate().ok


def test_of_a_record_with_very_many_cites_the_first_are_compared(memory: Memory) -> None:
    cites = [f"src/auth.py:f{number:04}#0123456789abcdef" for number in range(5000)]
    write(data(root_of(memory), "failure"), failure("a", cites=cites))
    assert [state for state, _ in states(memory)] == ["gone"] * 20 + ["unknown"] * 4980


@pytest.mark.long
def test_one_answer_looks_through_four_mebibytes(memory: Memory) -> None:
    (root_of(memory) / "big.py").write_text("x = 1\n" * 150_000 + AUTH)  # 0.86 MiB
    for name in "abcdef":
        memory.failures.add(f"It went wrong in {name}", name=name, dedup=False, cites=["big.py:login"])
    found = [hit.cites[0].state for hit in memory.query("went wrong").results]
    assert found == ["fresh"] * 4 + ["unknown"] * 2
    assert {memory.get(name).cites[0].state for name in "abcdef"} == {"fresh"}
    edited(memory, "big.py", "return user", "return None")
    assert len(memory.stale().results) == 6  # it looks through everything


def test_one_answer_asks_git_twenty_questions(memory: Memory) -> None:
    for number in range(25):
        (root_of(memory) / f"a{number}.py").write_text(f"def f{number}(): pass\n")
        cites = [f"a{number}.py:f{number}"]
        memory.failures.add(f"It went wrong in {number}", name=f"n{number}", dedup=False, cites=cites)
        (root_of(memory) / f"a{number}.py").write_text("")
        (root_of(memory) / f"b{number}.py").write_text(f"def f{number}(): pass\n")
    found = [hit.cites[0].state for hit in memory.query("went wrong", limit=25).results]
    assert set(found) == {"moved", "gone"}
    assert found.count("moved") <= 20  # fewer where git is slow
    assert [one.cites[0].state for one in memory.stale().results] == ["moved"] * 25


def test_rows_that_are_added_in_bulk_are_taken_as_they_are(memory: Memory) -> None:
    memory.add_rows([failure("a", cites=["src/auth.py:login", "src/auth.py#0123456789abcdef"])])
    assert states(memory) == [("changed", None), ("unknown", None)]


def test_the_past_is_not_compared(memory: Memory, project: Repository) -> None:
    cite(memory, "src/auth.py:login")
    project.commit("cited")
    edited(memory, "src/auth.py", "return user", "return None")
    with Memory(root_of(memory), at="HEAD") as past:
        assert states(past) == [("unknown", None)]
        assert past.query("went wrong").results[0].factors.freshness == 1.0


# --- ranking and answers -------------------------------------------------------------------------------------------


def test_a_stale_record_gives_way_inside_its_band_and_is_never_hidden(memory: Memory) -> None:
    for name in ("old", "new", "other"):
        memory.failures.add(
            f"The {name} login page loops for ever", name=name, dedup=False, cites=["src/auth.py:login"]
        )
    memory.edit("old", {"cost": 3})
    assert memory.query("login page loops", profile="classic").results[0].ref == "failure/old"
    edited(memory, "src/auth.py", "return user", "return None")
    memory.edit("new", {"cites": ["src/auth.py:login"]})
    memory.edit("other", {"cites": ["src/auth.py:login"]})
    found = memory.query("login page loops", profile="classic").results
    assert [hit.ref.partition("/")[2] for hit in found][2] == "old"
    assert [hit.factors.freshness for hit in found] == [1.0, 1.0, 0.5]
    factors = found[2].factors
    product = found[2].relevance * factors.cost * factors.help_ratio * factors.age_decay * factors.freshness
    assert found[2].score == pytest.approx(product)
    for limit in (1, 2, 3):  # what gives way lets in what a shorter list would not have looked at
        assert [hit.ref for hit in memory.query("login page loops", limit=limit, profile="classic").results] == [
            hit.ref for hit in found[:limit]
        ]
    exact = memory.query("failure/old").results[0]
    assert (exact.ref, exact.factors.freshness) == ("failure/old", 0.5)  # the band comes first


def test_moved_code_is_told_and_costs_nothing(memory: Memory, project: Repository) -> None:
    cite(memory, "src/auth.py:login")
    project("mv", "project/src/auth.py", "project/src/account.py")
    (hit,) = memory.query("went wrong").results
    assert (hit.factors.freshness, hit.cites[0].state, hit.cites[0].moved_to) == (1.0, "moved", "src/account.py")


def test_stale_lists_what_is_not_as_it_was_and_where_it_was(memory: Memory, project: Repository) -> None:
    assert (memory.stale().results, memory.stale().checked) == ([], 0)
    cite(memory, "src/auth.py:login", name="changed")
    cite(memory, "src/auth.py:Token", name="fresh")
    memory.patterns.add("when it moves", "follow it", name="moved", cites=["conf.yml"])
    memory.lessons.add("never log in twice", name="lesson", cites=["src/auth.py:login"])
    cite(memory, "src/auth.py:login", name="archived")
    memory.forget("archived")
    edited(memory, "src/auth.py", "return user", "return None")
    project("mv", "project/conf.yml", "project/settings.yml")
    answer = memory.stale()
    found = [(one.ref, one.cites[0].state) for one in answer.results]
    assert found == [("failure/changed", "changed"), ("lesson/lesson", "changed"), ("pattern/moved", "moved")]
    assert answer.checked == 4


def test_context_quotes_where_the_code_is_and_what_became_of_it(memory: Memory) -> None:
    memory.failures.add("The login page loops", name="loop", cites=["src/auth.py:login"])
    memory.patterns.add("when login loops", "clear the cookie", name="clear", cites=["conf.yml"])
    memory.relations.link("pattern/clear", "solves", "failure/loop")
    memory.lessons.add("ask before a login", type="preference", cites=["src/auth.py:Token"])
    (root_of(memory) / "conf.yml").unlink()
    edited(memory, "src/auth.py", "return 1", "return 2")
    block = memory.context("login page loops")
    assert "  > code: src/auth.py:login\n" in block.text
    assert "  > code: conf.yml, no longer there: check before use\n" in block.text
    assert "  > code: src/auth.py:Token, changed since: check before use\n" in block.text
    assert [one.state for entry in block.entries for one in entry.cites] == ["fresh", "gone", "changed"]


def test_what_solves_says_whether_its_code_is_as_it_was(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.failures.add("login loops", name="loop", match="login loops", cites=["conf.yml"])
    memory.patterns.add("when login loops", "clear the cookie", name="clear", cites=["src/auth.py:login"])
    memory.relations.link("clear", "solves", "loop")
    edited(memory, "src/auth.py", "return user", "return None")
    assert [one.state for one in memory.solutions("loop").results[0].cites] == ["changed"]
    assert [one.state for one in memory.match([b"login loops\n"]).results[0].cites] == ["fresh", "changed"]
    monkeypatch.chdir(root_of(memory))
    (tmp_path / "log").write_text("login loops\n")
    assert run(["solutions", "loop"]) == 0
    assert "    ! cites src/auth.py:login (changed)\n" in capsys.readouterr().out
    assert run(["match", str(tmp_path / "log")]) == 0
    assert "    pattern/clear: ! cites src/auth.py:login (changed)  clear the cookie\n" in capsys.readouterr().out


def test_the_commands_say_it_in_words_and_in_json(
    memory: Memory, project: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root_of(memory))
    assert run(["add", "failure", "--trigger", "It loops", "--name", "a", "--cite", "src/auth.py:login"]) == 0
    assert run(["edit", "a", "--cite", "src/auth.py:Token.refresh", "--cite", "conf.yml@HEAD"]) == 0
    project("mv", "project/conf.yml", "project/settings.yml")
    edited(memory, "src/auth.py", "return 1", "return 2")
    capsys.readouterr()
    assert run(["get", "a"]) == 0
    assert "  cites:          src/auth.py:Token.refresh (changed)\n" in capsys.readouterr().out
    assert run(["query", "It loops", "--explain"]) == 0
    printed = capsys.readouterr().out
    assert "    ! cites src/auth.py:Token.refresh (changed)\n" in printed
    assert "× freshness 0.500" in printed
    assert run(["stale"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("failure/a\n    ! cites src/auth.py:Token.refresh (changed)\n    cites conf.yml@")
    assert "(moved, now settings.yml)\n" in out
    assert "1 of 1 record with cites" in err
    assert run(["stale", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert [Cited.model_validate(one).state for one in found["cites"]] == ["moved", "changed"]


def test_the_graph_knows_what_is_cited(memory: Memory) -> None:
    cite(memory, "src/auth.py:login")
    rows = memory.cypher("MATCH (f:Failure) WHERE size(f.cites) > 0 RETURN f.cites[1] AS cite").rows
    assert str(rows[0][0]).startswith("src/auth.py:login#")
