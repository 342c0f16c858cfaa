"""What the import of another tool's file takes and returns."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.parameters import DryRun
from graphmem.kernel.request import Request


class ImportRequest(Request):
    """Which file or folder of another tool to import."""

    path: Path = Field(description="A file or a folder of another tool")
    format: str | None = Field(
        None, description="The format it is in; recognised from what it holds if not given", max_length=64
    )
    map: Mapping[str, str] | None = Field(
        None, description="Of a table: the column for each field of the records; kind=NAME says which kind they are"
    )
    dry_run: DryRun = False


class Skipped(Part):
    """Something of the input that did not become a record or an edge: where it is, and why."""

    place: str
    reason: str


class Imported(Answer):
    """
    What became of all that a file holds.

    ``read`` counts by the nouns of the file, the others by kind; ``relation`` counts links, also those that are fields
    of records, such as what a task depends on. ``merged`` are what repeats a record or an edge, ``dangling`` the links
    to what is not there.
    """

    format: str
    applied: bool
    read: dict[str, int]
    created: dict[str, int]
    merged: dict[str, int]
    updated: dict[str, int]
    unchanged: dict[str, int]
    skipped: list[Skipped]
    dangling: int
