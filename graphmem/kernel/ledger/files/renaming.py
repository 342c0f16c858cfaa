"""
Rows by the names that types have now, where a branch wrote them under former ones.

A merge brings such rows: one branch renamed a type, and another one went on to use it. They are read as rows of the
type, each once, and the next write puts them into its files.
Source: docs/decisions/0034-the-names-of-a-type.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import BinaryIO

from graphmem.kernel.git.merge_driver import Unmergeable, merge_rows
from graphmem.kernel.ledger.parts import holds
from graphmem.kernel.ledger.row import entry, line_id, plain_edge, read_entry
from graphmem.kernel.model import Entity, Event, Feedback, Frozen, Record
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.record import references_in, with_references
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import BLOCK_BYTES, BOM, BadLine, Lines
from graphmem.names import split_ref


class Renaming:
    """
    Types that have another name now, or go.

    Args:
        names: the name of each type now, by its former name; None for one that goes.
        symmetric: the symmetric relation types, by whatever name.
    """

    def __init__(self, names: Mapping[str, str | None], symmetric: Iterable[str]) -> None:
        known = frozenset(symmetric)
        self.names = names
        self.symmetric = known | {new for old, new in names.items() if new is not None and old in known}
        self.symmetric |= {old for old, new in names.items() if new in known}

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> "Renaming":
        """Return the names that the types of a project had before."""
        return cls(vocabulary.renamed, (name for name, made in vocabulary.relations.items() if made.symmetric))

    @cached_property
    def mention(self) -> re.Pattern[bytes]:
        """What a line has that may name a record of one of the types, or be of it."""
        return re.compile(rb'"(?:%b)[/"]' % b"|".join(re.escape(name.encode()) for name in self.names))

    def is_former(self, file: str) -> bool:
        """Return whether a data file is named by a former name."""
        return holds(file)[1] in self.names

    def held(self, file: str) -> tuple[str, str | None]:
        """Return the kind, and for entities and relations the type by its name now, of the rows of a data file."""
        kind, type_name = holds(file)
        return kind, self.names.get(type_name, type_name) if type_name else None

    def new_ref(self, ref: str) -> str | None:
        """Return what a reference becomes; None where what it means goes."""
        record_type, name = split_ref(ref)
        if record_type not in self.names:
            return ref
        new = self.names[record_type]
        return None if new is None else f"{new}/{name}"

    def changed(self, old: Entry) -> Entry | None:
        """Return the row in the place of another: itself where nothing of it changes, None where it goes."""
        if old.kind == "relation":
            return self.changed_edge(old)
        assert old.record is not None
        record = self.changed_record(old.record)
        return old if record is old.record else None if record is None else entry(record, self.symmetric)

    def changed_edge(self, old: Entry) -> Entry | None:
        """Return an edge with its type and ends by their new names; None where one of these goes."""
        kind = self.names.get(old.row["type"], old.row["type"])
        source, target = self.new_ref(old.row["from"]), self.new_ref(old.row["to"])
        if kind is None or source is None or target is None:
            return None
        if (kind, source, target) == (old.row["type"], old.row["from"], old.row["to"]):
            return old
        if kind in self.symmetric and target < source:
            source, target = target, source
        if old.record is None:
            return plain_edge({**old.row, "from": source, "type": kind, "to": target}, self.symmetric)
        made = old.record.model_copy(update={"source": source, "type": kind, "target": target})
        return entry(made, self.symmetric)

    def changed_record(self, record: Frozen) -> Frozen | None:
        """Return a record, a report or an event with what it names by new names; None where it goes."""
        if isinstance(record, Entity) and record.type in self.names:
            new = self.names[record.type]
            if new is None:
                return None
            record = record.model_copy(update={"type": new})
        if isinstance(record, Feedback):
            ref = self.new_ref(record.ref)
            return None if ref is None else record.model_copy(update={"ref": ref}) if ref != record.ref else record
        if isinstance(record, Event):  # it stays true when what it is about goes
            subject = record.subject and (self.new_ref(record.subject) or record.subject)
            return record if subject == record.subject else record.model_copy(update={"subject": subject})
        if not isinstance(record, Record):
            return record
        changes = {ref: new for ref in references_in(record) if (new := self.new_ref(ref)) != ref}
        return with_references(record, changes) if changes else record

    def is_mentioned(self, file: BinaryIO) -> bool:
        """Return whether a file may have a row that names one of the types; it is read from its beginning then."""
        rest, is_found = b"", False
        while not is_found and (block := file.read(BLOCK_BYTES)):
            is_found = self.mention.search(rest + block) is not None
            rest = block[-BLOCK_BYTES // 16 :]
        file.seek(0)
        return is_found

    def row_of(self, file: str | None, line: bytes) -> Entry | None:
        """Return the row on a line by the new names; None for what is not a row, or not one that ``file`` may hold."""
        if not line.strip():
            return None
        try:
            made = self.changed(read_entry(line.rstrip(b"\r"), self.symmetric))
        except BadLine:
            return None
        is_held = made is None or file is None or (made.kind, made.row.get("type")) == self.held(file)
        return made if is_held else None

    def united(self, lines: Sequence[bytes], more: Iterable[Entry] = ()) -> list[bytes]:
        """
        Return lines with their rows by the new names, each once and in its place, then those of other files.

        Two rows that get one key are merged as two branches are that both added it: no text is lost. What is not a row
        stays as it is, and so do two rows that had one key before.
        """
        made, places, changed = list(lines), dict[int, int](), set[int]()
        for place, line in enumerate(lines):
            try:
                new = self.row_of(None, line) if self.mention.search(line) else None
                number = line_id(line, self.symmetric) if new is None and line.strip() else new and new.id
            except (BadLine, KeyError, TypeError):
                continue
            if number is None:
                continue
            is_changed = new is not None and new.line != line.rstrip(b"\r")
            other = places.setdefault(number, place)
            if other != place and (is_changed or other in changed):
                made[other], made[place] = self.merged(made[other], new.line if new else line), b""
            elif new is not None and is_changed:
                made[place] = new.line
                changed.add(place)
        for new in more:
            if (other := places.setdefault(new.id, len(made))) == len(made):
                made.append(new.line)
            else:
                made[other] = self.merged(made[other], new.line)
        return made

    def numbered(self, files: Iterable[bytes]) -> dict[int, bytes]:
        """Return the rows of data files whose lines are all well, by the new names and each once, by number."""
        rows: dict[int, bytes] = {}
        for line in (line for data in files for line in data.removeprefix(BOM).split(b"\n")):
            if line.strip():
                new = self.row_of(None, line) if self.mention.search(line) else None
                number, made = (new.id, new.line) if new else (line_id(line, self.symmetric), line.rstrip(b"\r"))
                rows[number] = made if rows.get(number, made) == made else self.merged(rows[number], made)
        return rows

    def merged(self, line: bytes, other: bytes) -> bytes:
        """Return what two lines of one row come to."""
        try:
            return merge_rows(b"", line.rstrip(b"\r") + b"\n", other.rstrip(b"\r") + b"\n", self.symmetric).rstrip(
                b"\n"
            )
        except Unmergeable:
            return line


class CurrentLines(Lines):
    """
    The lines of a data file, by the names that types have now.

    Args:
        strays: rows that are read with this file, and are in files by former names.
        former: this file where it is such a one: its own rows are among strays, and what is no row of it is left.
    """

    def __init__(self, file: BinaryIO, renaming: Renaming, strays: Sequence[Entry], former: str | None) -> None:
        super().__init__(file)
        self.renaming, self.strays, self.former = renaming, strays, former
        self.is_changed = bool(strays) or former is not None or renaming.is_mentioned(file)

    def __iter__(self) -> Iterator[bytes]:
        if not self.is_changed:
            yield from super().__iter__()
            return
        lines = list(super().__iter__())
        left = [b"" if self.former and self.renaming.row_of(self.former, line) else line for line in lines]
        made = self.renaming.united(left, self.strays)
        self.is_changed = made != lines
        self.is_usual = self.is_usual and not self.is_changed
        yield from made
