"""The store at one moment, to be read, or held alone and written."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from graphmem.constants import SUGGESTION_NAMES
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.words import LexicalIndex
from graphmem.kernel.ledger.files.journal import replace_files
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.ledger.types import NO_TYPES, Types
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.registry import extensions
from graphmem.kernel.settings.config import Settings
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system.shell import command
from graphmem.names import quoted, split_ref
from graphmem.patterns import lazy_re

if TYPE_CHECKING:
    from graphmem.kernel.catalog.vectors import VectorStore
    from graphmem.kernel.store.runtime import Client
    from graphmem.kernel.store.sync import SyncedLedger

CANDIDATE_ID = lazy_re("c[0-9a-f]{8}")
ABOUT = {"relation": ("from", "to"), "feedback": ("ref",), "event": ("subject",)}  # fields: what a row is about


@dataclass(frozen=True)
class Snapshot:
    """
    The store at one moment, as of now or of a commit. ``Client.reading`` and ``Client.writing`` yield it.

    While it is in use no other process changes what it shows; a block that writes sees its own writes.
    """

    client: "Client"

    @cached_property
    def now(self) -> datetime:
        """The time at which it was first asked for: one answer has one."""
        return self.client.now()

    @property
    def catalog(self) -> Catalog:
        """The records, the relations and what was reported about them."""
        return self.client.catalog

    @property
    def vocabulary(self) -> Vocabulary:
        """The kinds and types of the store."""
        return self.client.catalog.vocabulary

    @property
    def lexical(self) -> LexicalIndex:
        """The index of the words."""
        return self.client.lexical

    @property
    def vectors(self) -> "VectorStore | None":
        """The vectors; None without a model."""
        return self.client.vectors

    @property
    def settings(self) -> Settings:
        """The settings of the store."""
        return self.client.settings

    @property
    def layout(self) -> Layout:
        """Where the files are."""
        return self.client.layout

    @property
    def root(self) -> Path:
        """The folder of the project: whose code and packages the records are about."""
        return self.client.root

    @property
    def is_past(self) -> bool:
        """Whether it is of a commit: the code of that time is not at hand."""
        return self.client.present is not None

    @property
    def ledger(self) -> "SyncedLedger":
        """The files: what is wrong with them, and what is written to them that is not rows."""
        return self.client.ledger

    @property
    def symmetric(self) -> frozenset[str]:
        """The names of the symmetric relation types."""
        return self.ledger.symmetric

    def notify_once(self, text: str) -> None:
        """Report what bears on the answer, which holds it as a notice; people are shown it once."""
        self.client.notify_once(text)

    def notify(self, text: str) -> None:
        """Report what was done with what this very call gave; the answer holds it as a notice."""
        self.client.notify(text)

    def resolve(self, ref: str, record_types: Collection[str] | None = None) -> int:
        """
        Return the number of the record that a reference or an unambiguous bare name means.

        Args:
            ref: ``kind/name``, ``type/name`` or a name alone.
            record_types: what it may be; None for anything.

        Raises:
            NotFound: nothing has that name, or several have.
        """
        catalog, sees = self.catalog, self.client.rights.sees
        if sees is not None:
            record_types = [one for one in record_types or catalog.vocabulary.record_types if one in sees]
        record_type, name = split_ref(ref)
        self.client.refuse_unseen([record_type])
        is_wanted = record_types is None or catalog.vocabulary.renamed.get(record_type, record_type) in record_types
        if record_type in (*catalog.vocabulary.record_types, *catalog.vocabulary.renamed) and is_wanted:
            number = catalog.lookup(record_type, name)
            if number is not None:
                return self.warned(number, name)
        found = catalog.anywhere(ref, record_types)
        if len(found) == 1:
            return self.warned(found[0], split_ref(ref)[1])
        if found:
            refs = sorted(catalog.refs(found).values())
            one_of = ", ".join(map(quoted, refs))
            raise NotFound(f"{ref!r} is ambiguous", hint=f"one of: {one_of}", details={"candidates": refs})
        raise NotFound(f"nothing is named {ref!r}", hint=self.suggestion(ref, record_types), details={"ref": ref})

    def warned(self, number: int, name: str) -> int:
        """Return the number of a record; where others have the name that was typed, warn once which they are."""
        others = self.catalog.namesakes(number, name)
        if others:
            refs = self.catalog.refs([number, *others])
            also = ", ".join(sorted(quoted(refs[other]) for other in others))
            self.notify_once(f"{quoted(refs[number])} is not the only record of this name; the others: {also}")
        return number

    def suggestion(self, ref: str, record_types: Collection[str] | None) -> str:
        """Return what was meant by a name that nothing has, or how to find out."""
        if CANDIDATE_ID.fullmatch(ref):
            return f"of a candidate that is the id: {command('graphmem', 'review', 'show', ref)}"
        names = [
            name
            for name in self.catalog.names(SUGGESTION_NAMES)
            if record_types is None or split_ref(name)[0] in record_types
        ]
        bare = {split_ref(name)[1]: name for name in names}
        record_type, name = split_ref(ref)
        known = [one for one in self.catalog.vocabulary.record_types if self.catalog.may_tell(one)]
        if record_type and record_type not in known and (near := did_you_mean(record_type, known)):
            return f"{record_type!r} is not a kind or type; {near}"
        return did_you_mean(ref, names) or did_you_mean(name, bare) or "see: graphmem list"


@dataclass(frozen=True)
class Writing(Snapshot):
    """The store while one caller holds it alone. ``Client.writing`` yields it; nothing else can commit."""

    def commit(
        self,
        puts: Sequence[Entry],
        removes: Mapping[str, Sequence[int]] | None = None,
        types: Types = NO_TYPES,
        *,
        via: str | None = None,
        is_noted: bool = True,
        is_moved: bool = False,
    ) -> None:
        """
        Write rows into their files, and files of types, and take them in, all or none.

        Args:
            puts: rows that are new or take the place of the row with their number.
            removes: numbers of rows to take out, by file.
            types: new texts of files of types, by path below the store; None for one that goes.
            via: through what the rows come, where that is not the caller.
            is_noted: the write can be taken back with ``undo``.
            is_moved: the rows are there already, under other keys: a secret that one holds is not brought in now.

        Raises:
            Refused: a file that would change has lines that are wrong, a row holds a secret, or is of a type that no
                file declares.
        """
        self.admit(puts, removes or {}, types)
        try:
            author = self.client.author(via) if is_noted and not is_moved else None
            self.client.ledger.commit(
                puts,
                removes,
                types,
                author=author,
                is_proven=self.client.rights.by is not None,
                is_noted=is_noted,
                is_moved=is_moved,
            )
        except BadInput as error:
            hidden = [found.file for found in self.client.ledger.findings() if not self.client.may_see(found.file)]
            if not error.message.startswith(tuple(hidden)):
                raise
            told = "a file that this caller may not read has bad lines: nothing was written"
            raise BadInput(told, hint="graphmem validate names them to a caller that may read the file") from None
        if self.client.ledger.place.history is not None:  # scopes and the like are read as files of this machine
            own = {file: text for file, text in types.items() if not file.startswith("types/")}
            replace_files({self.layout.store / file: text for file, text in own.items()})

    def admit(self, puts: Iterable[Entry], removes: Mapping[str, Collection[int]], types: Types) -> None:
        """Raise ``Refused`` for a write that the caller, or a guard of a feature, does not allow; as ``commit``."""
        guards, writes = extensions("write"), self.client.rights.writes
        if guards or writes is not None:
            rows = [entry.row for entry in puts]
            for file, numbers in removes.items():
                rows += map(orjson.loads, self.client.everything.lines_of(numbers, file).values())
            for row in rows if writes is not None else ():
                refuse_unwritable(row, writes or ())
            for guard in guards:
                guard(self.client, rows, types)


def refuse_unwritable(row: Mapping[str, Any], writes: Collection[str]) -> None:
    """
    Raise ``Refused`` for a row that a caller may not write who may write some kinds and entity types only.

    An edge may be written if one of its ends may; what happened to a record, or was said of it, if the record may.
    """
    about = dict.fromkeys(types_of(row))
    if not any(name in writes for name in about):
        named = " or ".join(map(repr, about))
        hint = f"it may write: {', '.join(sorted(writes)) or 'nothing'}"
        raise Refused(f"this caller may not write {named}", hint=hint)


def types_of(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the kinds and entity types that a row is of: of an edge those of its ends, of a fact what it is about."""
    kind = row["kind"]
    about = [found for name in ABOUT.get(kind, ()) if (found := split_ref(str(row.get(name) or ""))[0])]
    yield from about or [str(row["type"]) if kind == "entity" else kind]
