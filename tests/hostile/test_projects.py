"""
Projects of one server, and scopes of one memory in it, try to get at what is not theirs.

Each has words that are in no question. What a role, a user of Redis or a token is told has none of another's, and what
the other has in the server stays as it is.
"""

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from redis import Redis
from redis.exceptions import ResponseError

from graphmem import GraphmemError, Memory
from graphmem.errors import Usage
from graphmem.kernel.ledger.redis.schema import grant_commands, key
from graphmem.kernel.registry import OPERATIONS
from graphmem.kernel.settings.address import ServerAddress
from graphmem.names import SLUG
from tests.contract.test_scope import ASKED
from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture
from tests.doors.http.served import serve
from tests.doors.service.project import Project, stopped
from tests.hostile.test_everything import COMMANDS
from tests.postgres import postgres
from tests.redis_server import one_server, redis

WORDS = {"shop": "quagga", "mill": "zanzibar"}  # a word that only one project has
MEMBERS = {"shop": "ana", "mill": "bo"}
OF_THE_FOLDER = ("install", "uninstall", "ledger", "team", "graph")  # commands that are about no project of a server
HOSTILE_NAMES = [
    "", " ", "shop'; DROP SCHEMA graphmem CASCADE; --", 'shop"', "{shop}", "shop}:{mill", "a/b", "../mill", "a\\b",
    "%", "%s", "shop%", "shop\n", "\nshop", "shop\x00", "shop*", "[s]hop", "s?op", "Shop", "SHOP", "ｓｈｏｐ", "ѕhop",
    "shоp", "shop\u200b", "shop\u00a0", "ſhop", "1٠", "x" * 121, "x" * 100_000,
]  # fmt: skip
NEAR_NAMES = ["a", "a.", "a-", ".", "..", "a.b", "a-b", "x" * 120, "x" * 119]


@pytest.fixture
def cli(
    graphmem: Graphmem,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Graphmem]:
    """The command line on a machine that has read nothing yet, with a memory in a server."""

    def on(machine: str, url: str) -> Graphmem:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / machine))
        monkeypatch.setenv("GRAPHMEM_STORE", url)
        return graphmem

    return on


def fill(run: Graphmem, word: str) -> None:
    """Fill a project with rows of several kinds that have its word, and with a history of them."""
    lines = [
        {"kind": "failure", "name": "pump", "trigger": f"the pump of the {word} is dry", "fix": f"water the {word}"},
        {"kind": "pattern", "name": "calm", "trigger": f"a {word} is loud", "insight": f"hush the {word}"},
        {"kind": "lesson", "name": "late", "type": "preference", "text": f"{word} first"},
    ]
    for command in (
        *(["add", "failure", "--name", one, "--trigger", f"{one} of the {word}"] for one in (f"{word}-1", "gone")),
        ["type", "add", "entity", f"{word}room", "--description", f"where a {word} is"],
        ["add", "entity", f"{word}room", "attic", "--value", f"a {word}"],
        ["edit", f"{word}-1", "--fix", f"feed the {word}"],
        ["link", f"{word}-1", "causes", "gone"],
        ["forget", "gone"],
        ["purge", "gone", "--yes"],
    ):
        done = run(*command)
        assert done.status == 0, done
    for line in lines:
        rest = [word for name, value in line.items() if name != "kind" for word in (f"--{name}", value)]
        if line["kind"] != "lesson":
            assert run("add", line["kind"], *rest).status == 0


def assert_every_command_fails_or_is_of_nothing(run: Graphmem, own: str, other: str) -> None:
    """Run every command line on a project that its caller may not use."""
    failed = 0
    for command in COMMANDS:
        if command.split()[0] not in OF_THE_FOLDER:
            done = run(*(word.replace("+", " ") for word in command.split()))
            assert own not in done.out + done.err and other not in done.out + done.err, (command, done)
            failed += done.status != 0
    assert failed > 100  # the others are of the machine: help texts, settings, its own sessions


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


