"""What reporting feedback returns."""

from typing import Literal

from graphmem.contract.answer import Answer


class Reported(Answer):
    """What is known of a memory's worth after a report."""

    ref: str
    helped: int
    failed: int
    help_ratio: float
    action: Literal["created", "updated", "unchanged"]


class BulkReported(Answer):
    """What a batch of reports did."""

    created: int
    updated: int
    unchanged: int
