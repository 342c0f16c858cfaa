"""Reading: what changed in the place of the rows becomes rows of the catalog, all in one transaction."""

import contextlib
from collections.abc import Iterable
from pathlib import Path

import orjson

from graphmem.constants import REPAIR_COMMAND
from graphmem.errors import DamagedCatalog
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.changes import ChangeApplier
from graphmem.kernel.catalog.hashes import meaning_hashes
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.parts import is_of_purges
from graphmem.kernel.ledger.port import RowPlace
from graphmem.kernel.machine import traces
from graphmem.kernel.machine.traces import traces_of
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import decode
from graphmem.kernel.system.collector import collector_paused


class PlaceReader:
    """
    Takes what changed in a place of rows into a catalog.

    Args:
        purge: the file that keeps the traces of purged records until they are cleared from this machine.
    """

    def __init__(self, place: RowPlace, catalog: Catalog, purge: Path) -> None:
        self.place = place
        self.catalog = catalog
        self.purge = purge
        self.vocabulary_findings: list[Finding] = []
        self.loaded: tuple[object, object] | None = None  # the vocabulary as the catalog keeps it

    def load_vocabulary(self) -> None:
        """
        Take the vocabulary as the catalog keeps it; another process may have read a new type.

        Raises:
            DamagedCatalog: it is not as it was written.
        """
        kept, findings = self.catalog.meta("vocabulary"), self.catalog.meta("vocabulary_findings")
        if self.loaded == (kept, findings):
            return
        try:
            vocabulary = Vocabulary.model_validate_json(kept) if kept else self.catalog.vocabulary
            found = [Finding.model_validate(finding) for finding in orjson.loads(findings or "[]")]
        except (ValueError, TypeError) as error:
            raise DamagedCatalog(
                "the vocabulary in the catalog is not as it was written", hint=REPAIR_COMMAND
            ) from error
        self.loaded, self.catalog.vocabulary, self.vocabulary_findings = (kept, findings), vocabulary, found

    def forget_vocabulary(self) -> None:
        """Take the empty vocabulary of an emptied catalog, until the files are read."""
        self.loaded = None
        self.catalog.vocabulary = Vocabulary(entities={}, project_relations={})

    def read_changes(self, changed: list[str]) -> int:
        """
        Take in the parts that changed, and return how many rows that are.

        Raises:
            PlaceMoved: others changed the place meanwhile; the catalog is as before.
        """
        rows, is_first = 0, self.catalog.is_new
        with self.catalog.transaction(), collector_paused():
            if is_first:
                self.catalog.next_epoch()
            if is_first or self.are_types_changed(changed):
                changed = self.read_types(changed)
            purges = [file for file in changed if is_of_purges(file)]
            before = self.catalog.purges()
            rows += self.take_in(purges)
            if purges:  # any row may have to be kept out now, or no longer
                self.keep_traces(self.catalog.purges().since(before))
                changed = sorted({*changed, *self.place.all_parts()} - {*purges})
            rows += self.take_in(changed, is_every_line=bool(purges))
            self.place.refuse_moved()
        return rows

    def keep_traces(self, purges: Purges) -> None:
        """Keep the texts and names of records that an arrived purge removes: their traces here are cleared next."""
        lines = self.catalog.record_lines() if purges else ()
        symmetric = self.catalog.vocabulary.symmetric
        found = {number: row for number, line in lines if purges.purged_at(row := decode(line), symmetric)}
        if found:
            texts = {digest for number in found for digest in meaning_hashes(self.catalog.stored(number))}
            kept = traces_of(found.values(), hashes=purges.hashes, digests=texts)
            with contextlib.suppress(OSError):  # a store that can only be read has no traces that could be cleared
                traces.keep(self.purge, kept)

    def take_in(self, changed: list[str], *, is_every_line: bool = False) -> int:
        """Read these parts and take in what changed in them; return how many rows that are."""
        with ChangeApplier(self.catalog) as intake:
            for file in sorted(self.place.to_read(changed), key=_table_order):
                for batch in self.place.read(file, is_every_line=is_every_line):
                    intake.take(batch)
        return intake.rows

    def are_types_changed(self, changed: Iterable[str]) -> bool:
        """Return whether the vocabulary follows from files that changed: of types, or the first of a type without."""
        if any(file.startswith("types/") for file in changed):
            return True
        if not any(file.startswith(("data/entities/", "data/relations/")) for file in changed):
            return False
        return {*self.place.drifted_types()} != self.catalog.vocabulary.drifted

    def read_types(self, changed: list[str]) -> list[str]:
        """Read the vocabulary again; return the files to read: all, unless types were only added."""
        old = self.catalog.vocabulary
        vocabulary, findings = self.place.read_vocabulary()
        is_same = vocabulary.renamed == old.renamed
        self.catalog.keep("vocabulary", vocabulary.model_dump_json())
        self.catalog.keep("vocabulary_findings", orjson.dumps([found.model_dump() for found in findings]))
        self.load_vocabulary()
        is_larger = vocabulary.entities.items() >= old.entities.items()
        if is_same and is_larger and vocabulary.project_relations.items() >= old.project_relations.items():
            return sorted({*changed, *(finding.file for finding in self.catalog.findings())})
        self.catalog.clear()
        return self.place.all_parts()


def _table_order(file: str) -> int:
    """Return what parts are sorted by before they are read: texts of types, records, then what refers to these."""
    return ChangeApplier.order(file)[0] if file.startswith("data/") else -1