@pytest.fixture
def database(cli: Callable[..., Graphmem]) -> str:
    """A database with two projects, each of which one role may write; the address of the first for the owner."""
    server = postgres()
    url = server.new_project("ana")
    with psycopg.connect(server.address, autocommit=True) as admin, contextlib.suppress(psycopg.errors.DuplicateObject):
        admin.execute("CREATE ROLE bo LOGIN")
    for project, member in MEMBERS.items():
        of_project = url.replace("project=shop", f"project={project}")
        run = cli("owner", of_project)
        assert run("team", "init", of_project).status == 0
        assert run("team", "grant", of_project, member).status == 0
        fill(cli(member, of_project.replace("user=postgres", f"user={member}")), WORDS[project])
    return url


def rows_of(url: str, project: str) -> str:
    """Return all that a server holds of a project."""
    with psycopg.connect(url.replace("&project=shop", "")) as owner:
        tables = ("project", "writer", "rows", "changes", "member")
        sql = "SELECT t::text FROM graphmem.{} t WHERE project = %s ORDER BY 1"
        return repr([owner.execute(SQL(sql).format(Identifier(one)), [project]).fetchall() for one in tables])


READS = [
    *(f"SELECT t::text FROM graphmem.{table} t" for table in ("project", "writer", "rows", "changes", "member")),
    "SELECT t::text FROM graphmem.rows t WHERE project = '{other}'",
    "SELECT t::text FROM graphmem.rows t WHERE project <> '{own}' OR true ORDER BY row",
    "SELECT count(*)::text FROM graphmem.rows WHERE project = '{other}' AND pg_temp.told(row)",
    "SELECT c::text FROM graphmem.changes c RIGHT JOIN graphmem.rows r USING (id)",
    "SELECT t::text FROM pg_temp.seen t",
    "SELECT s::text FROM pg_stats s WHERE schemaname = 'graphmem'",
    "SELECT query FROM pg_stat_activity",
    "SELECT p::text FROM pg_prepared_statements p",
    "SELECT t::text FROM graphmem.writer t WHERE project = '{other}' FOR UPDATE",
    "UPDATE graphmem.rows SET seq = seq WHERE project = '{other}' RETURNING row",
    "UPDATE graphmem.project SET seq = 99 WHERE project = '{other}' RETURNING epoch",
    "DELETE FROM graphmem.rows WHERE project = '{other}' RETURNING row",
    "DELETE FROM graphmem.changes WHERE project = '{other}' RETURNING new",
    "MERGE INTO graphmem.rows r USING (VALUES ('{other}')) v(p) ON r.project = v.p WHEN MATCHED THEN DELETE",
]  # give nothing of the other project, and change nothing of it
REFUSED = [
    *(f"SET LOCAL ROLE {role}" for role in ("postgres", "{member}")),
    "SET SESSION AUTHORIZATION {member}",
    "SET LOCAL row_security = off; SELECT row FROM graphmem.rows",
    "COPY graphmem.rows TO PROGRAM 'cat'",
    "UPDATE graphmem.rows SET project = '{other}'", "UPDATE graphmem.project SET project = '{other}'",
    "UPDATE graphmem.project SET epoch = 'x'", "UPDATE graphmem.changes SET project = '{other}'",
    *("INSERT INTO graphmem.rows (project, id, key, kind, row, seq) "
      f"VALUES ('{{other}}', {number}, 'x', 'failure', 'x', 9) {conflict}"
      for number in (1, "{id}")  # one that is there is not told from one that is not
      for conflict in ("", "ON CONFLICT DO NOTHING",
                       "ON CONFLICT (project, id) DO UPDATE SET row = rows.row || 'x' RETURNING row")),
    "INSERT INTO graphmem.changes (project, seq, id, commit, at) VALUES ('{other}', 9, 9, 9, now())",
    "INSERT INTO graphmem.member VALUES (current_user, '{other}', true)",
    "UPDATE graphmem.member SET project = '{other}'", "DELETE FROM graphmem.member",
    "INSERT INTO graphmem.project (project, epoch) VALUES ('new', 'x')", "DELETE FROM graphmem.project",
    "INSERT INTO graphmem.writer VALUES ('new')", "UPDATE graphmem.version SET version = 1",
    "TRUNCATE graphmem.rows", "DROP TABLE graphmem.rows", "DROP SCHEMA graphmem CASCADE",
    "ALTER TABLE graphmem.rows DISABLE ROW LEVEL SECURITY", "DROP POLICY reading ON graphmem.rows",
    "CREATE POLICY mine ON graphmem.rows USING (true)", "CREATE TABLE graphmem.mine ()",
    "CREATE FUNCTION graphmem.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TRIGGER mine BEFORE INSERT ON graphmem.rows EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE RULE mine AS ON SELECT TO graphmem.member DO INSTEAD SELECT 1",
]  # fmt: skip


