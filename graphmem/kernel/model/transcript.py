"""
What a coding agent did in a session, in one form for all clients: commands, edits and messages.

``features/harvest/transcripts/`` makes these of the files that clients leave on disk (docs/concepts/harvest.md).
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class RanCommand:
    """
    A command that the agent ran in a shell.

    Attributes:
        at: when, as ISO 8601 in UTC; empty where the client does not say.
        number: its place among the events of the session, from 0.
        command: the command line, as the agent wrote it.
        status: exit status, 1 where it failed without one; None where the client does not say how it ended.
        output: what was printed, as the agent saw it.
        folder: where the shell was, an absolute path; empty where the client does not say.
        commit: the commit that it made, as git prints it; empty if it made none.
        is_refused: it did not run: a person refused it, or a call before it failed.
    """

    at: str
    number: int
    command: str
    status: int | None
    output: str = ""
    folder: str = ""
    commit: str = ""
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class FileEdit:
    """
    A change of a file that the agent asked for.

    Attributes:
        file: the path, as the client has it.
        removed: the text that was replaced; empty for a new file.
        added: the text that is there instead.
        is_done: whether it was made; a tool may refuse it.
        is_refused: a person refused it.
    """

    at: str
    number: int
    file: str
    removed: str = ""
    added: str = ""
    is_done: bool = True
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """What the person or the agent wrote; ``by`` says who."""

    at: str
    number: int
    by: Literal["person", "agent"]
    text: str


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that the agent read."""

    at: str
    number: int
    file: str


TranscriptEvent = RanCommand | FileEdit | Message | FileRead
