"""The history that a project in a server keeps: its commits, and the rows as they were at one of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from graphmem.errors import NotFound
from graphmem.kernel.git.commands import DATE, parsed_date
from graphmem.kernel.ledger.port import Moment, PlaceChange, Side
from graphmem.patterns import lazy_re

LAST = 2**62  # above every number of a commit
# A member of a project can write any text where a server has a kind, a type or a path, and none becomes another file.
PART = lazy_re(
    r"data/((entities|relations)/)?[a-z][a-z0-9_]{0,63}\.ndjson|types/(entities|relations)/[\w.-]{1,64}\.md"
    r"|scopes/[a-z][a-z0-9_]{0,63}\.toml|extractors/[a-z0-9][a-z0-9_-]{0,63}\.md|queries/([a-z][a-z0-9_]{0,63}[/.]){2}cypher"
)


class Written(NamedTuple):
    """What a commit did to a row of a part, or to a text: its line before and after, None for none."""

    seq: int
    at: datetime
    by: str | None
    id: int
    part: str
    old: bytes | None
    new: bytes | None


class Keeper(ABC):
    """A place that keeps what was written."""

    @abstractmethod
    def span(self) -> tuple[int, int]:
        """Return the first commit of the history, and the last; the first is 1 where nothing was dropped yet."""

    @abstractmethod
    def written(self, after: int, upto: int, numbers: Sequence[int] | None = None) -> Iterator[Written]:
        """Yield what commits above a number and up to another did, to all rows or to some, in their order."""

    @abstractmethod
    def commit_before(self, date: datetime) -> int | None:
        """Return the last commit before a time."""

    @abstractmethod
    def everything(self) -> Iterator[tuple[int, str, bytes]]:
        """Yield the rows and texts as they are now: number, part and line."""


class ServedHistory:
    """The history of a project in a server; ``port.PlaceHistory`` says what the methods do."""

    def __init__(self, keeper: Keeper, epoch: Callable[[], str]) -> None:
        self.keeper, self.epoch = keeper, epoch

    def moment(self, named: str) -> Moment:
        first, last = self.keeper.span()
        if is_date := DATE.fullmatch(named):
            number = self.keeper.commit_before(parsed_date(named))
        elif named.isascii() and named.isdecimal():
            number = int(named)
        else:
            raise NotFound(f"{named!r} is not a commit of this memory", hint=f"a number up to {last}, or a date")
        if number is None or not first <= number <= last:
            what = f"there is no commit before {named}" if is_date else f"commit {named} is not in the history"
            raise NotFound(what, hint=f"the history of this memory has the commits {first} to {last}")
        at = next((found.at for found in self.keeper.written(number - 1, number)), None)
        return Moment(number, at, f"{self.epoch()} {number}")

    def last(self) -> int:
        return self.keeper.span()[1]

    def between(self, old: Moment, new: Moment | None) -> tuple[Side, Side]:
        rows: dict[int, tuple[str, bytes | None, bytes | None]] = {}
        for found in self.keeper.written(old.number, LAST if new is None else new.number):
            rows[found.id] = found.part, rows[found.id][1] if found.id in rows else found.old, found.new
        sides: tuple[Side, Side] = (set(), {}), (set(), {})
        for part, *texts in rows.values():
            for (lines, files), text in zip(sides, texts, strict=True):
                if text is not None and part.startswith("data/"):
                    lines.add(text)
                elif text is not None and PART.fullmatch(part):
                    files[part] = text
        return sides

    def files(self, moment: Moment) -> dict[str, bytes]:
        rows = {number: (part, line) for number, part, line in self.keeper.everything()}
        for found in reversed([*self.keeper.written(moment.number, LAST)]):
            rows.pop(found.id, None)
            if found.old is not None:
                rows[found.id] = found.part, found.old
        texts: dict[str, list[bytes]] = {}
        for _, (part, line) in sorted(rows.items()):
            texts.setdefault(part, []).append(line)
        return {
            part: b"".join(line + b"\n" for line in lines) if part.startswith("data/") else lines[0]
            for part, lines in texts.items()
            if PART.fullmatch(part)
        }

    def before(self, numbers: Sequence[int], commit: int) -> dict[int, bytes]:
        rows: dict[int, bytes | None] = {}
        for found in self.keeper.written(commit, LAST, numbers):
            rows.setdefault(found.id, found.old)
        return {number: line for number, line in rows.items() if line is not None}

    def deleted(self, numbers: Sequence[int]) -> dict[int, bytes]:
        found = self.keeper.written(0, LAST, numbers)
        return {one.id: one.old for one in found if one.new is None and one.old is not None}

    def changes(self, numbers: Sequence[int]) -> Iterator[PlaceChange]:
        commits: dict[int, PlaceChange] = {}
        for found in self.keeper.written(0, LAST, numbers):
            had = commits.get(found.seq, found)  # a record whose type was renamed is two rows of one commit
            commits[found.seq] = PlaceChange(found.seq, found.at, found.by, had.old or found.old, had.new or found.new)
        yield from reversed(commits.values())