def test_a_role_gets_nothing_of_another_project_by_sql(database: str) -> None:
    for own, other in (("shop", "mill"), ("mill", "shop")):
        before, member = rows_of(database, other), MEMBERS[own]
        assert WORDS[other] in before
        with psycopg.connect(database.replace("&project=shop", ""), autocommit=True) as owner:
            owner.execute("ANALYZE graphmem.rows, graphmem.changes")
            number = owner.execute("SELECT min(id) FROM graphmem.rows WHERE project = %s", [other]).fetchone()
            assert number is not None
        names = {"own": own, "other": other, "member": MEMBERS[other], "id": number[0]}
        address = database.replace("&project=shop", "").replace("user=postgres", f"user={member}")
        told: list[str] = []
        with psycopg.connect(address, autocommit=True) as role:
            role.add_notice_handler(lambda notice, told=told: told.append(str(notice.message_primary)))  # type: ignore[misc]
            role.execute(
                "CREATE FUNCTION pg_temp.told(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS"
                " $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;"
                "CREATE TEMP VIEW seen WITH (security_barrier = false) AS SELECT * FROM graphmem.rows"
            )
            for sql in READS:
                with role.transaction(force_rollback=True):
                    cursor = role.execute(sql.format(**names).encode())
                    told += map(str, cursor.fetchall() if cursor.description else [cursor.statusmessage])
            with role.cursor() as cursor, cursor.copy("COPY (SELECT * FROM graphmem.changes) TO STDOUT") as copied:
                told += [bytes(block).decode() for block in copied]
            for sql in REFUSED:
                try:
                    role.execute(sql.format(**names).encode())
                except psycopg.errors.InsufficientPrivilege as error:
                    told.append(str(error))
                else:
                    pytest.fail(f"{member} may do this: {sql}")
        assert any(WORDS[own] in text for text in told)  # of its own it is told
        assert [text for text in told if WORDS[other] in text] == []
        assert rows_of(database, other) == before


def test_a_role_gets_nothing_of_another_project_by_commands(database: str, cli: Callable[..., Graphmem]) -> None:
    url = database.replace("project=shop", "project=mill")
    before = rows_of(database, "mill")
    run = cli("elsewhere", url.replace("user=postgres", "user=ana"))
    assert_every_command_fails_or_is_of_nothing(run, *WORDS.values())
    with pytest.raises(GraphmemError, match="no project 'mill' that this role may read"), Memory() as memory:
        memory.list()
    assert "quagga" in cli("elsewhere", database.replace("user=postgres", "user=ana"))("list").out
    done = run("sync", url.replace("user=postgres", "user=ana"))
    assert (done.status, "zanzibar" in done.out + done.err) == (3, False)
    assert rows_of(database, "mill") == before


