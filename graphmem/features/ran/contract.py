"""What recording a test run takes and returns."""

from pathlib import Path

from pydantic import Field

from graphmem.core.search.match_contract import MatchedLog
from graphmem.kernel.answer import Answer
from graphmem.kernel.parameters import SessionName, Texts
from graphmem.kernel.request import Request


class RanRequest(Request):
    """A run of a command that ended, such as a test suite."""

    command: Texts = Field(description="The command with its arguments")
    status: int = Field(description="Exit status of the command")
    folder: Path | None = Field(None, description="Folder where the command was run; the current one if not given")
    session: SessionName = None
    task: str | None = Field(None, description="Task that reports of what helped are for")
    began: float | None = Field(None, description="Second since 1970 at which it began; what changed later is its own")
    name: str | None = Field(None, description="Name of the command; a pass counts for runs of this name")


class Ran(Answer):
    """
    What the memory has to say after a command ran.

    After a failing run ``log`` is what its output reports, and ``again`` are those failures whose fix had been shown
    in this session before. After a pass ``helped`` are the memories that a report was written for, ``unknown`` errors
    of the failing runs before that are not known yet, ``unfixed`` their known failures that no fix is known for.
    ``is_flaky`` says that it passes after it failed with nothing changed in between, so that nothing helped; ``flaky``
    are the known failures of those runs. ``no_pass`` says why it is no pass of what failed: fewer tests ran, or one
    that failed is gone or tests nothing.
    """

    status: int
    log: MatchedLog | None = None
    again: list[str] = []
    helped: list[str] = []
    unknown: list[str] = []
    unfixed: list[str] = []
    is_flaky: bool = False
    flaky: list[str] = []
    no_pass: str | None = None
