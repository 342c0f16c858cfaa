"""The store of an organisation, asked beside that of a project: a folder, or a project in a server."""

import json
import os
from pathlib import Path

import psycopg
import pytest

from graphmem import Memory
from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture
from tests.postgres import postgres
from tests.sample import new_store, open_memory

ERROR = "ModuleNotFoundError: No module named 'pkg_resources'"


@pytest.fixture
def company(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of an organisation in a repository of its own, with a failure and a pattern."""
    folder = tmp_path_factory.mktemp("company")
    new_store(folder)
    monkeypatch.setenv("GRAPHMEM_STORES_ORGANISATION", str(folder))
    with open_memory(folder) as memory:
        fill(memory)
    return folder


def fill(memory: Memory) -> None:
    memory.failures.add(ERROR, name="gone", fix="pin setuptools below 81")
    memory.patterns.add("a push is refused", "sign the commits", name="sign")


def test_every_question_asks_it_and_says_so(graphmem: Graphmem, company: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "make.log").write_text(f"building\n{ERROR}\n")
    graphmem("add", "failure", "--name", "mine", "--trigger", ERROR)
    assert graphmem("query", "a push is refused").out.startswith("organisation:pattern/sign\n")
    assert json.loads(graphmem("query", "a push is refused", "--json").out)["results"][0]["store"] == "organisation"
    assert graphmem("match", "make.log").out.splitlines()[-1].strip() == "fix: pin setuptools below 81"
    assert "setuptools" not in graphmem("match", "make.log", "--format", "markdown").out
    assert graphmem("solutions", "failure/mine").out == "organisation:fix: pin setuptools below 81\n"
    assert "organisation:pattern/sign" in graphmem("context", "a push is refused").out
    assert f"your organisation's store: {company}, asked too" in graphmem("status").out
    written = [path for path in (tmp_path / ".graphmem").rglob("*") if path.is_file()]
    assert [path for path in written if b"pin setuptools" in path.read_bytes()] == []


def test_the_users_own_store_is_asked_before_it(
    graphmem: Graphmem,  # noqa: F811
    company: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = tmp_path_factory.mktemp("own")
    monkeypatch.setenv("GRAPHMEM_USER_STORE", str(own))
    graphmem("init", "--user")
    graphmem("--user", "add", "failure", "--name", "gone", "--trigger", ERROR, "--fix", "vendor it")
    graphmem("add", "failure", "--name", "mine", "--trigger", ERROR)
    fixes = ["user:fix: vendor it", "organisation:fix: pin setuptools below 81"]
    assert graphmem("solutions", "failure/mine").out.splitlines() == fixes
    mixed = graphmem("link", "user:failure/gone", "related_to", "organisation:failure/gone")
    assert (mixed.status, "two stores" in mixed.err) == (2, True)


def test_a_record_goes_there_and_comes_from_there(graphmem: Graphmem, company: Path) -> None:  # noqa: F811
    graphmem("add", "pattern", "--name", "pin", "--trigger", "A build tool dropped a module", "--insight", "Pin it")
    assert graphmem("promote", "pattern/pin", "--to", "organisation").out == "created organisation:pattern/pin\n"
    assert graphmem("promote", "pattern/pin", "--to", "organisation").out == "unchanged organisation:pattern/pin\n"
    assert graphmem("adopt", "organisation:pattern/sign").out == "created pattern/sign\n"
    assert "helped 1" in graphmem("feedback", "organisation:failure/gone", "--helped").out
    with open_memory(company) as memory:
        assert memory.get("pattern/pin").record.headline == "A build tool dropped a module"


def test_a_project_names_none_and_a_wrong_one_is_said(
    graphmem: Graphmem,  # noqa: F811
    company: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRAPHMEM_STORES_ORGANISATION", "postgresql://u:secret@host/db")
    assert "names no project" in (said := graphmem("query", "a push is refused").err) and "secret" not in said
    monkeypatch.delenv("GRAPHMEM_STORES_ORGANISATION")
    (tmp_path / ".graphmem/config.toml").write_text(f'format = 1\n[stores]\norganisation = "{company}"\n')
    found = graphmem("query", "a push is refused")
    assert found.out == "" and "ignored: stores of the project, which cannot name servers" in found.err
    promoted = graphmem("promote", "pattern/x", "--to", "organisation")
    assert (promoted.status, "stores.organisation in your own config file" in promoted.err) == (4, True)
    monkeypatch.setenv("GRAPHMEM_STORES_ORGANISATION", "postgresql://u:xyzzy@host/db?project=org")
    assert "postgresql://host/db?project=org" in (shown := graphmem("config").out) and "xyzzy" not in shown
    monkeypatch.setenv("GRAPHMEM_STORES_ORGANISATION", "/nowhere")
    gone = graphmem("query", "a push is refused")
    assert (gone.status, "the organisation's store was not asked: '/nowhere' holds no" in gone.err) == (0, True)


def test_a_server_is_looked_at_once_a_minute_and_may_be_away(
    graphmem: Graphmem,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine, others = (str(tmp_path_factory.mktemp("state")) for _ in range(2))
    monkeypatch.setenv("XDG_STATE_HOME", others)
    url = postgres().new_project("org")
    assert graphmem("team", "init", url).status == 0
    with Memory(url) as memory:
        fill(memory)
        monkeypatch.setenv("XDG_STATE_HOME", mine)
        monkeypatch.setenv("GRAPHMEM_STORES_ORGANISATION", url)
        assert graphmem("query", "a push is refused").out.startswith("organisation:pattern/sign\n")
        graphmem("query", "a push is refused")
        (looked,) = Path(mine).rglob("looked")
        memory.patterns.add("the release is late", "cut it on Monday", name="late")
    os.utime(looked, (looked.stat().st_mtime - 30,) * 2)
    assert graphmem("query", "the release is late").out == ""
    os.utime(looked, (looked.stat().st_mtime - 31,) * 2)
    assert graphmem("query", "the release is late").out.startswith("organisation:pattern/late\n")
    assert graphmem("get", "organisation:pattern/late").status == 0
    with psycopg.connect(postgres().address, autocommit=True) as admin:
        (name,) = (part.rpartition("/")[2] for part in (url.partition("?")[0],))
        admin.execute(f'ALTER DATABASE "{name}" RENAME TO "{name}-away"')
    os.utime(looked, (looked.stat().st_mtime - 61,) * 2)
    away = graphmem("query", "the release is late")
    assert away.out.startswith("organisation:pattern/late\n") and "; it was last read 20" in away.err


def test_what_it_pinned_is_in_every_briefing(graphmem: Graphmem, company: Path) -> None:  # noqa: F811
    with open_memory(company) as memory:
        memory.pin("pattern/sign")
    shown = graphmem("prime").out
    assert "organisation:pattern/sign" in shown and "sign the commits" in shown
    assert "organisation:pattern/sign" in json.loads(graphmem("prime", "--json").out)["refs"]
