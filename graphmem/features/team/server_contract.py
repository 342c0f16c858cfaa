"""What operations on a server of memories take and return."""

from pydantic import Field

from graphmem.kernel.answer import Answer
from graphmem.kernel.request import Request

SQL = Field(False, description="Print the SQL for a database administrator, and connect to nothing")


class ServerInitRequest(Request):
    """Which project to make in a server."""

    url: str = Field(
        description="The server, as postgresql://HOST/DATABASE?project=NAME or redis://HOST:PORT?project=NAME"
    )
    sql: bool = SQL


class RevokeRequest(Request):
    """Which role of a server to take out of a project."""

    url: str = Field(description="The server and project, as the owner of the tables reaches them")
    role: str = Field(description="The role of the server, or the user of Redis")
    sql: bool = SQL


class GrantRequest(RevokeRequest):
    """Which role of a server to let into a project."""

    read: bool = Field(False, description="Let it read only")


class ServerChanged(Answer):
    """
    What was done in a server, or the SQL that would do it, or for Redis the commands.

    ``server`` is the address without user and password; ``role`` is the one that was let in or taken out.
    """

    server: str
    done: str
    role: str | None = None
    sql: list[str] = []
