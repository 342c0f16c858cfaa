"""The user's own store on the command line: ``--user``, marked references, ``promote`` and ``adopt``."""

import json
from pathlib import Path

import pytest

from graphmem import Memory
from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture

ERROR = "ModuleNotFoundError: No module named 'pkg_resources'"


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the user's own store, empty yet."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.delenv("GRAPHMEM_USER_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    return home / "graphmem"


def test_init_makes_it_and_every_command_works_on_it(graphmem: Graphmem, own: Path) -> None:  # noqa: F811
    missing = graphmem("--user", "list")
    assert (missing.status, "graphmem init --user" in missing.err) == (4, True)
    made = graphmem("init", "--user")
    assert made.out.splitlines()[0] == f"made {own}/.graphmem"
    assert "promote REF --to user" in made.out
    assert graphmem("init", "--user").out == f"already set up: {own}/.graphmem\n"
    assert graphmem("--user", "add", "pattern", "--trigger", "a push is refused", "--insight", "sign").status == 0
    assert graphmem("list", "--user").out == "pattern/a-push-is-refused  a push is refused\n"
    assert graphmem("list").out == ""
    assert Memory(own).get("pattern/a-push-is-refused").record.headline == "a push is refused"
    assert (own / ".graphmem").stat().st_mode & 0o777 == 0o700  # of all projects: a home may be for all to read
    link = own.parent / "link"
    link.symlink_to(own)
    for words in (("--user",), ("--dir", str(own)), ("--dir", str(link))):
        (own / ".graphmem").chmod(0o755)
        assert graphmem("init", *words).status == 0
        assert (own / ".graphmem").stat().st_mode & 0o777 == 0o700


def test_a_marked_reference_is_taken_wherever_a_record_is_named(graphmem: Graphmem, own: Path) -> None:  # noqa: F811
    graphmem("init", "--user")
    graphmem("--user", "add", "failure", "--name", "gone", "--trigger", ERROR, "--fix", "pin setuptools")
    graphmem("add", "failure", "--name", "mine", "--trigger", "KeyError: 'price'")
    assert graphmem("query", ERROR).out.splitlines()[0].startswith("user:failure/gone")
    found = json.loads(graphmem("query", ERROR, "--json").out)["results"][0]
    assert (found["store"], found["ref"]) == ("user", "failure/gone")
    assert graphmem("get", "user:failure/gone").out.splitlines()[0] == "failure/gone"
    assert "helped 1" in graphmem("feedback", "user:failure/gone", "--helped").out
    assert graphmem("edit", "user:failure/gone", "--fix", "vendor it").status == 0
    assert graphmem("solutions", "user:failure/gone").out.splitlines()[0] == "fix: vendor it"
    graphmem("--user", "add", "failure", "--name", "open", "--trigger", "OSError: disk is full")
    unsolved = graphmem("solutions", "user:failure/open").err
    assert "nothing solves failure/open yet" in unsolved and "graphmem --user edit failure/open --fix" in unsolved
    mixed = graphmem("link", "user:failure/gone", "related_to", "failure/mine")
    assert (mixed.status, "two stores" in mixed.err) == (2, True)
    add = ("add", "failure", "--trigger", "TypeError: x", "--supersedes", "user:failure/gone")
    for line in (add, ("session", "note", "--used", "user:failure/gone")):
        about = graphmem(*line)
        assert (about.status, "works on the project" in about.err) == (2, True)
    assert graphmem("--user", *add).out.splitlines()[0] == "created failure/typeerror-x"
    assert graphmem("--user", "undo").status == 0
    both = graphmem("--dir", ".", "get", "user:failure/gone")
    assert (both.status, "two stores" in both.err) == (2, True)
    missing = graphmem("get", "user:failure/none")
    assert (missing.status, missing.err.splitlines()[0]) == (1, "error: nothing is named 'failure/none'")


def test_what_it_says_to_run_works_on_it(graphmem: Graphmem, own: Path) -> None:  # noqa: F811
    assert "hint: make one with: graphmem init --user" in graphmem("--user", "list").err
    graphmem("init", "--user")
    assert "import --all" in graphmem("list").err and "--user" not in graphmem("list").err
    assert ": graphmem --user stats --objective" in graphmem("--user", "stats", "--objective", " ").err
    assert "hint: see: graphmem --user list" in graphmem("get", "user:failure/none").err
    assert json.loads(graphmem("--json", "get", "user:x").err)["error"]["hint"] == "see: graphmem --user list"
    assert "hint: see: graphmem list" in graphmem("get", "failure/none").err


