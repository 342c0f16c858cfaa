"""The light encoder against sentence-transformers, on the real model."""

import json
import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from graphmem.constants import EMBEDDING_BATCH
from graphmem.errors import Unavailable
from graphmem.kernel.embed.encoder import LightEncoder, Matrix, erf
from graphmem.kernel.embed.model import fingerprint
from graphmem.kernel.embed.recipe import supports
from tests.kernel.embed.oracle import (
    PLAIN,
    SPECIAL,
    Oracle,
    copy_model,
    copy_plain,
    load,
    make_texts,
    model_folder,
    reference,
)
from tests.sample import open_memory


@pytest.fixture(scope="module")
def folder() -> Path:
    return model_folder()


@pytest.fixture(scope="module")
def light(folder: Path) -> LightEncoder:
    return LightEncoder(folder, name="light", fingerprint="f")


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return load()


@pytest.fixture(scope="module")
def texts(oracle: Oracle) -> list[str]:
    return oracle.texts


@pytest.fixture(scope="module")
def vectors(light: LightEncoder, texts: list[str]) -> Matrix:
    return light.encode(texts)


def change(file: Path, **settings: object) -> None:
    """Change fields of a settings file; ``None`` takes one out."""
    known = json.loads(file.read_text()) | settings
    file.write_text(json.dumps({name: value for name, value in known.items() if value is not None}))


@pytest.mark.long
def test_vectors_are_those_of_sentence_transformers(oracle: Oracle, vectors: Matrix) -> None:
    """Both write to one index, so a text must get the same vector from either."""
    assert oracle.texts == make_texts()
    assert len(oracle.vectors) == len(oracle.texts)
    assert np.abs(vectors - oracle.vectors).max() <= 1e-5


@pytest.mark.long
def test_the_vectors_in_the_file_are_those_of_sentence_transformers(folder: Path, oracle: Oracle) -> None:
    pytest.importorskip("sentence_transformers", reason="pip install 'graphmem[models]'")
    some = [*range(0, len(oracle.texts), 5), *map(oracle.texts.index, SPECIAL)]
    found = reference(folder, [oracle.texts[index] for index in some])
    assert np.abs(found - oracle.vectors[some]).max() <= 1e-6


@pytest.mark.long
def test_vectors_are_float32_rows_of_unit_length(texts: list[str], vectors: Matrix) -> None:
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(texts), 384)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() <= 1e-6


@pytest.mark.long
def test_vectors_keep_the_order_of_the_texts(light: LightEncoder, texts: list[str], vectors: Matrix) -> None:
    """Batches are sorted by length inside."""
    some = list(range(99, 0, -3))
    assert np.abs(light.encode([texts[index] for index in some]) - vectors[some]).max() <= 1e-6


@pytest.mark.long
def test_a_text_has_the_same_vector_alone_and_in_any_batch(
    light: LightEncoder, texts: list[str], vectors: Matrix
) -> None:
    alone = np.stack([light.encode_query(text) for text in texts[:60]])
    assert np.abs(alone - vectors[:60]).max() <= 1e-6
    assert np.abs(light.encode_documents(texts[:7]) - vectors[:7]).max() <= 1e-6


def test_no_texts_give_no_rows(light: LightEncoder) -> None:
    assert light.encode([]).shape == (0, 384)


def test_a_text_is_read_up_to_256_word_pieces(light: LightEncoder) -> None:
    """The model's tokenizer.json says 128, its sentence_bert_config.json 256; two of them mark the ends."""
    whole = light.encode_query("word " * 254)
    assert np.array_equal(light.encode_query("word " * 254 + "more"), whole)
    assert not np.array_equal(light.encode_query("word " * 253), whole)


