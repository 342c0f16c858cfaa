"""
The vectors of a store: one flat file a model, found by the hash of the text, never made twice.

``vectors/<fingerprint>.f32`` holds float32 rows and grows; the catalog says which row belongs to which text. When three
of four rows belong to no text of the store, the others are copied to a new file: ``<fingerprint>.<generation>.f32``.
Search is exact: one product with all rows. Of very many rows short vectors choose which are measured (``sketch``).
"""

import contextlib
import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

from graphmem.constants import SKETCH_ROWS
from graphmem.kernel.catalog import pca
from graphmem.kernel.catalog.database import (
    Index,
    Reads,
    marks,
    parse_record,
    parse_row,
    remembered,
    rows_among,
    transaction,
)
from graphmem.kernel.catalog.hashes import hash_of, meaning_hashes
from graphmem.kernel.catalog.pca import Sketch, best, checksum, product
from graphmem.kernel.model import Feedback
from graphmem.kernel.system import safe_files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphmem.kernel.catalog.pca import Matrix, Vector

FEW = 5_000  # records of a record type up to which each is measured rather than picked out of the nearest of all,
# unless they are an eighth of all
COMPACTED_ROWS = 1_000  # of a file, below which its size does not matter
SPARE_FACTOR = (
    4  # rows of a file for each text, above which it is compacted: texts of other branches are kept until then
)
UNSET = "is_live AND text_hash IS NOT NULL AND vector IS NULL"
TABLES = {"record": UNSET, "symptom": "vector IS NULL", "question": "vector IS NULL"}  # with texts, and which lack one
NOT_MADE = "NOT EXISTS (SELECT 1 FROM vector WHERE model = :model AND vector.text_hash = {}.text_hash)"
UNMADE = {  # the same, of a model that is not that of the index
    "record": f"is_live AND text_hash IS NOT NULL AND {NOT_MADE.format('record')}",
    "symptom": NOT_MADE.format("symptom"),
    "question": NOT_MADE.format("question"),
}
ALL_TEXTS = (
    "SELECT text_hash FROM record WHERE text_hash IS NOT NULL"
    " UNION SELECT text_hash FROM symptom UNION SELECT text_hash FROM question"
)
ROUNDING = 1e-4  # that two ways to compute a cosine differ by at most
MOST_COSINE = 1.01  # of two unit vectors, with what rounding adds
STEP = 256  # texts embedded between two commits: what an interrupt can lose
AHEAD = 64  # the same, where a model is about to be changed: some are slow, or cost money
FEW_TEXTS = 8  # the same, where a command waits: 0.1 s


class Encoder(Protocol):
    """What makes the vectors of texts."""

    fingerprint: str
    dimensions: int

    def encode_documents(self, texts: Sequence[str]) -> "Matrix":
        """Return one unit row a text."""


