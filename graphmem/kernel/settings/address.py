"""Where a project is in a server: ``postgresql://HOST/DATABASE?project=NAME`` or ``redis://HOST?project=NAME``."""

import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from graphmem.errors import Unavailable, Usage
from graphmem.kernel.system.user import own_state
from graphmem.names import SLUG

ENGINES = {"postgresql": "postgres", "postgres": "postgres", "redis": "redis", "rediss": "redis"}  # by scheme
CLIENTS = {"postgres": "psycopg", "redis": "redis"}  # the packages that speak with them
EXAMPLE = "such as postgresql://host/database?project=shop or redis://host?project=shop"


def is_server(text: str) -> bool:
    """Return whether a text is meant as the address of a server."""
    return text.partition("://")[0] in ENGINES


class ServerAddress(NamedTuple):
    """
    The address of a project in a server.

    Attributes:
        database: as libpq, or redis-py, takes it; may hold a password.
        project: the name of the project there.
    """

    database: str
    project: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        Return the address that a text is.

        Raises:
            Usage: it is none; the message shows no password.
        """
        try:
            parts = urlsplit(text)
            given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            raise Usage("the address of the server cannot be read", hint=EXAMPLE) from None
        if parts.scheme not in ENGINES:
            raise Usage(f"the address of the server begins with {parts.scheme!r}", hint=EXAMPLE)
        projects = [value for name, value in given if name == "project"]
        if len(projects) != 1 or not SLUG.fullmatch(projects[0]):
            said = f"names project {projects[0]!r}" if projects else "names no project"
            raise Usage(f"the address of the server {said}", hint=f"a name of a-z 0-9 - _ . at its end, {EXAMPLE}")
        rest = urlencode([pair for pair in given if pair[0] != "project"])
        database = f"{parts.scheme}://{parts.netloc}{parts.path}{rest and f'?{rest}'}"  # `urlunsplit` drops a bare //
        return cls(database, projects[0])

    def folder(self, variables: Mapping[str, str]) -> str:
        """Return the folder in which the machine of a user with these variables keeps what it has read of the rows."""
        name = hashlib.sha256(self.database.encode()).hexdigest()[:16]
        return f"{own_state(variables)}/servers/{self.project}-{name}"

    @property
    def engine(self) -> str:
        """``postgres`` or ``redis``: the folder of what knows it."""
        return ENGINES[urlsplit(self.database).scheme]

    def refuse_without_client(self) -> None:
        """Raise ``Unavailable`` where the package is missing that speaks with the server."""
        client = CLIENTS[self.engine]
        if find_spec(client) is None:
            raise Unavailable(f"a memory in this server needs {client}", hint="pip install 'graphmem[team]'")

    @property
    def shown(self) -> str:
        """The address without user, password and options."""
        parts = urlsplit(self.database)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path}?project={self.project}"
