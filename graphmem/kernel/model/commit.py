"""A commit of git's history, by its message."""

from typing import NamedTuple

SUBJECT = 300  # characters of the first line of a message


class CommitMessage(NamedTuple):
    """A commit: its hash, those of its parents, when it was committed as ISO 8601, its whole message, who wrote it."""

    hash: str
    parents: tuple[str, ...]
    at: str
    message: str
    author: str = ""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.lstrip().partition("\n")[0].strip()[:SUBJECT]

    @property
    def body(self) -> str:
        """What follows the first line."""
        return self.message.lstrip().partition("\n")[2].replace("\r", "")
