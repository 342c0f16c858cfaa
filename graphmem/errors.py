"""
Every exception that graphmem raises.

    GraphmemError            exit 1   code as given
    ├── NotFound             exit 1   not_found    nothing has that name, or two things have it
    ├── Usage                exit 2   usage        the call itself is wrong
    ├── Refused              exit 3   refused      a rule or a forbidden statement
    │   ├── BadInput         exit 3   bad_input    data that does not check out, with its findings
    │   ├── ReadOnly         exit 3   read_only    the caller may read and not write
    │   └── Conflict         exit 3   conflict     something else already holds the name
    │       └── FileReplaced exit 3   conflict     another program replaced a file while a command decided
    ├── Unavailable          exit 4   unavailable  cannot be done now: no store, no permission, time is up
    │   └── Locked           exit 4   locked       another process writes
    ├── Damaged              exit 5   damaged      the store itself does not check out
    │   └── DamagedCatalog   exit 5   damaged      what was read of the files is not as it was written
    └── AlreadyDone          exit 0   already_done the request came before, was carried out, and its answer was lost

A front end maps the class to its status and never reads the text.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False  # to import `typing` takes 5 ms, in which Ctrl-C would end in a traceback
if TYPE_CHECKING:
    from typing import ClassVar


class GraphmemError(Exception):
    """Base of all; ``hint`` is on a line of its own, ``details`` carries the facts."""

    exit_status: ClassVar[int] = 1
    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = dict(details or {})


class NotFound(GraphmemError):
    """No record, type or query has that name, or the name is ambiguous."""

    code = "not_found"


class Usage(GraphmemError):
    """The call is wrong: an unknown option, a missing or unknown parameter."""

    exit_status = 2
    code = "usage"


class Refused(GraphmemError):
    """The input is understood and a rule forbids it."""

    exit_status = 3
    code = "refused"


class BadInput(Refused):
    """The input does not check out; ``details["findings"]`` names each place."""

    code = "bad_input"


class ReadOnly(Refused):
    """The caller may read and not write."""

    code = "read_only"


class Conflict(Refused):
    """Something else already holds this name, or the record changed meanwhile."""

    code = "conflict"


class FileReplaced(Conflict):
    """Git or an editor replaced a file after it was read and before it was written; nothing was changed."""


class Unavailable(GraphmemError):
    """It cannot be done here and now."""

    exit_status = 4
    code = "unavailable"


class Locked(Unavailable):
    """Another process holds the store and did not let go in time."""

    code = "locked"


class Damaged(GraphmemError):
    """The store does not check out and cannot be repaired on the way."""

    exit_status = 5
    code = "damaged"


class DamagedCatalog(Damaged):
    """The catalog is not as it was written; made again from the files, it is."""


class AlreadyDone(GraphmemError):
    """
    The request of a caller was carried out before; only where the caller gave it an id.

    Attributes:
        answer: that of the first time, in the form of the front end; None where it was not kept.
    """

    exit_status = 0
    code = "already_done"

    def __init__(self, message: str, *, answer: object = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.answer = answer