def test_a_role_with_a_hostile_name_is_let_into_its_project_and_no_other(
    database: str,
    graphmem: Graphmem,  # noqa: F811
) -> None:
    name = "x\"; DROP SCHEMA graphmem CASCADE; --'{own} %I $$"
    before = rows_of(database, "mill")
    with psycopg.connect(postgres().address, autocommit=True) as admin:
        admin.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(name)))
    try:
        assert graphmem("team", "grant", database, name).status == 0
        with psycopg.connect(database.replace("&project=shop", ""), autocommit=True) as admin:
            admin.execute(graphmem("team", "grant", database, name, "--sql").out)
        with psycopg.connect(
            postgres().address, dbname=database[len("postgresql:///") :].partition("?")[0], user=name
        ) as role:
            assert role.execute("SELECT DISTINCT project FROM graphmem.rows").fetchall() == [("shop",)]
        assert graphmem("team", "revoke", database, name).status == 0
        assert rows_of(database, "mill") == before
    finally:
        with psycopg.connect(database.replace("&project=shop", ""), autocommit=True) as admin:
            admin.execute(SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(Identifier(name)))


# --- Redis ------------------------------------------------------------------------------------------------------------

PASSWORD = "pw-of-the-administrator"


@pytest.fixture
def server(cli: Callable[..., Graphmem]) -> Iterator[str]:
    """A server with a password and two projects, each of which one user may write; its address without a user."""
    with one_server() as made:
        made.ask("CONFIG", "SET", "requirepass", PASSWORD, "masterauth", PASSWORD)
        address = f"{made.address}?project="
        with Redis(port=made.port, password=PASSWORD) as admin:
            for project, user in MEMBERS.items():
                as_admin = address.replace("//", f"//default:{PASSWORD}@") + project
                assert cli("owner", as_admin)("team", "init", as_admin).status == 0
                admin.execute_command(*grant_commands(user, project, writes=True)[0].split())
                admin.execute_command("ACL", "SETUSER", user, f">{user}")
                fill(cli(user, address.replace("//", f"//{user}:{user}@") + project), WORDS[project])
        yield address


COMMANDS_OF_KEYS = [
    ("GET",), ("SET", "x"), ("SET", "x", "GET"), ("DEL",), ("HGETALL",), ("HGET", "seq"), ("HMGET", "seq", "epoch"),
    ("HSET", "seq", 9), ("HDEL", "seq"), ("HINCRBY", "seq", 1), ("ZADD", 9, "x"), ("ZRANGE", 0, -1), ("ZMSCORE", "x"),
    ("XADD", "*", "a", 1), ("XRANGE", "-", "+"), ("XDEL", "1-0"), ("RPUSH", "x"), ("LTRIM", 0, 0), ("BLPOP", 0.01),
    ("EXISTS",), ("PEXPIRE", 1), ("DUMP",), ("TYPE",), ("STRLEN",), ("COPY", "graphmem:{shop}:x"),
    ("RENAME", "graphmem:{shop}:x"), ("SORT",), ("TOUCH",), ("WATCH",),
]  # fmt: skip
OF_THE_SERVER = [
    "KEYS *", "SCAN 0", "RANDOMKEY", "DBSIZE", "FLUSHALL", "FLUSHDB", "MONITOR", "CONFIG GET *",
    "CONFIG GET requirepass", "CONFIG SET appendonly no", "ACL LIST", "ACL GETUSER {member}", "ACL WHOAMI",
    "ACL SETUSER {user} allkeys", "CLIENT LIST", "CLIENT KILL TYPE normal", "SLOWLOG GET", "SAVE", "BGREWRITEAOF",
    "SHUTDOWN", "REPLICAOF no one", "MODULE LIST", "FUNCTION LIST", "SCRIPT FLUSH", "SWAPDB 0 1", "SELECT 1",
    "PUBLISH a b", "SUBSCRIBE a", "PSUBSCRIBE *", "LATENCY RESET",
]  # fmt: skip


def redis_rows(port: int, project: str) -> str:
    """Return all that a server holds of a project."""
    with Redis(port=port, password=PASSWORD) as admin:
        return repr({name: admin.dump(name) for name in sorted(admin.keys(f"graphmem:{{{project}}}:*"))})