@pytest.mark.long
def test_many_long_texts_take_little_memory_at_once(light: LightEncoder) -> None:
    """A batch of 32 took 160 MB."""
    alone = light.encode_query("word " * 254)
    tracemalloc.start()
    try:
        together = light.encode(["word " * 254] * EMBEDDING_BATCH)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60 * 2**20
    assert np.abs(together - alone).max() <= 1e-6


def test_erf_is_accurate_to_5e_7() -> None:
    x = np.linspace(-7, 7, 100_001, dtype=np.float32)
    assert max(abs(float(y) - math.erf(z)) for z, y in zip(x, erf(x), strict=True)) <= 5e-7


def test_a_folder_written_by_a_newer_sentence_transformers_gives_the_same_vectors(
    folder: Path, tmp_path: Path, texts: list[str], vectors: Matrix
) -> None:
    """Version 6 names the pooling by a word and keeps the maximum length with the tokenizer."""
    newer = copy_model(folder, tmp_path / "newer")
    (newer / "sentence_bert_config.json").write_text("{}")
    change(newer / "tokenizer_config.json", model_max_length=256)
    (newer / "1_Pooling/config.json").write_text('{"embedding_dimension": 384, "pooling_mode": "mean"}')
    change(newer / "config_sentence_transformers.json", prompts={"query": "", "document": ""})
    found = LightEncoder(newer, name="n", fingerprint="f").encode(texts[:32])
    assert np.abs(found - vectors[:32]).max() <= 1e-6


def test_a_model_that_does_not_normalise_is_searched_by_meaning_too(
    folder: Path, tmp_path: Path, oracle: Oracle
) -> None:
    """Longer vectors counted as damaged, and nothing was found by them."""
    plain = copy_plain(folder, tmp_path / "plain")
    found = LightEncoder(plain, name="n", fingerprint="f").encode(oracle.texts[:PLAIN])
    assert np.abs(found - oracle.plain).max() <= 1e-5
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() <= 1e-5
    assert fingerprint(plain, cache_folder=tmp_path) != fingerprint(folder, cache_folder=tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    with open_memory(project, embedder=LightEncoder(plain, name="n", fingerprint="f")) as memory:
        memory.failures.add("cannot reach the database server", fix="open the port")
        (hit,) = memory.query("connection to postgres refused").results
        assert hit.similarity > 0.3


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"hidden_act": "gelu_new"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("config.json", {"is_decoder": True}),
        ("config.json", {"num_hidden_layers": 7}),
        ("config.json", {"max_position_embeddings": 128}),
        ("config.json", {"model_type": None}),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("config_sentence_transformers.json", {"prompts": {"query": "query: "}}),
        ("config_sentence_transformers.json", {"truncate_dim": 128}),
    ],
)
def test_another_architecture_is_told_from_its_settings(
    folder: Path, tmp_path: Path, file: str, settings: dict[str, object]
) -> None:
    other = copy_model(folder, tmp_path / "other")
    assert supports(other)
    change(other / file, **settings)
    assert not supports(other)
    with pytest.raises(Unavailable, match="does not know"):
        LightEncoder(other, name="n", fingerprint="f")


def test_weights_of_another_precision_and_broken_files_are_not_supported(folder: Path, tmp_path: Path) -> None:
    other = copy_model(folder, tmp_path / "other")
    whole = (folder / "model.safetensors").read_bytes()
    for name, broken in {
        "half": whole.replace(b'"F32"', b'"F16"', 200),
        "cut": whole[:-1],
        "tiny": whole[:100],
        "empty": b"",
    }.items():
        (other / "model.safetensors").unlink()
        (other / "model.safetensors").write_bytes(broken)
        assert not supports(other), name
    assert not supports(tmp_path / "nowhere")


def test_a_broken_tokenizer_is_unavailable(folder: Path, tmp_path: Path) -> None:
    other = copy_model(folder, tmp_path / "other")
    (other / "tokenizer.json").write_text("{}")
    with pytest.raises(Unavailable, match="tokenizer"):
        LightEncoder(other, name="n", fingerprint="f")
