"""What reporting feedback takes and returns."""

from typing import Literal

from pydantic import Field

from graphmem.kernel.answer import Answer
from graphmem.kernel.parameters import InputName, Ref
from graphmem.kernel.request import Request


class FeedbackRequest(Request):
    """A report that a memory helped or did not."""

    ref: Ref
    helped: bool = Field(description="The memory helped; false: it did not")
    wrong: bool = Field(False, description="What the memory says is not true; it is marked until it is edited")
    note: str | None = Field(None, description="Why the memory helped, did not help, or is wrong")
    task: str | None = Field(None, description="Task that the report is for; a second report for it replaces the first")
    question: str | None = Field(None, description="What was asked when the memory was found, at most 2 KiB")
    asked: str | None = Field(None, description="Id of the question, from the answer that showed the memory")


class FeedbackRowsRequest(Request):
    """A batch of reports, all or none."""

    name: InputName = "input"


class Reported(Answer):
    """What is known of a memory's worth after a report."""

    ref: str
    helped: int
    failed: int
    help_ratio: float
    disputed: int = 0
    action: Literal["created", "updated", "unchanged"]


class BulkReported(Answer):
    """What a batch of reports did."""

    created: int
    updated: int
    unchanged: int
