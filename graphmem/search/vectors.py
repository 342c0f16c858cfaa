"""
The vectors of a store: one flat file a model, found by the hash of the text, never made twice.

``vectors/<fingerprint>.f32`` holds float32 rows and only grows; the catalog says which row belongs to which text.
Search is exact: one product with all rows. Of very many rows short vectors choose which are measured (``sketch``).
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from graphmem import beneath
from graphmem.catalog.catalog import chunks, marks, parse_record, transaction
from graphmem.catalog.entry import hash_of
from graphmem.constants import SKETCH_ROWS
from graphmem.search.sketch import Mapping, Sketch, best

if TYPE_CHECKING:
    from graphmem.search.sketch import Matrix, Vector

FEW = 5_000  # records of a scope up to which each is measured rather than picked out of the nearest of all
STEP = 256  # texts embedded between two commits: what an interrupt can lose


class Encoder(Protocol):
    """What makes the vectors of texts."""

    fingerprint: str
    dimensions: int

    def encode_documents(self, texts: Sequence[str]) -> "Matrix":
        """Return one unit row a text."""


class VectorStore:
    """The vectors of one model; ``catch_up`` makes those that are missing. To another store it is an encoder."""

    def __init__(self, connection: sqlite3.Connection, folder: Path, encoder: Encoder) -> None:
        self.connection = connection
        self.encoder = encoder
        self.fingerprint, self.dimensions = encoder.fingerprint, encoder.dimensions
        self.path = folder / f"{encoder.fingerprint}.f32"
        self.row_bytes = 4 * encoder.dimensions
        self.sketch = Sketch(folder / f"{encoder.fingerprint}.sketch", encoder.dimensions)
        self.mapping = Mapping()
        self.checked_size = -1  # bytes of the file when it last held what the catalog says it does

    def catch_up(self, progress: Callable[[int, int], None] | None = None) -> int:
        """
        Give every live record of the store its vector; return how many texts had to be embedded.

        Args:
            progress: called with how many texts are done and how many there are.
        """
        self.check_file()
        unset = "is_live AND text_hash IS NOT NULL AND vector IS NULL"
        if not self.connection.execute(f"SELECT 1 FROM record WHERE {unset} LIMIT 1").fetchone():
            self.sketch_all()
            return 0
        self.place_known(unset)
        missing = self.connection.execute(
            f"SELECT text_hash, min(id) FROM record WHERE {unset} GROUP BY text_hash"
        ).fetchall()
        for done in range(0, len(missing), STEP):
            if progress:
                progress(done, len(missing))
            self.embed(missing[done : done + STEP])
        if missing:
            self.place_known(unset)
            if progress:
                progress(len(missing), len(missing))
        self.sketch_all()
        return len(missing)

    def check_file(self) -> None:
        """Forget the places in a file that is not what it was."""
        if self.checked_size < 0 or self.size() < self.checked_size:
            self.switch()
        self.checked_size = self.size()

    def place_known(self, unset: str) -> None:
        """Give records the vectors of texts that were embedded before."""
        known = "SELECT place FROM vector WHERE model = ? AND vector.text_hash = record.text_hash"
        self.connection.execute(
            f"UPDATE record SET vector = ({known}) WHERE {unset} AND EXISTS ({known})", (self.encoder.fingerprint,) * 2
        )

    def size(self) -> int:
        """Return the bytes of the file; 0 where there is none."""
        found = beneath.stat_of(self.path)
        return found.st_size if found else 0

    def rows(self) -> "Matrix":
        """Return the whole rows of the file, mapped, not read."""
        return self.mapping.rows(self.path, self.encoder.dimensions)

    def switch(self) -> None:
        """Forget the places in the file of another model, or in a file that is gone or shorter than was noted."""
        fingerprint = self.encoder.fingerprint
        kept = self.connection.execute("SELECT value FROM meta WHERE name = 'vector_model'").fetchone()
        (top,) = self.connection.execute("SELECT max(place) FROM vector WHERE model = ?", (fingerprint,)).fetchone()
        is_short = top is not None and (top + 1) * self.row_bytes > self.size()
        if is_short:
            self.connection.execute("DELETE FROM vector WHERE model = ?", (fingerprint,))
        if is_short or kept is None or kept[0] != fingerprint:
            self.connection.execute("UPDATE record SET vector = NULL WHERE vector IS NOT NULL")
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('vector_model', ?)", (fingerprint,))

    def embed(self, missing: Sequence[tuple[bytes, int]]) -> None:
        """Embed the texts of some records, and note where their vectors are."""
        ids = [number for _, number in missing]
        lines: dict[int, bytes] = {}
        for part in chunks(ids):
            lines |= dict(
                self.connection.execute(f"SELECT id, line FROM record WHERE id IN ({marks(part)})", part).fetchall()
            )
        vectors = self.encoder.encode_documents([parse_record(lines[number]).search_text for number in ids])
        self.append([digest for digest, _ in missing], vectors)

    def append(self, digests: Sequence[bytes], vectors: "Matrix") -> None:
        """Write vectors at the end of the file and note their places; what a crash leaves half-written is cut off."""
        with transaction(self.connection):
            with beneath.folder(self.path.parent, make=True), beneath.opened(self.path, "ab") as file:
                place = file.tell() // self.row_bytes
                file.truncate(place * self.row_bytes)
                file.write(vectors.astype("<f4", copy=False).tobytes())
                file.flush()
                os.fsync(file.fileno())
            rows = [(self.encoder.fingerprint, digest, place + n) for n, digest in enumerate(digests)]
            self.connection.executemany("INSERT OR REPLACE INTO vector VALUES (?,?,?)", rows)

    def vector_of(self, text: str) -> "Vector":
        """Return the vector of a text that a record has or is about to have; it is kept, so it is made once."""
        vector: Vector = self.encode_documents([text])[0]
        return vector

    def encode_documents(self, texts: Sequence[str]) -> "Matrix":
        """Return one unit row a text; those that are not kept yet are made, and kept."""
        import numpy as np  # noqa: PLC0415 - as below

        self.check_file()
        digests = [hash_of(text) for text in texts]
        missing = dict(zip(digests, texts, strict=True))
        for digest in self.places(digests):
            del missing[digest]
        if missing:
            self.append(list(missing), self.encoder.encode_documents(list(missing.values())))
        places = self.places(digests)
        return np.array(self.rows()[[places[digest] for digest in digests]])

    def places(self, digests: Collection[bytes]) -> dict[bytes, int]:
        """Return where the vectors of texts are, for those that have one."""
        found: dict[bytes, int] = {}
        for part in chunks(digests):
            sql = f"SELECT text_hash, place FROM vector WHERE model = ? AND text_hash IN ({marks(part)})"
            found |= dict(self.connection.execute(sql, (self.fingerprint, *part)).fetchall())
        return found

    def search(self, query: "Vector", scopes: Collection[str] | None, limit: int) -> list[tuple[int, float]]:
        """
        Return the live records nearest to ``query`` with their cosines, nearest first.

        Args:
            query: float32, shape ``(dimensions,)``, unit length.
            scopes: kinds and entity types to look among; None for all.
            limit: at most this many.
        """
        rows = self.rows()
        pairs = self.placed(scopes) if scopes is not None else []
        if not pairs or len(pairs) > FEW:
            pairs = self.nearest(rows, query, scopes, limit)
        cosines = (rows[[place for _, place in pairs]] @ query).tolist()
        found = zip([number for number, _ in pairs], cosines, strict=True)
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def nearest(
        self, rows: "Matrix", query: "Vector", scopes: Collection[str] | None, limit: int
    ) -> list[tuple[int, int]]:
        """Return records and their places, among them the nearest ``limit``."""
        cosines = None if self.is_sketched else rows @ query
        most = limit
        while True:
            places = best(cosines, most) if cosines is not None else self.sketch.nearest(query, most, len(rows))
            pairs = self.placed(scopes, places.tolist())
            if len(pairs) >= limit or len(places) >= len(rows):
                return pairs
            most *= 8  # most of these rows are of other scopes, archived or gone

    def placed(self, scopes: Collection[str] | None, among: Collection[int] | None = None) -> list[tuple[int, int]]:
        """
        Return live records and the places of their vectors.

        Args:
            scopes: kinds and entity types; None for all.
            among: places; None for any, and then only so many that it is seen whether they are few.
        """
        where = "is_live AND text_hash IS NOT NULL AND vector IS NOT NULL"
        where += f" AND scope IN ({marks(scopes)})" if scopes is not None else ""
        if among is None:
            sql = f"SELECT id, vector FROM record WHERE {where} LIMIT ?"
            return self.connection.execute(sql, (*(scopes or ()), FEW + 1)).fetchall()
        found: list[tuple[int, int]] = []
        for part in chunks(among):  # left to itself the planner reads the whole scope
            sql = f"SELECT id, vector FROM record INDEXED BY record_place WHERE {where} AND vector IN ({marks(part)})"
            found += self.connection.execute(sql, (*(scopes or ()), *part))
        return found

    @property
    def is_sketched(self) -> bool:
        """Whether there are so many rows that short vectors choose among them, and nearly all of them have one."""
        rows = self.size() // self.row_bytes
        return rows >= SKETCH_ROWS and rows - STEP <= len(self.sketch) <= rows

    def sketch_all(self) -> None:
        """Give every row of a large file its short vector; where the disk is full the whole rows have to do."""
        rows = self.rows()
        if len(rows) >= SKETCH_ROWS and len(self.sketch) != len(rows):
            with transaction(self.connection), contextlib.suppress(OSError):  # one process at a time
                self.sketch.extend(self.rows())

    def erase(self, places: Collection[int]) -> None:
        """Overwrite vectors in the file with zeros; short vectors are made anew of what is left."""
        with beneath.opened(self.path, "r+b") as file:
            for place in places:
                file.seek(place * self.row_bytes)
                file.write(bytes(self.row_bytes))
            file.flush()
            os.fsync(file.fileno())
        beneath.remove(self.sketch.path)

    def of(self, ids: Collection[int]) -> "Iterator[tuple[int, Vector]]":
        """Yield the vectors of some records, where they have one."""

        rows = self.rows() if ids else None
        for part in chunks(ids):
            sql = f"SELECT id, vector FROM record WHERE id IN ({marks(part)}) AND vector IS NOT NULL"
            for number, place in self.connection.execute(sql, part):
                assert rows is not None
                yield number, rows[place]


def forget(connection: sqlite3.Connection, folder: Path, digests: Collection[bytes], own: VectorStore | None) -> None:
    """Destroy the vectors of texts: those of our own model one by one, the files of other models as a whole."""
    places: dict[str, list[int]] = {}
    for part in chunks(digests):
        sql = f"SELECT model, place FROM vector WHERE text_hash IN ({marks(part)})"
        for model, place in connection.execute(sql, part):
            places.setdefault(model, []).append(place)
    with transaction(connection):
        for model, found in places.items():
            if own is not None and model == own.encoder.fingerprint:
                own.erase(found)
                sql = "DELETE FROM vector WHERE model = ? AND text_hash = ?"
                connection.executemany(sql, [(model, digest) for digest in digests])
                continue
            for suffix in ("f32", "sketch"):
                beneath.remove(folder / f"{model}.{suffix}")
            connection.execute("DELETE FROM vector WHERE model = ?", (model,))
            # Its records have to find their places anew, should the model come back.
            connection.execute("DELETE FROM meta WHERE name = 'vector_model' AND value = ?", (model,))
