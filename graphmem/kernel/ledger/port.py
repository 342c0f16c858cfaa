"""
What a place of rows has to do: the files in git are one (ledger/files/), and another one passes the same tests.

The rows of a place are in parts, each with rows of one kind, or one type, and named as its file would be
(``data/failure.ndjson``); the texts of the vocabulary beside them are named so too (``types/entities/service.md``). The
place is the truth; the catalog holds what was last read of it, and, for the place, how each part was then. Both are
taken in in one transaction of the catalog.

Tests: tests/contract/test_place.py runs on every place.
"""

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol, Self

from graphmem.errors import Unavailable
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.types import Types
from graphmem.kernel.model.entry import Batch
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.model.vocabulary import Vocabulary

TakingIn = contextlib.AbstractContextManager[None]  # a block in which the catalog takes in what is written
CURSOR = "cursor"  # under what the catalog keeps up to where a place was read that has no stamp for each part


class Stamp(NamedTuple):
    """
    What distinguishes a part from itself after a change; a place gives none twice.

    Of a file these are bytes, nanoseconds and inode. Another place has numbers of its own.
    """

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """Return the stamp of a file that the system described."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


class PlaceMoved(Exception):
    """Others changed parts while they were read."""


class PlaceAway(Unavailable):
    """The place does not answer: reads go on from what was read before, and nothing is written."""


class Unconfirmed(Unavailable):
    """A write may have happened: its note and its request are kept, and the same request again is safe."""


class Moment(NamedTuple):
    """A commit of a place: its number, when it was, if that is known, and what no other commit is called."""

    number: int
    at: datetime | None
    name: str


class PlaceChange(NamedTuple):
    """What a commit did to a row: its line before and after, None for none; ``by`` is the role that did it."""

    number: int
    at: datetime
    by: str | None
    old: bytes | None
    new: bytes | None


Side = tuple[set[bytes], dict[str, bytes]]  # lines of rows, and texts by path


class PlaceHistory(Protocol):
    """The commits of a place that keeps them itself."""

    def moment(self, named: str) -> Moment:
        """
        Return the commit of a number, or the last one before a date.

        Raises:
            NotFound: there is none, or it is older than what is kept.
            Usage: the date is none.
        """

    def between(self, old: Moment, new: Moment | None) -> tuple[Side, Side]:
        """Return what was written after one commit and up to another, None for now: as it was, and as it is then."""

    def files(self, moment: Moment) -> dict[str, bytes]:
        """Return the parts and texts as they were at a commit, as files; what was purged since is not in them."""

    def last(self) -> int:
        """Return the number of the last commit."""

    def before(self, numbers: Sequence[int], commit: int) -> dict[int, bytes]:
        """Return the lines, at a commit, of those of some rows that were there then and were written since."""

    def deleted(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the lines that those of some rows had that were deleted, when they were last."""

    def changes(self, numbers: Sequence[int]) -> Iterator[PlaceChange]:
        """Yield what became of the rows with these numbers, taken for one, newest first."""


class LastRead(Protocol):
    """What the catalog holds of a place as it was last read; the place stores there how each part was."""

    vocabulary: Vocabulary

    def file_stamps(self) -> dict[str, tuple[int, int, int, int]]:
        """Return the stamp of each part that was read, and when that was."""

    def stamp(self, file: str) -> Stamp | None:
        """Return the stamp of a part; None where it was not there."""

    def lines(self, file: str) -> dict[bytes, int]:
        """Return the rows of a part: line to number."""

    def purges(self) -> Purges:
        """Return what was purged."""

    def store_file(
        self,
        file: str,
        stamp: Stamp,
        digest: bytes,
        read_ns: int,
        *,
        findings: Collection[Finding] = (),
        purged: Collection[int] = (),
        is_ordered: bool,
    ) -> None:
        """Store how a part is, and what is wrong with it."""

    def remove_file(self, file: str) -> None:
        """Forget a part."""