class VectorStore(Index):
    """
    The vectors of one model, of records and of what reports say was asked; ``catch_up`` makes those that are missing.

    To another store it is an encoder.
    """

    def __init__(self, catalog: Reads, folder: Path, encoder: Encoder) -> None:
        super().__init__(catalog)
        self.sees_all = catalog.visible is None
        # A view, which hides records from a caller, has no index of its own.
        self.by_place = "record INDEXED BY record_place" if self.sees_all else "record"
        self.encoder = encoder
        self.folder = folder
        self.fingerprint, self.dimensions = encoder.fingerprint, encoder.dimensions
        self.row_bytes = 4 * encoder.dimensions
        self.sketch = Sketch(folder / f"{encoder.fingerprint}.sketch", encoder.dimensions)
        self.mapping = pca.Mapping()
        self.lacking = 0  # texts that the last `catch_up` left without a vector
        self.measured: tuple[Vector, Vector] | None = None  # a query, and the cosines of all rows with it
        self.ahead: dict[bytes, Vector] = {}  # by hash: vectors of texts that the write under way may store
        if self.sees_all:
            catalog.keep_vectors = self.keep_ahead
        self.checked_size = -1  # bytes of the file when it last held what the catalog says it does
        self.verified: str | None = None  # what the file was when its bytes were last as they were written

    def close(self) -> None:
        """Let go of the files."""
        self.mapping, self.sketch.mapping = pca.Mapping(), pca.Mapping()

    @property
    def generation(self) -> int:
        """How often the file was compacted; a reader of an older state of the catalog finds the file of that state."""
        return _generation_of(self.catalog, self.fingerprint)

    @property
    def path(self) -> Path:
        """The file of the vectors, as the catalog is now."""
        return _file_of(self.folder, self.fingerprint, self.generation)

    def catch_up(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        first: Callable[[], Collection[int]] = tuple,
        seconds: float = math.inf,
    ) -> int:
        """
        Give every live record and every question its vector; return how many texts had to be embedded.

        Args:
            progress: called with how many texts are done and how many there are.
            first: returns the records whose texts come before all others; called where texts are missing.
            seconds: to stop after, where there is more to embed than one batch; ``lacking`` then tells how many texts
                have no vector yet.
        """
        self.lacking = 0
        if not self.is_behind:
            self.sketch_all()
            return 0
        self.place_known()
        missing = self.missing(first())
        done, step = 0, STEP if seconds == math.inf else FEW_TEXTS
        end = time.monotonic() + (math.inf if len(missing) <= step else seconds)
        while done < len(missing) and time.monotonic() < end:
            if progress:
                progress(done, len(missing))
            self.embed(missing[done : done + step])
            self.place_known()
            done = min(done + step, len(missing))
        if done and progress:
            progress(len(missing), len(missing))
        self.lacking = len(missing) - done
        if self.is_wasteful:
            with contextlib.suppress(OSError):  # where the disk is full it has to wait
                self.compact()
        self.sketch_all()
        return done

    def make_ahead(self, progress: Callable[[int, int], None] | None = None, *, most: int | None = None) -> int:
        """
        Make the vectors that texts lack, and leave the index to the model that it is of; return how many were made.

        Args:
            progress: called with how many texts are done and how many there are.
            most: to stop after; None for all. ``lacking`` then tells how many texts have no vector yet.
        """
        if self.forget_short() and self.is_current:
            self.forget_places()
        missing = self.missing(where=UNMADE)
        wanted = missing[:most]
        for done in range(0, len(wanted), AHEAD):
            if progress:
                progress(done, len(wanted))
            self.embed(wanted[done : done + AHEAD])
        if wanted and progress:
            progress(len(wanted), len(wanted))
        self.lacking = len(missing) - len(wanted)
        return len(wanted)

    def unmade(self) -> int:
        """Return how many texts have no vector of this model, whichever model the index is of."""
        return len(dict(self.missing(where=UNMADE)))

    @property
    def is_behind(self) -> bool:
        """Whether there may be texts without a vector."""
        self.notice_changed_file()
        return self.lacks_some()

    @remembered
    def lacks_some(self) -> bool:
        """Return whether a text has no place among the vectors."""
        some = [f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {unset})" for table, unset in TABLES.items()]
        return any(found for (found,) in self.connection.execute(" UNION ALL ".join(some)))

    def missing(
        self, first: Collection[int] = (), *, where: Mapping[str, str] = TABLES
    ) -> list[tuple[bytes, int | None]]:
        """
        Return the texts without a vector by their hashes, each with a record that has it; None for a question.

        Args:
            first: records whose texts come before all others.
            where: what lacks a vector, by table.
        """
        questions = f"SELECT text_hash, NULL FROM question WHERE {where['question']}"
        records = f"SELECT text_hash, min(id) FROM record WHERE {where['record']} GROUP BY text_hash"
        symptoms = f"SELECT text_hash, min(record) FROM symptom WHERE {where['symptom']} GROUP BY text_hash"
        sql = f"{questions} UNION ALL {records} UNION ALL {symptoms}"
        missing = self.connection.execute(sql, {"model": self.fingerprint}).fetchall()
        sql = (
            f"SELECT text_hash FROM record WHERE {UNSET} AND id IN (...)"
            " UNION SELECT text_hash FROM symptom WHERE record IN (...)"
        )
        wanted = {digest for (digest,) in rows_among(self.connection, sql, first)}
        return sorted(missing, key=lambda found: found[0] not in wanted)

    @property
    def is_wasteful(self) -> bool:
        """Whether most rows of a file that is not small belong to texts that no record has."""
        rows = self.size() // self.row_bytes
        if rows < COMPACTED_ROWS or self.has_records(None, rows // SPARE_FACTOR):
            return False
        (texts,) = self.connection.execute(f"SELECT count(*) FROM ({ALL_TEXTS})").fetchone()
        return rows > SPARE_FACTOR * int(texts)

    def compact(self) -> None:
        """Keep the vectors of texts that records have, in a new file; the one before it stays for those who read it."""
        import numpy as np  # noqa: PLC0415 - as above

        with transaction(self.connection):
            old, generation = self.path, self.generation + 1
            sql = f"SELECT text_hash, place FROM vector WHERE model = ? AND text_hash IN ({ALL_TEXTS}) ORDER BY place"
            kept = self.connection.execute(sql, (self.fingerprint,)).fetchall()
            rows = self.rows()
            fresh = _file_of(self.folder, self.fingerprint, generation)
            safe_files.write(fresh, np.ascontiguousarray(rows[[place for _, place in kept]]).tobytes(), is_flushed=True)
            places = [(place, self.fingerprint, digest) for place, (digest, _) in enumerate(kept)]
            self.connection.execute("UPDATE vector SET place = NULL WHERE model = ?", (self.fingerprint,))
            self.connection.executemany("UPDATE vector SET place = ? WHERE model = ? AND text_hash = ?", places)
            self.connection.execute("DELETE FROM vector WHERE model = ? AND place IS NULL", (self.fingerprint,))
            self.forget_places()
            self.place_known()
            self.connection.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"vector_file {self.fingerprint}", generation)
            )
        safe_files.remove(self.sketch.path)
        _forget_files(self.folder, self.fingerprint, but=(old.name, fresh.name))
        self.checked_size = self.size()

    def notice_changed_file(self) -> None:
        """Forget the places in a file that is not what it was, or in that of another model."""
        self.catalog.look_again()
        found = safe_files.stat_of(self.path)
        size = found.st_size if found else 0
        if self.checked_size < 0 or size < self.checked_size or not self.is_current:
            self.switch()
        self.checked_size = size
        if found is not None and _state_of(found) != self.verified:
            self.verify(_state_of(found))

    def verify(self, seen: str) -> None:
        """
        Forget the vectors that are not as they were written, so that they are made again and no search ranks by them.

        A checksum of the whole file tells whether there are any. Of a file with short vectors, which no search reads
        whole, it is taken only where the file changed: what the system reports of it, ``seen``, is kept.
        """
        rows = self.rows()
        if len(rows) < SKETCH_ROWS or self.kept("vector_seen") != seen:
            generation, number, total = (self.kept("vector_sum") or "0 0 none").split()
            if generation != str(self.generation) or total != checksum(rows[: int(number)]):
                forget_damaged(self.catalog, self.folder)
                self.keep("vector_sum", f"{self.generation} {len(rows)} {checksum(rows)}")
            if safe_files.is_file(self.sketch.path) and self.kept("sketch_sum") != self.sketch.checksum():
                safe_files.remove(self.sketch.path)  # it is made again
            if len(rows) >= SKETCH_ROWS:
                self.keep("vector_seen", seen)
        self.verified = seen

    def kept(self, name: str) -> str | None:
        """Return what the catalog keeps of this model under a name."""
        found = self.catalog.meta(f"{name} {self.fingerprint}")
        return None if found is None else str(found)

    def keep(self, name: str, value: str | int) -> None:
        """Keep something of this model under a name."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{name} {self.fingerprint}", value))

    @property
    def is_current(self) -> bool:
        """Whether the places in the catalog are those of this model; another process may use another one meanwhile."""
        return bool(self.catalog.meta("vector_model") == self.fingerprint)

    def place_known(self) -> None:
        """Give records and questions the vectors of texts that were embedded before."""
        for table, unset in TABLES.items():
            known = f"SELECT place FROM vector WHERE model = ? AND vector.text_hash = {table}.text_hash"
            sql = f"UPDATE {table} SET vector = ({known}) WHERE {unset} AND EXISTS ({known})"
            self.connection.execute(sql, (self.encoder.fingerprint,) * 2)

    def forget_places(self) -> None:
        """Let no record and no question have a vector."""
        for table in TABLES:
            self.connection.execute(f"UPDATE {table} SET vector = NULL WHERE vector IS NOT NULL")

    def size(self) -> int:
        """Return the size of the file in bytes; 0 if it is missing."""
        found = safe_files.stat_of(self.path)
        return found.st_size if found else 0

    def rows(self) -> "Matrix":
        """Return the whole rows of the file, mapped, not read."""
        return self.mapping.rows(self.path, self.encoder.dimensions)

    def switch(self) -> None:
        """Forget the places in the file of another model, or in a file that is gone or shorter than was noted."""
        if self.forget_short() or not self.is_current:
            self.forget_places()
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('vector_model', ?)", (self.fingerprint,))

    def forget_short(self) -> bool:
        """Forget the rows of a file that is gone or shorter than was noted; return whether it is."""
        (top,) = self.connection.execute(
            "SELECT max(place) FROM vector WHERE model = ?", (self.fingerprint,)
        ).fetchone()
        is_short = top is not None and (top + 1) * self.row_bytes > self.size()
        if is_short:
            self.connection.execute("DELETE FROM vector WHERE model = ?", (self.fingerprint,))
        return is_short

    def embed(self, missing: Sequence[tuple[bytes, int | None]]) -> None:
        """Embed the texts of some records and questions, and note where their vectors are."""
        wanted = {digest for digest, _ in missing}
        texts: dict[bytes, str] = {}
        sql = "SELECT id, line, crc FROM record WHERE id IN (...)"
        for row in rows_among(self.connection, sql, {number for _, number in missing if number is not None}):
            found = meaning_hashes(parse_record(*row))
            texts |= {digest: text for digest, text in found.items() if digest in wanted}
        sql = "SELECT question, id, line, crc FROM fact WHERE question IN (...) GROUP BY question"
        questions = [digest for digest, number in missing if number is None]
        for digest, *row in rows_among(self.connection, sql, questions):
            report = parse_row(*row)
            assert isinstance(report, Feedback)
            texts[digest] = report.question or ""
        self.append(list(texts), self.encoder.encode_documents(list(texts.values())), is_there=True)

    def append(self, digests: Sequence[bytes], vectors: "Matrix", *, is_there: bool = False) -> None:
        """
        Write vectors at the end of the file and note their places; what a crash leaves half-written is cut off.

        Args:
            is_there: the texts are of the store; those that it no longer has, such as purged ones, are left out.
        """
        with transaction(self.connection):
            if is_there:
                sql = f"SELECT text_hash FROM ({ALL_TEXTS}) WHERE text_hash IN (...)"
                there = {digest for (digest,) in rows_among(self.connection, sql, digests)}
                vectors = vectors[[place for place, digest in enumerate(digests) if digest in there]]
                digests = [digest for digest in digests if digest in there]
            self._append(digests, vectors)

    def _append(self, digests: Sequence[bytes], vectors: "Matrix") -> None:
        """Do so in the transaction that is under way."""
        metas, size = self.catalog.metas(), self.row_bytes
        generation = metas.get(f"vector_file {self.fingerprint}") or 0
        path = _file_of(self.folder, self.fingerprint, generation)
        known = self.connection.execute("SELECT 1 FROM vector WHERE model = ? LIMIT 1", (self.fingerprint,))
        is_ours = known.fetchone() is not None  # else the catalog was made again, and nothing tells what is there
        with safe_files.folder(self.folder, make=True), safe_files.opened(path, "ab") as file:
            place = file.tell() // size if is_ours else 0
            is_verified = _state_of(os.fstat(file.fileno())) == self.verified
            file.truncate(place * size)
            if not is_ours:
                _forget_files(self.folder, self.fingerprint, but=(path.name,))
            data = vectors.astype("<f4", copy=False).tobytes()
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if is_verified:
                self.verified = _state_of(os.fstat(file.fileno()))
        of, number, total = (metas.get(f"vector_sum {self.fingerprint}") or "0 0 0").split()
        if place in (0, int(number)) and of == str(generation):
            total = checksum(vectors, int(total) if place else 0)
            self.keep("vector_sum", f"{generation} {place + len(vectors)} {total}")
        rows = [
            (self.fingerprint, digest, place + n, crc32(data[n * size : (n + 1) * size]))
            for n, digest in enumerate(digests)
        ]
        self.connection.executemany("INSERT OR REPLACE INTO vector VALUES (?,?,?,?)", rows)
        if metas.get(f"vector_bytes {self.fingerprint}") != size:
            self.keep("vector_bytes", size)

    def encode_ahead(self, text: str) -> None:
        """Make the vector of a text that has none, before a write; it is kept with the record that has the text."""
        digest = hash_of(text)
        if digest not in self.ahead and not self.places([digest]):
            self.ahead[digest] = self.encoder.encode_documents([text])[0]

    def keep_ahead(self, digests: Collection[bytes]) -> None:
        """Keep the vectors of texts that are stored, in the transaction that is under way."""
        import numpy as np  # noqa: PLC0415 - as below

        found = {digest: self.ahead.pop(digest) for digest in digests if digest in self.ahead}
        if found:
            with contextlib.suppress(OSError):  # where the disk is full they are made again
                self._append(list(found), np.stack(list(found.values())))

    def encode_documents(self, texts: Sequence[str]) -> "Matrix":
        """Return one unit row a text; those that are not kept yet are made, and kept."""
        import numpy as np  # noqa: PLC0415 - as below

        digests = [hash_of(text) for text in texts]
        if self.ahead.keys() >= {*digests}:
            return np.stack([self.ahead[digest] for digest in digests])
        self.notice_changed_file()
        missing = dict(zip(digests, texts, strict=True))
        for digest in self.places(digests):
            del missing[digest]
        if missing:
            self.append(list(missing), self.encoder.encode_documents(list(missing.values())))
        places = self.places(digests)
        return np.array(self.rows()[[places[digest] for digest in digests]])

    def places(self, digests: Collection[bytes]) -> dict[bytes, int]:
        """Return where the vectors of texts are, for those that have one."""
        return self.catalog.places(digests, self.fingerprint)

    def search(
        self, query: "Vector", record_types: Collection[str] | None, limit: int, *, least: float = -MOST_COSINE
    ) -> list[tuple[int, float]]:
        """
        Return the live records nearest to ``query`` with their cosines, nearest first.

        Args:
            query: float32, shape ``(dimensions,)``, unit length.
            record_types: kinds and entity types to look among; None for all.
            limit: at most this many. least: and none with a smaller cosine.
        """
        import numpy as np  # noqa: PLC0415 - only a search by meaning pays for it

        self.catalog.look_again()
        if not self.is_current:
            return []
        rows = self.rows()
        is_sketched = self.has_sketch_of(len(rows))
        is_bounded = least > -MOST_COSINE and not is_sketched  # then few of all rows are left
        if record_types is None or is_bounded or self.has_records(record_types, min(FEW, len(rows) // 8)):
            likeness = None if is_sketched else self.likeness(rows, query)
            pairs = self.nearest(rows, query, record_types, limit, least, likeness)
        else:
            pairs = self.placed(record_types)
        numbers = np.array([number for number, _ in pairs], dtype=np.int64)
        measured = _cosines(rows[[place for _, place in pairs]], query)
        cosines: list[float] = measured.tolist()
        found: dict[int, float] = {}  # of a record by its nearest text
        for place in np.lexsort((numbers, -measured)).tolist():
            if len(found) >= limit or cosines[place] < least:
                break
            found.setdefault(pairs[place][0], cosines[place])
        return [*found.items()]

    def nearest(
        self,
        rows: "Matrix",
        query: "Vector",
        record_types: Collection[str] | None,
        limit: int,
        least: float,
        likeness: "Vector | None",
    ) -> list[tuple[int, int]]:
        """Return records and their places, among them the nearest ``limit`` of those with such a cosine."""
        most = 2 * limit  # some rows are of texts that no record has, such as that of one about to be added
        while True:
            places = best(likeness, most) if likeness is not None else self.sketch.nearest(query, most, len(rows))
            near = places if likeness is None else places[likeness[places] >= least - ROUNDING]
            pairs = self.placed(record_types, near.tolist())
            if len(pairs) >= limit or len(places) >= len(rows) or len(near) < len(places):
                return pairs
            most *= 8  # most of these rows are of other record types, archived or gone

    def likeness(self, rows: "Matrix", query: "Vector") -> "Vector":
        """Return the cosines of all rows with a query; a query asks for them twice, for records and for questions."""
        if self.measured is None or self.measured[0] is not query or len(self.measured[1]) != len(rows):
            self.measured = query, _cosines(rows, query)
        return self.measured[1]

    def placed(
        self, record_types: Collection[str] | None, among: Collection[int] | None = None
    ) -> list[tuple[int, int]]:
        """
        Return live records and the places of their vectors.

        Args:
            record_types: kinds and entity types; None for all.
            among: places; None for any.
        """
        where = _of_types(record_types)
        symptoms = (
            "SELECT record, symptom.vector FROM symptom JOIN record ON id = record WHERE symptom.vector IS NOT NULL"
        )
        if record_types is not None:
            symptoms += f" AND record_type IN ({marks(record_types)})"
        if among is None:
            sql = f"SELECT id, vector FROM record WHERE {where} UNION ALL {symptoms}"
            return self.connection.execute(sql, (*(record_types or ()),) * 2).fetchall()
        sql = (  # left to itself the planner reads the whole record type
            f"SELECT id, vector FROM {self.by_place} WHERE {where} AND vector IN (...)"
            f" UNION ALL {symptoms} AND symptom.vector IN (...)"
        )
        return list(rows_among(self.connection, sql, among, [*(record_types or ())]))

    def has_records(self, record_types: Collection[str] | None, number: int) -> bool:
        """Return whether more than a number of live records of some types, None for all, have a vector."""
        sql = f"SELECT 1 FROM record WHERE {_of_types(record_types)} LIMIT 1 OFFSET ?"
        return self.connection.execute(sql, (*(record_types or ()), number)).fetchone() is not None

    def questions_like(self, query: "Vector", least: float, limit: int) -> dict[bytes, float]:
        """
        Return what reports say was asked, by hash, with its cosine with ``query`` where that is above ``least``.

        Args:
            query: float32, shape ``(dimensions,)``, unit length.
            limit: at most this many, those with the largest cosine.
        """
        some = "SELECT text_hash, vector FROM question WHERE vector IS NOT NULL"
        if not self.is_current or self.connection.execute(f"{some} LIMIT 1").fetchone() is None:
            return {}
        rows = self.rows()
        if self.has_sketch_of(len(rows)):
            near_places = self.sketch.nearest(query, limit * 8, len(rows)).tolist()
            asked = list(rows_among(self.connection, f"{some} AND vector IN (...)", near_places))
            measured = _cosines(rows[[place for _, place in asked]], query)
        else:  # the products are there, and no row of a record takes the place of a question
            asked = self.connection.execute(some).fetchall()
            measured = self.likeness(rows, query)[[place for _, place in asked]]
        pairs = zip([digest for digest, _ in asked], measured.tolist(), strict=True)
        near = [pair for pair in pairs if pair[1] > least]
        return dict(sorted(near, key=lambda pair: (-pair[1], pair[0]))[:limit])

    def likeness_among(self, questions: Sequence[bytes]) -> list[list[float]]:
        """Return the cosines of some questions with each other, shape ``(questions, questions)``."""
        places = self.places(questions)
        rows = self.rows()[[places[digest] for digest in questions]]
        return [_cosines(rows, row).tolist() for row in rows]

    @property
    def is_sketched(self) -> bool:
        """Whether short vectors choose among the rows."""
        return self.has_sketch_of(self.size() // self.row_bytes)

    def has_sketch_of(self, rows: int) -> bool:
        """
        Return whether there are so many rows that short vectors choose among them, and nearly all of them have one.

        Not for a caller who sees some records: how many others are near would decide what is chosen.
        """
        return self.sees_all and rows >= SKETCH_ROWS and rows - STEP <= len(self.sketch) <= rows

    def sketch_all(self) -> None:
        """Give every row of a large file its short vector; where the disk is full the whole rows have to do."""
        rows = self.size() // self.row_bytes
        if rows >= SKETCH_ROWS and len(self.sketch) != rows:
            with transaction(self.connection), contextlib.suppress(OSError):  # one process at a time
                self.sketch.extend(self.rows())
                self.keep("sketch_sum", self.sketch.checksum())

    def cosines_of(self, ids: Collection[int], query: "Vector") -> dict[int, float]:
        """
        Return the cosines of a unit vector with those of some records, where these have one; 0 for damaged ones.

        Of a record with a symptom it is the larger one, of its search text or of its symptom.
        """
        sql = (
            "SELECT id, vector FROM record WHERE id IN (...) AND vector IS NOT NULL"
            " UNION ALL SELECT record, vector FROM symptom WHERE record IN (...) AND vector IS NOT NULL"
        )
        places = list(rows_among(self.connection, sql, ids if self.is_current else ()))
        if not places:
            return {}
        rows = self.rows()[[place for _, place in places]]
        measured = _cosines(rows, query)
        measured[~_is_unit(rows)] = 0
        found: dict[int, float] = {}
        for (number, _), cosine in zip(places, measured.tolist(), strict=True):
            found[number] = max(cosine, found.get(number, -1.0))
        return found

    def of(self, ids: Collection[int]) -> "Iterator[tuple[int, Vector]]":
        """Yield the vectors of some records, where they have one that is not damaged."""
        rows = self.rows() if ids else None
        sql = "SELECT id, vector FROM record WHERE id IN (...) AND vector IS NOT NULL"
        for number, place in rows_among(self.connection, sql, ids if self.is_current else ()):
            assert rows is not None
            if _is_unit(rows[place : place + 1])[0]:
                yield number, rows[place]


def _of_types(record_types: Collection[str] | None) -> str:
    """Return the condition for the live records with a vector that are of some types; None for all."""
    where = "is_live AND text_hash IS NOT NULL AND vector IS NOT NULL"
    return where if record_types is None else f"{where} AND record_type IN ({marks(record_types)})"


def _cosines(rows: "Matrix", query: "Vector") -> "Vector":
    """Return the cosines of rows with a unit vector; 0 for a row so damaged that its length is not 1."""
    import numpy as np  # noqa: PLC0415 - only a search by meaning pays for it

    with np.errstate(all="ignore"):
        found = product(rows, query)
        return np.where(np.abs(found) <= MOST_COSINE, found, np.float32(0))


def _state_of(found: os.stat_result) -> str:
    """Return what changes with the bytes of a file, as far as the system tells."""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _is_unit(rows: "Matrix") -> "NDArray[np.bool_]":
    """Tell which rows are unit vectors, as far as a damaged one differs."""
    import numpy as np  # noqa: PLC0415 - as above

    with np.errstate(all="ignore"):
        norms = np.einsum("ij,ij->i", rows, rows)
        found: NDArray[np.bool_] = (norms > 0) & (norms <= MOST_COSINE)
        return found


def _generation_of(catalog: Reads, model: str) -> int:
    """Return which file of a model the catalog means."""
    return catalog.meta(f"vector_file {model}") or 0


@lru_cache(maxsize=64)  # a call asks ten times
def _file_of(folder: Path, model: str, generation: int) -> Path:
    """Return the path of a file of vectors."""
    return folder / (f"{model}.{generation}.f32" if generation else f"{model}.f32")


def current_files(catalog: Reads, folder: Path) -> list[Path]:
    """Return the files of vectors that the catalog means and that exist."""
    names = catalog.connection.execute("SELECT name FROM meta WHERE name GLOB 'vector_bytes *'").fetchall()
    models = [name.partition(" ")[2] for (name,) in names]
    found = [_file_of(folder, model, _generation_of(catalog, model)) for model in models]
    return [path for path in found if safe_files.is_file(path)]


def _forget_files(folder: Path, model: str, but: Collection[str] = ()) -> None:
    """Remove the files of a model's vectors, all generations of them but some."""
    for path in safe_files.files(folder):
        if path.name.startswith(f"{model}.") and path.suffix == ".f32" and path.name not in but:
            safe_files.remove(path)


