"""The tokens of callers: given in the environment, or made at each start and kept in files of this user alone."""

import contextlib
import os
import secrets
from collections.abc import Collection, Iterator
from itertools import combinations
from pathlib import Path

from graphmem.doors.service.place import path_of
from graphmem.errors import Refused, Usage
from graphmem.patterns import lazy_re

ALL, READ = "GRAPHMEM_HTTP_TOKEN", "GRAPHMEM_HTTP_READ_TOKEN"
ENDINGS = {ALL: "token", READ: "read-token"}
MOST_SCOPES = 100
SAFE = lazy_re(r"[!-~]{20,200}")


def variable_of(scope: str) -> str:
    """Return the variable for the token of a scope."""
    return f"{ALL}_{scope.upper()}"


@contextlib.contextmanager
def tokens(project: Path, scopes: Collection[str] = ()) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """
    Yield the tokens by the names of their variables, and the files of those that were made.

    Args:
        scopes: the names of the scopes that get a token each, beside those for everything and for reading.

    Raises:
        Refused: there are too many scopes, such as a branch may bring.
    """
    if len(scopes) > MOST_SCOPES:
        hint = "each of them gets a token of its own; take away those that no caller needs: graphmem scope list"
        raise Refused(f"the project has {len(scopes):,} scopes; at most {MOST_SCOPES} are served", hint=hint)
    made: dict[str, str] = {}
    endings = ENDINGS | {variable_of(scope): f"{scope}-scope-token" for scope in scopes}
    found = {name: os.environ.pop(name, "") for name in endings}  # child processes have no use for them
    try:
        for name, ending in endings.items():
            if not found[name]:
                found[name], made[name] = secrets.token_urlsafe(32), str(path_of(str(project), ending))
                write(made[name], found[name])
            elif not SAFE.fullmatch(found[name]):
                hint = "from 20 to 200 characters of ASCII, without spaces"
                raise Usage(f"the variable {name} holds no token that can be used", hint=hint)
        for one, other in combinations(found, 2):
            if found[one] == found[other]:
                raise Usage(f"{one} and {other} are the same", hint="tokens that differ: each says what its caller may")
        yield found, made
    finally:
        for path in made.values():
            with contextlib.suppress(OSError):
                os.unlink(path)


def write(path: str, token: str) -> None:
    """Write a token to a file that only this user can read; one that a service left behind goes first."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as file:
        file.write(f"{token}\n")
