"""What operations on the place of the rows take and return."""

from typing import Literal

from pydantic import Field

from graphmem.kernel.answer import Answer
from graphmem.kernel.request import Request


class SyncRequest(Request):
    """With which repository or server to share the memory."""

    remote: str | None = Field(
        None, description="A remote, or the address of a repository or of a server; origin if not given"
    )
    dry_run: bool = Field(False, description="Only report what would be exchanged with a server")


class Synced(Answer):
    """What was exchanged with another repository, or a server."""

    ref: str | None = Field(description="The ref that holds the memory; none with a server")
    remote: str = Field(description="The other repository, or the server")
    commit: str | None = Field(description="The commit that both have now; none with a server")
    received: int = Field(description="Commits that came from there; of a server, rows that changed here")
    sent: int = Field(description="Commits that went there; of a server, rows that changed there")


class MoveRequest(Request):
    """Where the rows are to be."""

    to: Literal["ref", "branch"] = Field(description="A ref of its own, or files in the branch")
    dry_run: bool = Field(False, description="Only report what would be done")


class LedgerMoved(Answer):
    """Where the rows are now."""

    to: Literal["ref", "branch"] = Field(description="Where the rows are")
    path: str = Field(description="The folder of the files")
    ref: str | None = Field(description="The ref that holds, or held, the memory, where they were moved")
    changed: bool = Field(description="Whether they were elsewhere before")
    files: int = Field(description="Files with rows and definitions")
    commits: int = Field(description="Commits whose changes of the memory the ref has now")