def forget_model(catalog: Reads, files: Collection[Path]) -> None:
    """Remove the vectors of a model, which has these files."""
    (model,) = {model_of(path) for path in files}
    with transaction(catalog.connection):
        catalog.connection.execute("DELETE FROM vector WHERE model = ?", (model,))
        names = (f"vector_bytes {model}", f"vector_file {model}")
        catalog.connection.execute("DELETE FROM meta WHERE name IN (?, ?)", names)
    for path in files:
        safe_files.remove(path)


def model_of(file: Path) -> str:
    """Return the fingerprint of the model whose vectors, or short vectors, a file holds."""
    return file.name.partition(".")[0]


def damaged(catalog: Reads, folder: Path) -> list[tuple[str, bytes]]:
    """Return the vectors whose bytes are not as they were written, by model and hash of the text."""
    found: list[tuple[str, bytes]] = []
    models = catalog.connection.execute("SELECT name, value FROM meta WHERE name GLOB 'vector_bytes *'").fetchall()
    for model, size in ((name.partition(" ")[2], int(value)) for name, value in models):
        path = _file_of(folder, model, _generation_of(catalog, model))
        sql = "SELECT text_hash, place, crc FROM vector WHERE model = ? ORDER BY place"
        rows = catalog.connection.execute(sql, (model,)).fetchall()
        if not safe_files.is_file(path):
            continue  # what is gone is made again
        with safe_files.opened(path) as file:
            for digest, place, crc in rows:
                file.seek(place * size)
                if crc32(file.read(size)) != crc:
                    found.append((model, digest))
    return found