class RowPlace(Protocol):
    """
    A place of rows, opened with what was last read of it.

    Only what says so needs ``holding``. Every method may be called twice with the same outcome.

    Attributes:
        lock_timeout_s: seconds that a writer waits for others.
        notices: what there is to say for people; whoever says it empties the list.
    """

    lock_timeout_s: float
    notices: list[str]

    def where(self) -> str | None:
        """Return, for people, where the rows are and what a row is worth that was written; None for the branch."""

    @property
    def history(self) -> PlaceHistory | None:
        """The commits of the place; None where git has them."""

    @property
    def role(self) -> str | None:
        """Who writes, as the place itself found out; None where it does not know."""

    def close(self) -> None:
        """Let go of what keeps the place open; the next use opens it again."""

    # --- watching -----------------------------------------------------------------------------------------------

    def has_changed(self, *, is_thorough: bool = False) -> bool:
        """
        Return whether anything may differ from what was last read; asked before every command, so it is quick.

        It may be wrong one way only: a change that was committed is never missed.

        Args:
            is_thorough: compare all contents too, not only their stamps.
        """

    def changed(self, end: float, *, is_thorough: bool = False, is_whole: bool = False) -> list[str]:
        """
        Return the parts that may differ from what was last read, also those that are gone; inside ``holding``.

        Args:
            end: until when to wait for others that are changing the place without its lock, of the monotonic clock.
            is_whole: look for what does not belong there too, for ``tidy``.

        Raises:
            Locked: they did not end.
        """

    def refuse_moved(self) -> None:
        """
        Return if the place is as it was at the last ``changed``: what was read since is of one moment.

        Raises:
            PlaceMoved: it is not; all is to be read again.
        """

    def wait(self, end: float) -> None:
        """Wait a moment for others that change the place without its lock, or raise ``Locked`` after ``end``."""

    def parts(self) -> list[str]:
        """Return the parts with rows of the kinds that this version knows, in name order."""

    def size(self) -> int:
        """Return about how many bytes the rows have."""

    # --- reading ------------------------------------------------------------------------------------------------

    def read_vocabulary(self) -> tuple[Vocabulary, list[Finding]]:
        """Return the types of the project, and what is wrong with the texts that give none."""

    def drifted_types(self) -> Collection[str]:
        """Return the types that rows are of and no text declares; the last vocabulary read says what is declared."""

    def text(self, file: str) -> bytes | None:
        """Return a text of the vocabulary as it is now; None where it is not there."""

    def all_parts(self) -> list[str]:
        """Return all that is read: the texts of types, then the parts with rows."""

    def to_read(self, changed: list[str]) -> list[str]:
        """
        Return the parts to read for those that changed, in an order in which each row is found where it is now.

        Called before ``read``, inside a transaction of the catalog and with the current vocabulary in it.
        """

    def read(self, file: str, *, is_every_line: bool) -> Iterator[Batch]:
        """
        Read a part, and yield what differs from what was last read, in any number of batches.

        Each batch is taken in before the next one is asked for. At the end, how the part is now is stored, in the same
        transaction. A row that was purged is not yielded; its number is stored. A row that is wrong is not yielded; its
        finding is stored. A part that is gone yields its rows as gone. Read again, it yields nothing.

        Args:
            is_every_line: compare rows that are known too with what was purged.
        """

    # --- writing ------------------------------------------------------------------------------------------------

    def holding(self, timeout_s: float) -> contextlib.AbstractContextManager[None]:
        """
        Hold the place alone while the block runs; what a dead process began to commit is finished first, or undone.

        Raises:
            Locked: another writer held it all the time; it names the holder. A holder that dies holds nothing.
            Refused, Unavailable: the place cannot be followed now; what was last read of it is whole.
        """

    def tidy(self) -> str | None:
        """
        Make the place ready to be written; inside ``holding``, after ``changed`` with ``is_whole``.

        Returns:
            What was changed of the rows, for people: they are to be read again then; None for nothing.

        Raises:
            Refused: something is there that a write would touch and must not.
            Unavailable: a write that was interrupted cannot be finished.
        """

    def refuse_unwell(self, files: Collection[str]) -> None:
        """Raise ``BadInput`` or ``Refused`` for parts that a write would harm; nothing is changed."""

    def commit(self, batches: Mapping[str, Batch], types: Types, taking_in: TakingIn, *, is_read_again: bool) -> None:
        """
        Write rows and texts, all or nothing, wherever the process dies; inside ``holding``.

        In each part, rows with a number that it has are replaced, others are new; rows that were purged go too.

        ``taking_in`` is entered once, when all that can fail or take long is done and nothing is changed yet. In it the
        caller takes the rows in and notes what ``undo`` needs; then the place stores how the parts will be. What is
        raised up to its end leaves the place as it was. A death after it may leave the catalog ahead of the place: then
        no stamp that was stored is that of a part, and ``changed`` names it.

        Args:
            types: new texts of the vocabulary; None for one that goes.
            is_read_again: the caller takes no row in: ``changed`` is to name these parts afterwards.

        Raises:
            FileReplaced: a part is not as it was last read; the command can be run again.
            Refused: it cannot be written; nothing was changed.
            Unconfirmed: the place stopped to answer when all was sent.
        """
