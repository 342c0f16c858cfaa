"""What the report on the hooks' impact returns."""

from graphmem.kernel.answer import Answer, Part


class SessionTokens(Part):
    """What the hooks put into sessions, in tokens: all of it, of which briefings, and a session's mean and median."""

    total: int
    briefings: int
    mean: float
    median: float
    most: int


class Impact(Answer):
    """
    What the hooks of agents did on this machine, over the last sessions, and what all reports of the memory say.

    ``hints`` are memories that were handed out, each once a session and a failure with its pattern as one, ``used``
    those of them that a passing command credited. ``failures`` are runs of tools that failed, ``answered`` those for
    which a memory was handed out at once, and ``answer_tokens`` what these answers took. ``under_way`` are sessions
    that have not ended; ``since`` is when the first of all began. ``helped`` and ``failed`` count the reports in the
    files, whoever made them.
    """

    sessions: int
    under_way: int
    since: str | None
    tokens: SessionTokens
    hints: int
    used: int
    failures: int
    answered: int
    answer_tokens: int
    helped: int
    failed: int
