"""``graphmem team``: projects in a server, who is a member, and what a project's owner or administrator sees."""

from itertools import count

import psycopg
import pytest

from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture
from tests.postgres import postgres

NUMBERS = count(1)


@pytest.fixture
def url() -> str:
    """A database of its own with the role ``carla``, and the address of a project in it."""
    name = f"t{next(NUMBERS)}"
    with psycopg.connect(postgres().address, autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = 'carla'").fetchone() is None:
            admin.execute("CREATE ROLE carla LOGIN")
        admin.execute(f"CREATE DATABASE {name}")
    return f"postgresql:///{name}?host={postgres().folder}&user=postgres&project=shop"


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