def test_a_user_of_redis_gets_nothing_of_another_project_by_commands_of_the_server(server: str) -> None:
    """Not what is in it, not what it has, and not the password of the administrator."""
    port = int(server.partition("?")[0].rpartition(":")[2])
    for own, other in (("shop", "mill"), ("mill", "shop")):
        user, before = MEMBERS[own], redis_rows(port, other)
        with Redis(port=port, password=PASSWORD, decode_responses=True) as admin:
            keys = sorted(admin.keys(f"graphmem:{{{other}}}:*"))
        assert len(keys) > 5
        names = {"user": user, "member": MEMBERS[other]}
        with Redis(port=port, username=user, password=user, decode_responses=True) as client:
            commands: list[tuple[Any, ...]] = [tuple(word.format(**names).split()) for word in OF_THE_SERVER]
            for at in [*keys, f"graphmem:{{{other}}}:none"]:
                commands += [(name, at, *words) for name, *words in COMMANDS_OF_KEYS]
                commands += [
                    ("EVAL", f"return redis.{call}('{name}', {place})", *given)
                    for call in ("call", "pcall")
                    for name in ("GET", "HGETALL", "DUMP", "DEL", "EXISTS")
                    for place, given in (
                        ("KEYS[1]", (1, at)),
                        ("ARGV[1]", (0, at)),
                        ("ARGV[1]", (1, key(own, "lock"), at)),
                    )
                ]
            for command in commands:
                with pytest.raises(ResponseError, match=r"(?i)permission"):
                    pytest.fail(f"{user} may do this: {command}: {client.execute_command(*command)}")
            assert client.hget(key(own, "project"), "seq") != "0"
            told = repr(client.info("everything"))
        assert WORDS[other] not in told and f"{{{other}}}" not in told and PASSWORD not in told
        assert redis_rows(port, other) == before


def test_a_user_of_redis_gets_nothing_of_another_project_by_commands(server: str, cli: Callable[..., Graphmem]) -> None:
    port = int(server.partition("?")[0].rpartition(":")[2])
    before, as_ana = redis_rows(port, "mill"), server.replace("//", "//ana:ana@")
    run = cli("elsewhere", f"{as_ana}mill")
    assert_every_command_fails_or_is_of_nothing(run, *WORDS.values())
    with pytest.raises(GraphmemError, match="may not do that"), Memory() as memory:
        memory.list()
    assert "quagga" in cli("elsewhere", f"{as_ana}shop")("list").out
    done = run("sync", f"{as_ana}mill")
    assert (done.status, "zanzibar" in done.out + done.err) == (3, False)
    assert redis_rows(port, "mill") == before


# --- names of projects ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["postgresql", "redis"])
@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=lambda name: ascii(name[:20]))
def test_a_hostile_name_of_a_project_is_refused_before_a_server_is_asked(engine: str, name: str) -> None:
    for url in (f"{engine}://127.0.0.1:1/x?{urlencode({'project': name})}", f"{engine}://127.0.0.1:1/x?project={name}"):
        with contextlib.suppress(Usage):
            found = ServerAddress.parse(url)
            assert SLUG.fullmatch(found.project), found  # what of the address counts is a usual name
            assert found.project != name
            assert "127.0.0.1" in found.database and "%" not in found.database


def test_names_that_are_near_are_projects_of_their_own(cli: Callable[..., Graphmem]) -> None:
    """In each server, in the keys of Redis, and in the folder of the machine."""
    urls = [postgres().new_project("ana").replace("project=shop", "project="), f"{redis().address}?project="]
    for url in urls:
        for name in NEAR_NAMES:
            run = cli("one", url + name)
            assert run("team", "init", url + name).status == 0
            assert run("add", "failure", "--name", "own", "--trigger", f"<{name}>").status == 0
        for machine in ("one", "two"):
            for name in NEAR_NAMES:
                assert cli(machine, url + name)("get", "own").out.splitlines()[1] == f"  trigger:        <{name}>"


# --- tokens -----------------------------------------------------------------------------------------------------------

