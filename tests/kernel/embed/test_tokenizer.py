"""The ids of texts against `tokenizers`, on which the vectors of all stores are based."""

import json
import sys
from functools import cache
from pathlib import Path

import pytest

from graphmem.kernel.embed.encoder import open_tokenizer
from tests.kernel.embed.oracle import SPECIAL, make_texts, model_folder

# Scripts whose characters come by the thousand and are all treated alike: of these, the first and the last.
ALIKE = ((0x3402, 0x4DB0), (0x4E02, 0x9F00), (0xAC02, 0xD700), (0xE002, 0xF800), (0x20002, 0x2A000), (0x32002, 0xE0000))


@cache
def characters() -> list[str]:
    """Return each character that may differ from its neighbours."""
    taken = (*((first, last) for first, last in ALIKE), (0xD800, 0xE000), (0xE0202, 0x10FFF0))
    return [chr(code) for code in range(sys.maxunicode + 1) if not any(first <= code < last for first, last in taken)]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"lowercase": False}, {"lowercase": False, "strip_accents": True}])
def test_every_text_and_every_character_has_the_ids_of_tokenizers(tmp_path: Path, settings: dict[str, bool]) -> None:
    oracle = pytest.importorskip("tokenizers").Tokenizer
    document = json.loads((model_folder() / "tokenizer.json").read_text())
    document["normalizer"] |= settings
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    theirs, ours = oracle.from_file(str(path)), open_tokenizer(path)
    theirs.no_truncation()
    theirs.no_padding()
    texts = [*SPECIAL, *make_texts(), *(form.format(one) for form in ("{}", "E{}b") for one in characters())]
    expected = [found.ids for found in theirs.encode_batch(texts)]
    found = [[101, *ids, 102] for ids in ours.encode_all(texts, True)]
    assert [text for text, ids, wanted in zip(texts, found, expected, strict=True) if ids != wanted] == []
