"""A server of memories: its tables, its projects, and who is a member of one."""

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphmem.features.team.server_contract import GrantRequest, RevokeRequest, ServerChanged, ServerInitRequest
from graphmem.kernel.ledger.address import ServerAddress, refuse_without_client
from graphmem.kernel.registry import operation

if TYPE_CHECKING:
    from types import ModuleType

    from graphmem.kernel.ledger.postgres.schema import Owner

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
    Make the tables of memories in a PostgreSQL database, and a project in them.

    Who runs it owns the tables. What is there already stays as it is.
    """,
)
def team_init(request: ServerInitRequest) -> ServerChanged:
    """
    Make the tables of memories in a PostgreSQL database, and a project in them; what is there stays.

    Raises:
        Usage: the address is none.
        Unavailable: the server cannot be reached, or refuses.
        Refused: the tables are of a newer version.
    """
    address = ServerAddress.parse(request.url)
    schema = _schema()
    if request.sql:
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

    It sees and changes no other project than those it was let into.
    """,
)
def team_grant(request: GrantRequest) -> ServerChanged:
    """
    Let a role of a PostgreSQL server read and write a project, or only read it.

    Raises:
        Usage: the address is none.
        NotFound: the server has no such role.
        Unavailable: the server cannot be reached, or refuses.
    """
    address = ServerAddress.parse(request.url)
    schema, may = _schema(), "read" if request.read else "read and write"
    if request.sql:
        statements = schema.grant_statements(request.role, address.project, writes=not request.read)
        return _printed(address, f"lets it {may} project {address.project}", schema.script(statements), request.role)
    with _owner(address) as owner:
        schema.grant(owner, request.role, address.project, writes=not request.read)
    return ServerChanged(
        server=address.shown, done=f"{request.role} may {may} project {address.project}", role=request.role
    )


@operation(
    "team.revoke",
    **OF_SERVER,
    arguments=2,
    example="graphmem team revoke postgresql://db.example/team?project=shop ana",
    help="""
    Take a role of a PostgreSQL server out of a project: its next statement sees nothing of it.

    What its machine has read stays on that machine.
    """,
)
def team_revoke(request: RevokeRequest) -> ServerChanged:
    """
    Take a role of a PostgreSQL server out of a project: its next statement sees nothing of it.

    Raises:
        Usage: the address is none.
        Unavailable: the server cannot be reached, or refuses.
    """
    address = ServerAddress.parse(request.url)
    schema = _schema()
    statements = schema.revoke_statements(request.role, address.project)
    if request.sql:
        return _printed(address, f"takes it out of project {address.project}", schema.script(statements), request.role)
    with _owner(address) as owner:
        schema.run(owner, statements)
    return ServerChanged(
        server=address.shown, done=f"{request.role} was taken out of project {address.project}", role=request.role
    )


def _schema() -> "ModuleType":
    """Return the module that knows the tables, or raise ``Unavailable`` where the client of the server is missing."""
    refuse_without_client()
    return import_module("graphmem.kernel.ledger.postgres.schema")


@contextlib.contextmanager
def _owner(address: ServerAddress) -> "Iterator[Owner]":
    """Connect to a server as the owner of its tables."""
    from graphmem.kernel.ledger.postgres.connection import answering, connect  # noqa: PLC0415 - psycopg takes 60 ms

    with answering(), contextlib.closing(connect(address.database)) as owner:
        yield owner


def _printed(address: ServerAddress, done: str, sql: list[str], role: str | None = None) -> ServerChanged:
    """Return what would be done, and the statements that do it."""
    return ServerChanged(server=address.shown, done=done, role=role, sql=sql)
