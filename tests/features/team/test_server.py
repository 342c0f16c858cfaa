"""``graphmem team``: projects in a server, who is a member, and what a project's owner or administrator sees."""

import inspect
import json
import re
from pathlib import Path

import psycopg
import pytest
import yaml

from tests import standby
from tests.doors.cli.test_answers import Done, Graphmem, graphmem  # noqa: F401  # the fixture
from tests.postgres import postgres
from tests.redis_server import redis

ROOT = Path(__file__).parents[3]


@pytest.fixture
def url() -> str:
    """A database of its own with the role ``carla``, and the address of a project in it."""
    return postgres().new_project("carla")


def shown(url: str) -> str:
    return f"{url.partition('?')[0]}?project=shop"


def members(url: str) -> list[tuple[str, str, bool]]:
    with psycopg.connect(url.replace("&project=shop", "")) as owner:
        return owner.execute("SELECT role, project, writes FROM graphmem.member ORDER BY role").fetchall()


def test_an_owner_makes_a_project_lets_a_role_in_and_takes_it_out(graphmem: Graphmem, url: str) -> None:  # noqa: F811
    done = graphmem("team", "init", url)
    assert done.out.startswith("project shop is there: postgresql:///t")
    assert "user=" not in done.out
    graphmem("team", "init", url)
    assert graphmem("team", "grant", url, "carla").out.startswith("carla may read and write project shop")
    assert members(url) == [("carla", "shop", True), ("postgres", "shop", True)]
    assert graphmem("team", "grant", url, "carla", "--read").out.startswith("carla may read project shop")
    assert members(url)[0] == ("carla", "shop", False)
    assert graphmem("team", "revoke", url, "carla").out.startswith("carla was taken out of project shop")
    assert members(url) == [("postgres", "shop", True)]


def test_an_administrator_runs_the_same_as_sql(graphmem: Graphmem, url: str) -> None:  # noqa: F811
    for command in (("team", "init", url), ("team", "grant", url, "carla")):
        with psycopg.connect(url.replace("&project=shop", ""), autocommit=True) as admin:
            done = graphmem(*command, "--sql")
            assert done.err.endswith("run this as the owner of the tables\n")
            admin.execute(done.out)
    assert members(url) == [("carla", "shop", True), ("postgres", "shop", True)]


def test_what_is_wrong_is_one_line_without_a_password(graphmem: Graphmem, url: str) -> None:  # noqa: F811
    assert graphmem("team", "init", "mysql://ana:secret@db/x?project=shop").err.startswith(
        "error: the address of the server begins with 'mysql'"
    )
    graphmem("team", "init", url)
    assert graphmem("team", "grant", url, "who").err == (
        "error: the server has no role 'who'\nhint: its administrator makes it with: CREATE ROLE \"who\" LOGIN\n"
    )
    away = graphmem("team", "init", "postgresql://ana:secret@127.0.0.1:1/x?project=shop")
    assert (away.status, away.out) == (4, "")
    assert away.err.startswith("error: the server of the memory does not answer: ")
    assert "secret" not in away.err


