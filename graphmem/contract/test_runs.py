"""What recording a test run returns."""

from graphmem.contract.answer import Answer
from graphmem.contract.match import MatchedLog


class Ran(Answer):
    """
    What the memory has to say after a command ran.

    After a failing run ``log`` is what its output tells of, and ``again`` are those failures whose fix had been shown
    in this session before. After a pass ``helped`` are the memories that a report was written for, ``unknown`` errors
    of the failing runs before that nobody knows yet, ``unfixed`` their known failures that no fix is known for.
    """

    status: int
    log: MatchedLog | None = None
    again: list[str] = []
    helped: list[str] = []
    unknown: list[str] = []
    unfixed: list[str] = []
