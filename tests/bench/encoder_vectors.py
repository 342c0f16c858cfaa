"""
Makes the oracle of the light encoder: texts with the vectors that sentence-transformers gives them, in one file.

Run ``python -m tests.bench.encoder_vectors`` where ``graphmem[models]`` is installed, after a change of its texts or of
the default model; ``tests/kernel/embed/test_encoder.py`` compares with the file, and needs no torch for it.
"""

import tempfile
from pathlib import Path

from tests.kernel.embed.oracle import FILE, PLAIN, Oracle, copy_plain, make_texts, model_folder, reference, write


def main() -> None:
    folder, texts = model_folder(), make_texts()
    with tempfile.TemporaryDirectory() as place:
        plain = reference(copy_plain(folder, Path(place) / "plain"), texts[:PLAIN])
    write(Oracle(texts, reference(folder, texts), plain))
    print(f"{FILE}: {len(texts)} texts, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