def test_a_log_is_compared_with_it_line_by_line(graphmem: Graphmem, own: Path, tmp_path: Path) -> None:  # noqa: F811
    graphmem("init", "--user")
    graphmem("--user", "add", "failure", "--name", "gone", "--trigger", ERROR, "--fix", "pin setuptools")
    (tmp_path / "make.log").write_text(f"building\n{ERROR}\nmake: *** [all] Error 1\n")
    assert graphmem("match", "make.log").out.startswith("user:failure/gone  line 2  [the same line]")
    assert "setuptools" not in graphmem("match", "make.log", "--format", "markdown").out
    found = graphmem("ran", "--", "sh", "-c", "cat make.log; exit 2")
    assert "user:failure/gone  [the same line]" in found.out + found.err


def test_promote_and_adopt_say_where_the_copy_is(graphmem: Graphmem, own: Path) -> None:  # noqa: F811
    graphmem("init", "--user")
    graphmem("add", "pattern", "--name", "pin", "--trigger", "a tool dropped a module", "--insight", "pin tools")
    assert graphmem("promote", "pattern/pin", "--to", "user").out == "created user:pattern/pin\n"
    assert graphmem("promote", "pattern/pin").out == "unchanged user:pattern/pin\n"
    graphmem("--user", "forget", "pattern/pin")
    assert "user:pattern/pin is archived" in graphmem("promote", "pattern/pin", "--to", "user").err
    graphmem("--user", "add", "pattern", "--name", "sign", "--trigger", "a push is refused", "--insight", "sign")
    assert graphmem("adopt", "user:pattern/sign").out == "created pattern/sign\n"
    assert graphmem("adopt", "pattern/sign").out == "unchanged pattern/sign\n"


def test_another_folder_is_refused_beside_it_in_any_order(graphmem: Graphmem, own: Path) -> None:  # noqa: F811
    graphmem("init", "--user")
    add = ("add", "pattern", "--trigger", "a push is refused", "--insight", "sign")
    here = ("--dir", ".")
    for line in (("--user", *here, *add), (*here, "--user", *add), ("--user", *add, *here), (*add, "--user", *here)):
        found = graphmem(*line)
        assert (found.status, "two stores" in found.err) == (2, True)
    assert graphmem("list").out == graphmem("--user", "list").out == ""
    assert graphmem("--user", "--dir", f"{own}/", *add).status == 0  # the same one


def test_the_demo_does_not_fill_it(graphmem: Graphmem, own: Path) -> None:  # noqa: F811
    for line in (("--user", "demo"), ("demo", "--user")):
        found = graphmem(*line)
        assert (found.status, "without --user" in found.err, own.exists()) == (2, True, False)


def test_it_is_turned_off_by_an_empty_variable(
    graphmem: Graphmem,  # noqa: F811
    own: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graphmem("init", "--user")
    graphmem("--user", "add", "pattern", "--name", "sign", "--trigger", "a push is refused", "--insight", "sign")
    assert "user:pattern/sign" in graphmem("query", "a push is refused").out
    assert f"your own store: {own}, asked too\n" in graphmem("status").out
    assert "your own store" not in graphmem("--user", "status").out
    monkeypatch.setenv("GRAPHMEM_USER_STORE", "")
    assert graphmem("query", "a push is refused").out == ""
    assert "your own store" not in graphmem("status").out
    off = graphmem("--user", "list")
    assert (off.status, "turned off" in off.err) == (2, True)


def test_a_client_is_not_set_up_for_the_store_of_a_user(graphmem: Graphmem, own: Path) -> None:  # noqa: F811
    graphmem("init", "--user")
    found = graphmem("--user", "install", "codex")
    assert (found.status, "graphmem install CLIENT --user" in found.err) == (2, True)


def test_what_was_asked_and_ran_is_for_this_user_alone_in_a_project_too(
    graphmem: Graphmem,  # noqa: F811
    own: Path,
    tmp_path: Path,
) -> None:
    graphmem("init", "--user")
    graphmem("add", "failure", "--trigger", ERROR, "--fix", "pin setuptools")
    graphmem("query", ERROR)
    graphmem("context", "pin setuptools")
    graphmem("ran", "--", "sh", "-c", f'echo "{ERROR}"; false')
    graphmem("undo")
    for store in (tmp_path / ".graphmem", own / ".graphmem"):
        kept = [path for path in (store / "state").rglob("*") if path.is_file()]
        assert {path.stat().st_mode & 0o077 for path in kept} == {0}
        assert all(path.stat().st_mode & 0o044 for path in (store / "data").iterdir())
    assert {"state.db", "undo"} <= {path.name for path in (tmp_path / ".graphmem/state").iterdir()}