def forget_damaged(catalog: Reads, folder: Path) -> int:
    """Forget vectors that are damaged: the next search makes them again; return how many there are."""
    found = damaged(catalog, folder)
    with transaction(catalog.connection) if found else contextlib.nullcontext():
        catalog.connection.executemany("DELETE FROM vector WHERE model = ? AND text_hash = ?", found)
        for table in TABLES:
            sql = f"UPDATE {table} SET vector = NULL WHERE text_hash = ?"
            catalog.connection.executemany(sql, [(digest,) for _, digest in found])
    return len(found)


def forget(catalog: Reads, folder: Path, digests: Collection[bytes]) -> None:
    """Destroy the vectors of texts: those of every model, overwritten with zeros, and what was made of them."""
    places: dict[str, list[int]] = {}
    sql = "SELECT model, place FROM vector WHERE text_hash IN (...)"
    for model, place in rows_among(catalog.connection, sql, digests):
        places.setdefault(model, []).append(place)
    for model, found in places.items():
        size = catalog.meta(f"vector_bytes {model}")
        path = _file_of(folder, model, _generation_of(catalog, model))
        with contextlib.suppress(FileNotFoundError), safe_files.opened(path, "r+b") as file:
            for place in found:
                file.seek(place * size)
                file.write(bytes(size))
            file.flush()
            os.fsync(file.fileno())
        catalog.connection.execute("DELETE FROM meta WHERE name = ?", (f"vector_sum {model}",))
        _forget_files(folder, model, but=(path.name,))
        safe_files.remove(folder / f"{model}.sketch")
    with transaction(catalog.connection):
        catalog.connection.executemany("DELETE FROM vector WHERE text_hash = ?", [(digest,) for digest in digests])


def kept(catalog: Reads) -> dict[str, int]:
    """Return how many vectors are kept, of texts of any branch, by the fingerprint of their model."""
    return dict(catalog.connection.execute("SELECT model, count(*) FROM vector GROUP BY model ORDER BY model"))


def text_count(catalog: Reads) -> int:
    """Return how many texts of the store are found by meaning: those of live records, and what was asked."""
    live = ALL_TEXTS.replace("WHERE", "WHERE is_live AND", 1)
    (number,) = catalog.connection.execute(f"SELECT count(*) FROM ({live})").fetchone()
    return int(number)


def has_vector(catalog: Reads, digest: bytes) -> bool:
    """Return whether a text has a vector of any model, by its hash."""
    return catalog.connection.execute("SELECT 1 FROM vector WHERE text_hash = ?", (digest,)).fetchone() is not None