def test_machines_share_a_memory_without_a_file_in_their_projects(
    graphmem: Graphmem,  # noqa: F811
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What one writes the other finds at once; each keeps what it has read below its own home."""
    graphmem("team", "init", url)
    graphmem("team", "grant", url, "carla")

    def on(machine: str) -> None:
        (tmp_path / machine / "project").mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(tmp_path / machine / "project")
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / machine / "state"))
        monkeypatch.setenv("GRAPHMEM_BY", machine)  # the server knows better
        role = "carla" if machine == "ana" else "postgres"
        monkeypatch.setenv("GRAPHMEM_STORE", url.replace("user=postgres", f"user={role}"))

    on("ana")
    trigger = ("--trigger", "port in use on startup", "--fix", "kill the old server")
    assert graphmem("add", "failure", "--name", "port", *trigger) == Done(0, "created failure/port\n", "")
    on("bo")
    assert graphmem("query", "port in use").out.startswith("failure/port\n")
    assert graphmem("edit", "port", "--tag", "net").status == 0
    on("ana")
    assert "by:             postgres via cli; created by carla via cli" in graphmem("get", "port").out
    refused = graphmem("undo")
    assert (refused.status, "changed since: failure/port" in refused.err) == (3, True)
    assert graphmem("type", "add", "entity", "room").status == 0
    worth = "where what was written is lost where the server dies soon after"  # the tests turn `fsync` off
    assert f"\nrows: in {shown(url)}, {worth}\n" in graphmem("status").out
    assert graphmem("validate") == Done(0, "all files are well\n", "")
    assert graphmem("doctor").err == ""
    on("bo")
    assert graphmem("add", "entity", "room", "attic").status == 0
    assert graphmem("export").err.startswith("error: the rows of this store are not in files")
    assert graphmem("export", "--to", str(tmp_path / "backup")).status == 0
    assert (tmp_path / "backup/types/entities/room.md").is_file()
    assert (tmp_path / "backup/data/failure.ndjson").read_bytes().count(b"\n") == 1
    for machine in ("ana", "bo"):
        assert list((tmp_path / machine / "project").iterdir()) == []


def test_the_history_of_a_memory_in_a_server_has_numbers(
    graphmem: Graphmem,  # noqa: F811
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``log``, ``diff`` and ``--at`` ask the server, and name who wrote as the server knows it."""
    graphmem("team", "init", url)
    monkeypatch.setenv("GRAPHMEM_STORE", url)
    graphmem("add", "failure", "--name", "port", "--trigger", "port in use on startup")
    graphmem("type", "add", "entity", "room")
    graphmem("edit", "port", "--fix", "kill the old server")
    graphmem("rename", "port", "busy-port")
    graphmem("add", "entity", "room", "attic")
    log = graphmem("history", "busy-port").out
    assert [line.split()[0] for line in log.splitlines() if line and line[0].isdigit()] == ["4", "3", "1"]
    assert log.count("postgres") == 3
    assert "failure/port" in graphmem("diff", "1..3").out
    changed = json.loads(graphmem("diff", "1", "--json").out)
    assert [(one["ref"], one["action"]) for one in changed["changes"]] == [
        ("failure/busy-port", "renamed"),
        ("room/attic", "created"),
        ("entity type/room", "created"),
    ]
    then = graphmem("list", "--at", "3")
    assert then.out.startswith("failure/port")
    assert "as of commit 3, " in then.err
    assert "fix" not in graphmem("get", "port", "--at", "2").out
    assert graphmem("list", "--at", "2020-01-01").err.startswith("error: there is no commit before 2020-01-01")
    assert graphmem("list", "--at", "main").err == (
        "error: 'main' is not a commit of this memory\nhint: a number up to 5, or a date\n"
    )
    assert graphmem("diff").err.startswith("error: which commits?")
    graphmem("purge", "busy-port", "--yes")
    assert "kill the old server" not in graphmem("list", "--at", "3", "--json").out + graphmem("diff", "1").out


def test_a_project_in_redis_is_made_and_used_and_its_users_are_let_in_by_the_administrator(
    graphmem: Graphmem,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = f"{redis().address}?project=till"
    assert graphmem("team", "init", url) == Done(0, f"project till is there: {url}\n", "")
    assert graphmem("team", "init", url, "--sql").err.startswith("error: there is no SQL that makes a project in Redis")
    granted = graphmem("team", "grant", url, "carla")
    assert granted.out.startswith("ACL SETUSER carla on ~graphmem:{till}:* +hgetall ")
    assert granted.err.endswith("run this as the administrator of the server, on each node of a cluster\n")
    read = graphmem("team", "grant", url, "carla", "--read").out
    assert read.startswith("ACL SETUSER carla on %R~graphmem:{till}:* +hgetall ") and "+eval" not in read
    assert graphmem("team", "revoke", url, "carla").out == "ACL SETUSER carla resetkeys\n"
    assert graphmem("team", "grant", url, "a b").err.startswith("error: the user of the server is 'a b'")
    away = graphmem("team", "init", "redis://ana:secret@127.0.0.1:1?project=till")
    assert away.err.startswith("error: the server of the memory does not answer: ") and "secret" not in away.err
    monkeypatch.setenv("GRAPHMEM_STORE", url)
    assert graphmem("add", "failure", "--name", "port", "--trigger", "port in use") == Done(
        0, "created failure/port\n", ""
    )
    assert graphmem("query", "port in use").out.startswith("failure/port\n")
    worth = "where what was written is on the server's disk (appendfsync always, min-replicas-to-write 0)"
    assert f"\nrows: in {url}, {worth}\n" in graphmem("status").out
    assert graphmem("validate") == Done(0, "all files are well\n", "")
    graphmem("edit", "port", "--fix", "wait")
    log = [line for line in graphmem("history", "port").out.splitlines() if not line.startswith(("2  20", "1  20"))]
    assert log == ["  changed failure/port", "    fix: none → wait", "  created failure/port"]
    assert "fix" not in graphmem("get", "port", "--at", "1").out
    assert "fix: none → wait" in graphmem("diff", "1").out
    assert graphmem("list", "--at", "2020-01-01").err.startswith("error: there is no commit before 2020-01-01")
    assert graphmem("team", "upgrade", url).err.startswith("error: a project in Redis has no tables")


def test_nothing_is_written_where_it_would_be_worth_less_than_the_user_requires(
    graphmem: Graphmem,  # noqa: F811
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graphmem("team", "init", url)
    monkeypatch.setenv("GRAPHMEM_STORE", url)
    monkeypatch.setenv("GRAPHMEM_TEAM_REQUIRE", "standby")
    add = ("add", "failure", "--trigger", "port in use")
    assert graphmem(*add) == Done(
        3,
        "",
        "error: what is written here is lost where the server dies soon after: nothing was written\n"
        "hint: team.require asks for a standby\n",
    )
    assert graphmem("list").out == ""
    monkeypatch.setenv("GRAPHMEM_TEAM_REQUIRE", "any")
    assert graphmem(*add).status == 0


def test_two_memories_at_once_are_refused(
    graphmem: Graphmem,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("GRAPHMEM_STORE", "postgresql:///x?project=shop")
    assert graphmem("--dir", str(tmp_path), "list").status == 0  # a folder that is named is the one that is meant
    monkeypatch.setenv("GRAPHMEM_DIR", str(tmp_path))
    assert graphmem("list").err.startswith("error: GRAPHMEM_STORE and GRAPHMEM_DIR name two memories")


def test_the_compose_file_of_the_guide_has_the_settings_that_are_tested() -> None:
    guide = (ROOT / "docs/guides/team.md").read_text(encoding="utf-8")
    services = yaml.safe_load(guide.partition("```yaml\n")[2].partition("```")[0])["services"]
    tested = inspect.getsource(standby)
    for word in re.findall(r"-c (\w+)=(\w+)", services["primary"]["command"]):
        assert word == ("synchronous_commit", "on") or f'"{word[0]}", "{word[1]}"' in tested  # on is what it is anyway
    assert "application_name=standby" in tested
    assert services["primary"]["image"] == services["standby"]["image"] == "postgres:15"
