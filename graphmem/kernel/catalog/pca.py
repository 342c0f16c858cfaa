"""
Short vectors beside a large file of long ones: they say which few rows are worth the whole product.

A product with all rows is cheaper than an index that has to be built (engine-notes, "Vector index"); of very many rows
reading them is what costs. So each is kept a second time by its first principal components, a third as long.
A search takes the best by these and measures them by the whole rows. The components are computed once, from a sample;
a row that is added later is projected on them, so nothing is ever built again.
Measured: docs/benchmarks/scale.md, "Search at scale".
"""

import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from graphmem.constants import SKETCH_CANDIDATES, SKETCH_DIMENSIONS, SKETCH_SAMPLE
from graphmem.kernel.system import safe_files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Matrix = NDArray[np.float32]

BLOCK = 16  # rows of one product: 6,144 numbers of 384 dimensions; OpenBLAS uses threads from 9,216 on
STEP = 50_000  # rows projected at once: 80 MB


class Mapping:
    """Rows of a file, mapped into memory; kept as long as the file is the same: a new one loads its pages again."""

    def __init__(self) -> None:
        self.key: tuple[int, int] | None = None
        self.kept: Matrix | None = None

    def rows(self, path: Path, width: int, head: int = 0) -> "Matrix":
        """Return the whole rows of ``width`` float32 that are in a file after ``head`` bytes."""
        import numpy as np  # noqa: PLC0415 - only a search by meaning needs it

        found = safe_files.stat_of(path)
        number = max(0, found.st_size - head) // (4 * width) if found else 0
        if not found or not number:
            return np.empty((0, width), dtype=np.float32)
        key = found.st_ino, found.st_size
        if self.kept is None or self.key != key:
            with safe_files.opened(path) as file:
                whole = mmap.mmap(file.fileno(), head + 4 * width * number, access=mmap.ACCESS_READ)
            self.kept = np.frombuffer(whole, dtype="<f4", offset=head).reshape(number, width)
            self.key = key
        return self.kept


class Sketch:
    """The short vectors of one file: the components, then one row of float32 for each row of that file."""

    def __init__(self, path: Path, dimensions: int) -> None:
        self.path = path
        self.dimensions = dimensions
        self.width = min(SKETCH_DIMENSIONS, dimensions)
        self.head_bytes = 4 * dimensions * self.width
        self.row_bytes = 4 * self.width
        self.mapping = Mapping()

    def __len__(self) -> int:
        """The whole rows that are there."""
        found = safe_files.stat_of(self.path)
        return max(0, found.st_size - self.head_bytes) // self.row_bytes if found else 0

    def extend(self, rows: "Matrix") -> None:
        """Project the rows that have no short vector yet; the caller keeps other processes from it."""
        import numpy as np  # noqa: PLC0415 - only a search by meaning needs it

        done = len(self)
        if done > len(rows):  # of a file that was made again
            safe_files.remove(self.path)
            done = 0
        if not done:
            self.begin(rows)
        components = self.components()
        with safe_files.opened(self.path, "r+b") as file:
            file.truncate(self.head_bytes + done * self.row_bytes)
            file.seek(0, os.SEEK_END)
            for start in range(done, len(rows), STEP):
                file.write((np.asarray(rows[start : start + STEP]) @ components).astype("<f4").tobytes())

    def begin(self, rows: "Matrix") -> None:
        """Compute the components of a sample of the rows, and begin the file with them."""
        import numpy as np  # noqa: PLC0415 - as above

        places = np.linspace(0, len(rows) - 1, min(len(rows), SKETCH_SAMPLE)).astype(np.int64)
        sample = np.asarray(rows[places], dtype=np.float64)
        _, vectors = np.linalg.eigh(sample.T @ sample)
        made = self.path.with_name(f"{self.path.name}.new")
        safe_files.write(made, np.ascontiguousarray(vectors[:, ::-1][:, : self.width]).astype("<f4").tobytes())
        safe_files.replace(made, self.path)

    def components(self) -> "Matrix":
        """Return the components, shape ``(dimensions, width)``."""
        import numpy as np  # noqa: PLC0415 - as above

        with safe_files.opened(self.path) as file:
            head = file.read(self.head_bytes)
        return np.frombuffer(head, dtype="<f4").reshape(-1, self.width)

    def checksum(self) -> str:
        """Return the checksum of all rows, of the components too."""
        with safe_files.opened(self.path) as file:
            head = file.read(self.head_bytes)
        import numpy as np  # noqa: PLC0415 - as above

        rows = self.mapping.rows(self.path, self.width, self.head_bytes)
        return checksum(rows, int(checksum(np.frombuffer(head, dtype="<f4").reshape(1, -1))))

    def nearest(self, query: "Vector", most: int, total: int) -> "NDArray[np.int64]":
        """
        Return the places of the rows that are likely to be the nearest, in no order.

        Args:
            query: float32, shape ``(dimensions,)``.
            most: how many are wanted; several times as many are returned.
            total: rows of the whole file; those that have no short vector yet are returned too.
        """
        import numpy as np  # noqa: PLC0415 - as above

        rows = self.mapping.rows(self.path, self.width, self.head_bytes)
        likely = product(rows, query @ self.components())
        return np.concatenate([best(likely, max(SKETCH_CANDIDATES, 4 * most)), np.arange(len(rows), total)])


def product(rows: "Matrix", query: "Vector") -> "Vector":
    """
    Return the product of rows with a vector, computed in this thread.

    Of a large product OpenBLAS gives a part to threads of its own, which then spin for 20 ms each time: twice the CPU
    time for a product that waits for memory anyway. A small one it does at once, so it gets the rows in small blocks.
    """
    import numpy as np  # noqa: PLC0415 - as above

    plain = np.asarray(rows)
    whole = len(plain) - len(plain) % BLOCK
    blocks = plain[:whole].reshape(-1, BLOCK, plain.shape[1])
    return np.concatenate([(blocks @ query).ravel(), plain[whole:] @ query])


def checksum(rows: "Matrix", before: int = 0) -> str:
    """Return a checksum of the sums of rows, taken as whole numbers, after that of the rows before them."""
    import numpy as np  # noqa: PLC0415 - as above

    words = np.ascontiguousarray(np.asarray(rows, dtype="<f4")).view(np.uint32 if rows.shape[-1] % 2 else np.uint64)
    return str(crc32(np.add.reduce(words, axis=1, dtype=np.uint64).tobytes(), before))


def best(values: "Vector", most: int) -> "NDArray[np.int64]":
    """Return the places of the largest values, in no order."""
    import numpy as np  # noqa: PLC0415 - as above

    if most >= len(values):
        return np.arange(len(values))
    return np.argpartition(values, -most)[-most:]