SCOPES = {"zookeeper": ("quagga", ["failure", "cage"]), "islander": ("zanzibar", ["pattern", "lesson", "isle"])}
RECORDS = ["failure/pump", "pattern/calm", "lesson/late", "cage/attic", "isle/attic", "pump", "calm", "attic", "late"]
QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "get": [{"ref": ref} for ref in RECORDS],
    "list": [{}, {"sort": "cost"}, *({"kind": kind} for kind in ("failure", "pattern", "lesson", "cage", "isle"))],
    "query": [{"text": text} for text in ("the pump is dry", "it is loud", "attic", "failure/pump")],
    "related": [{"ref": ref, "max_hops": 3} for ref in RECORDS],
    "path": [{"source": source, "target": "failure/pump"} for source in RECORDS],
    "solutions": [{"ref": ref} for ref in RECORDS],
    "names": [{}, *({"prefix": ref[:3]} for ref in RECORDS)],
    "types.show": [{"name": name} for name in ("cage", "isle", "holds", "cag", "isl")],
    "similar": [{"text": "the pump is dry"}],
    "cypher": [{"query": query} for query in (
        "MATCH (n) RETURN n", "MATCH (a)-[r]->(b) RETURN a, r, b", "MATCH (c:Cage) RETURN c")],
    "cypher_named": [{"name": "failure/unsolved"}],
    "log": [{"ref": ref} for ref in RECORDS],
    "diff": [{"revisions": "1"}, {"revisions": "1..3"}],
    "context": [{"objective": text} for text in ("the pump is dry", "it is loud in the attic")],
}  # fmt: skip

TOLD = ("get", "list", "query", "log", "diff", "context", "types.show")  # of which each gets its own


def test_a_token_of_a_scope_gets_nothing_of_what_another_scope_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tokens of one service of a memory in a server, each with every operation."""
    url = postgres().new_project("ana")
    made = Project(tmp_path, Path(tempfile.mkdtemp(prefix="gm")))
    monkeypatch.setenv("GRAPHMEM_STORE", url)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    try:
        assert made.here("team", "init", url).returncode == 0
        with Memory() as memory:
            for kind, (word, _) in zip(("cage", "isle"), SCOPES.values(), strict=True):
                memory.types.add_entity(kind, description=f"where a {word} is")
                memory.entities.add(kind, "attic", value=f"a {word}")
            memory.failures.add("the pump of the quagga is dry", name="pump", fix="water the quagga", cost=3.0)
            memory.patterns.add("zanzibar is loud", "hush zanzibar", name="calm")
            memory.lessons.add("zanzibar first", type="preference", name="late")
            memory.relations.link("pattern/calm", "solves", "failure/pump", note="quagga of zanzibar")
            memory.edit("pump", fix="water each quagga")
            memory.edit("calm", insight="hush all of zanzibar")
        for scope, (_, sees) in SCOPES.items():
            assert (
                made.here("scope", "add", scope, *(word for kind in sees for word in ("--read", kind))).returncode == 0
            )
        served = serve(made)
        tokens = dict(
            zip(("all", "read", *sorted(SCOPES)), (one.read_text().strip() for one in served.files), strict=True)
        )

        def told(token: str, name: str, given: dict[str, Any]) -> tuple[int, str]:
            headers = {"Authorization": f"Bearer {tokens[token]}"}
            found = served.send("POST", f"/v1/{name.replace('.', '/')}", json.dumps(given).encode(), headers)
            return found.status, json.dumps(found.body)

        words = {scope: word for scope, (word, _) in SCOPES.items()}
        for name, row in OPERATIONS.items():
            if row.not_over_http or row.effect != "read":
                continue
            if not row.scoped:
                assert [told(scope, name, {})[0] for scope in SCOPES] in ([403, 403], [404, 404]), name
                continue
            is_told = name in TOLD
            asking = tokens if is_told else SCOPES
            texts = {token: "".join(told(token, name, one)[1] for one in QUESTIONS.get(name, [{}])) for token in asking}
            for scope, word in words.items():
                assert all(other == word or other not in texts[scope] for other in words.values()), (name, scope)
                assert not is_told or all(word in texts[token] for token in (scope, "all", "read")), (name, scope)
        assert ASKED.keys() >= QUESTIONS.keys()
    finally:
        stopped(made)
