"""A server of memories: its tables, its projects, and who is a member of one."""

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphmem.errors import Usage
from graphmem.features.team.server_contract import GrantRequest, RevokeRequest, ServerChanged, ServerInitRequest
from graphmem.kernel.registry import operation
from graphmem.kernel.settings.address import ServerAddress
from graphmem.patterns import lazy_re

if TYPE_CHECKING:
    from types import ModuleType


USER = lazy_re(r"[\w.@-]+")  # of Redis
OF_SERVER: dict[str, Any] = {
    "writes": True,
    "at_home": True,
    "needs_store": False,
    "not_over_http": "changes another server with the rights of the caller",
}


@operation(
    "team.init",
    **OF_SERVER,
    arguments=1,
    example="graphmem team init postgresql://db.example/team?project=shop",
    help="""
    Make a project in a PostgreSQL database, with the tables, or in a Redis server or cluster.

    Who runs it owns the tables. What is there already stays as it is. In Redis it notes whether there is a replica,
    which then has to confirm each write; run it again after one was added or removed.
    """,
)
def team_init(request: ServerInitRequest) -> ServerChanged:
    """
    Make a project in a PostgreSQL database, with the tables, or in a Redis server or cluster; what is there stays.

    Raises:
        Usage: the address is none; SQL is asked for and it is no database.
        Unavailable: the server cannot be reached, or refuses.
        Refused: the tables are of a newer version.
    """
    address = ServerAddress.parse(request.url)
    schema = _schema(address)
    if request.sql:
        if address.engine == "redis":
            raise Usage("there is no SQL that makes a project in Redis", hint="run it without --sql")
        statements = [*schema.schema_statements(), *schema.project_statements(address.project)]
        return _printed(address, f"makes project {address.project}", schema.script(statements))
    with _owner(address) as owner:
        schema.make_project(owner, address.project)
    return ServerChanged(server=address.shown, done=f"project {address.project} is there")


@operation(
    "team.grant",
    **OF_SERVER,
    arguments=2,
    example="graphmem team grant postgresql://db.example/team?project=shop ana",
    help="""
    Let a role of a PostgreSQL server read and write a project, or with --read only read it.

    It sees and changes no other project than those it was let into. For a Redis server this prints the command that its
    administrator runs.
    """,
)
def team_grant(request: GrantRequest) -> ServerChanged:
    """
    Let a role of a PostgreSQL server read and write a project, or only read it; of Redis, return what lets it.

    Raises:
        Usage: the address is none, or the name of a user of Redis.
        NotFound: the server has no such role.
        Unavailable: the server cannot be reached, or refuses.
    """
    address = ServerAddress.parse(request.url)
    schema, may = _schema(address), "read" if request.read else "read and write"
    if address.engine == "redis":
        commands = schema.grant_commands(_user(request.role), address.project, writes=not request.read)
        return _printed(address, f"lets it {may} project {address.project}", commands, request.role)
    if request.sql:
        statements = schema.grant_statements(request.role, address.project, writes=not request.read)
        return _printed(address, f"lets it {may} project {address.project}", schema.script(statements), request.role)
    with _owner(address) as owner:
        schema.grant(owner, request.role, address.project, writes=not request.read)
    return ServerChanged(
        server=address.shown, done=f"{request.role} may {may} project {address.project}", role=request.role
    )


@operation(
    "team.upgrade",
    **OF_SERVER,
    arguments=1,
    example="graphmem team upgrade postgresql://db.example/team?project=shop",
)
def team_upgrade(request: ServerInitRequest) -> ServerChanged:
    """
    Bring the tables of memories in a PostgreSQL database up to the version of this program; older ones go on reading.

    Raises:
        Usage: the address is none, or of Redis.
        Unavailable: the server cannot be reached, or refuses.
        NotFound: there are no tables.
        Refused: the tables are of a newer version.
    """
    address = ServerAddress.parse(request.url)
    if address.engine == "redis":
        raise Usage("a project in Redis has no tables", hint="there is nothing to upgrade")
    schema = _schema(address)
    if request.sql:
        return _printed(address, "upgrades the tables", schema.script(schema.schema_statements()))
    with _owner(address) as owner:
        before = schema.upgrade(owner)
    return ServerChanged(server=address.shown, done=f"the tables have version {schema.SCHEMA_VERSION}, before {before}")


@operation(
    "team.revoke",
    **OF_SERVER,
    arguments=2,
    example="graphmem team revoke postgresql://db.example/team?project=shop ana",
    help="""
    Take a role of a PostgreSQL server out of a project: its next statement sees nothing of it.

    What its machine has read stays on that machine. For a Redis server this prints the command that its administrator
    runs, which takes the user out of all projects.
    """,
)
def team_revoke(request: RevokeRequest) -> ServerChanged:
    """
    Take a role of a PostgreSQL server out of a project: its next statement sees nothing of it.

    Of Redis, return what takes a user out of all projects.

    Raises:
        Usage: the address is none, or the name of a user of Redis.
        Unavailable: the server cannot be reached, or refuses.
    """
    address = ServerAddress.parse(request.url)
    schema = _schema(address)
    if address.engine == "redis":
        return _printed(
            address, "takes it out of all projects", schema.revoke_commands(_user(request.role)), request.role
        )
    statements = schema.revoke_statements(request.role, address.project)
    if request.sql:
        return _printed(address, f"takes it out of project {address.project}", schema.script(statements), request.role)
    with _owner(address) as owner:
        schema.run(owner, statements)
    return ServerChanged(
        server=address.shown, done=f"{request.role} was taken out of project {address.project}", role=request.role
    )


def _schema(address: ServerAddress) -> "ModuleType":
    """Return the module that knows how projects are in a server; ``Unavailable`` where the client is missing."""
    address.refuse_without_client()
    return import_module(f"graphmem.kernel.ledger.{address.engine}.schema")


@contextlib.contextmanager
def _owner(address: ServerAddress) -> "Iterator[Any]":
    """Connect to a server as the one who makes projects there."""
    connection = import_module(f"graphmem.kernel.ledger.{address.engine}.connection")
    with connection.answering(), contextlib.closing(connection.connect(address.database)) as owner:
        yield owner


def _user(name: str) -> str:
    """Return the name of a user of Redis as it is in a command, or raise ``Usage``."""
    if not USER.fullmatch(name):
        raise Usage(f"the user of the server is {name!r}", hint="a name of letters, digits and . _ @ -")
    return name


def _printed(address: ServerAddress, done: str, sql: list[str], role: str | None = None) -> ServerChanged:
    """Return what would be done, and the statements or commands that do it."""
    return ServerChanged(server=address.shown, done=done, role=role, sql=sql)
