"""Things that happened, as nodes of the graph: a run, and any other event."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import JsonValue

from graphmem.kernel.model.field import GrowingSet, Item, Line, Time
from graphmem.kernel.model.record import OwnEdge, Record, Refers, Row
from graphmem.names import printable, split_ref

TWICE = ("created_at", "name")  # what a row of a fact says by other fields
NEVER = ("key", "aliases", "edited", "archived_at", "archive_reason", "superseded_by", "alternates", "authors")
NAME_CHARACTERS = 256  # of what identifies a fact


class Fact(Record):
    """A fact has one time, and what identifies it for its name; nothing of it is ever changed, archived or renamed."""

    named_by: ClassVar[str]

    at: Time

    @classmethod
    def completed(cls, values: Any) -> Any:
        """Take the time and the name from the fields that represent them in a row."""
        if isinstance(values, dict):
            given = {"created_at": values.get("at"), "name": values.get(cls.named_by)}
            kept = {name: value for name, value in values.items() if name not in NEVER}
            values = {**kept, **{name: value for name, value in given.items() if value is not None}}
        return super().completed(values)

    @classmethod
    def refuse_name(cls, name: str) -> None:
        if not name or len(name) > NAME_CHARACTERS or not printable(name):
            raise ValueError(
                f"{cls.named_by} {name[:80]!r} is not a line of 1 to {NAME_CHARACTERS} printable characters"
            )

    @property
    def qualifier(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"

    def to_row(self) -> Row:
        row = super().to_row()
        return {name: value for name, value in row.items() if name not in TWICE}


class Run(Fact):
    """A finished run, and the lessons that were seen in it; the same run reported again has seen both."""

    named_by = "run"

    kind: Literal["run"]
    run: Item
    seen: Annotated[GrowingSet, Refers("lesson", edge="seen_in", is_incoming=True)] = ()

    @property
    def headline(self) -> str:
        return f"saw {len(self.seen):,} lesson{'' if len(self.seen) == 1 else 's'}"


class Event(Fact):
    """Anything else that happened, to what; append-only."""

    named_by = "id"

    says = "subject"

    kind: Literal["event"]
    id: Line
    type: Line
    subject: Line | None = None  # reference of the record that it is about, or words
    data: JsonValue = None

    @property
    def headline(self) -> str:
        return f"{self.type} {self.subject or ''}"

    @property
    def own_edges(self) -> Iterator[OwnEdge]:
        if self.subject and split_ref(self.subject)[0]:
            yield OwnEdge(self.key_ref, "about", self.subject)
