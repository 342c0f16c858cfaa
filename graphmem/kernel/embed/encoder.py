"""The light encoder: a BERT forward pass in numpy, for a cold process that embeds a text or two."""

import json
import mmap
from collections.abc import Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

import numpy as np
from kitoken import Kitoken
from numpy.typing import NDArray

from graphmem.constants import EMBEDDING_BATCH
from graphmem.errors import Unavailable
from graphmem.kernel.embed.recipe import WEIGHTS, read_json, read_recipe, read_tensors, supports, tensor_names
from graphmem.kernel.embed.threads import ONE_THREAD, side_by_side

Matrix: TypeAlias = NDArray[np.float32]
Vector: TypeAlias = NDArray[np.float32]

# erf(x) = x P(x^2) / Q(x^2) on [-4, 4], highest power first: the single precision fit of Eigen; off by 4.5e-7 at most
_P = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_Q = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)
# Replaced in the settings that kitoken makes of BERT's, as JSON: classes of characters are those of Unicode 8.0, with
# the few that have moved to another class since; and a capital sigma becomes σ at the end of a word too.
_AS_BEFORE = (
    (r"\\p{C}", r"[[\\p{Cc}\\p{Cf}\\p{Co}]&&\\p{Age=8.0}]"),
    (r"\\p{Mn}", r"[[[\\p{Mn}\\x{1734}\\x{1171E}]&&\\p{Age=8.0}]--[\\x{1885}\\x{1886}\\x{A9BD}\\x{111C9}]]"),
    (r"\\p{P}", r"[[\\p{P}\\x{166D}\\x{111C9}]&&\\p{Age=8.0}]"),
    ('{"CaseFold"', r'{"Replace": {"pattern": {"Character": "\u03a3"}, "replacement": "\u03c3"}}, {"CaseFold"'),
)
_CACHED_ROWS = 64  # rows of the widest layer that stay in the processor's cache: 2.5 times faster than all at once
_CACHED_PIECES = 2048  # at once: with more the system clears memory anew for each product, 160 MB for 32 long texts
_SHORTEST = 1e-12  # length below which a vector is not made longer, as in torch


class LightEncoder:
    """
    A BERT sentence model with mean pooling, run by numpy on its memory-mapped float32 weights.

    Its vectors differ from those of sentence-transformers by rounding only (3e-7), so the two may be mixed.
    A text beyond the model's maximum length is cut. Instances may be shared between threads.

    Args:
        folder: a sentence-transformers model folder for which ``supports`` is true.
        name: what the model is called outside.
        fingerprint: the identity of the model, see ``graphmem.kernel.embed.model.fingerprint``.

    Raises:
        Unavailable: the folder holds another kind of model, or its tokenizer cannot be read.
    """

    def __init__(self, folder: Path, *, name: str, fingerprint: str) -> None:
        recipe, config = read_recipe(folder), read_json(folder / "config.json")
        if not supports(folder) or recipe.max_tokens is None:
            raise Unavailable(f"the light encoder does not know the model in {str(folder)!r}")
        self.name = name
        self.fingerprint = fingerprint
        self.dimensions: int = config["hidden_size"]
        self._heads: int = config["num_attention_heads"]
        self._layers = [f"encoder.layer.{layer}." for layer in range(config["num_hidden_layers"])]
        self._epsilon: float = config.get("layer_norm_eps", 1e-12)
        self._weights = _map(folder / WEIGHTS, tensor_names(len(self._layers)))
        self._tokenizer = open_tokenizer(folder / "tokenizer.json")
        self._first, self._last = self._tokenizer.encode("[CLS][SEP]", True)
        self._inner = recipe.max_tokens - 2  # word pieces of a text between those two

    def encode(self, texts: Sequence[str]) -> Matrix:
        """
        Return a vector for each text, in the order of ``texts``.

        Args:
            texts: may be empty, and so may each text.

        Returns:
            float32, shape ``(len(texts), dimensions)``, unit rows, also of a model that does not normalise.

        Cost: 6 ms CPU for a short text, 35 ms for 120 word pieces. Source: engine-notes.md, "Embedding".
        """
        pieces = [
            np.array([self._first, *found[: self._inner], self._last], dtype=np.int32)
            for found in self._tokenizer.encode_all(list(texts), True)
        ]
        order = sorted(range(len(pieces)), key=lambda index: len(pieces[index]))
        vectors = np.empty((len(pieces), self.dimensions), dtype=np.float32)
        batches = [order[start : start + EMBEDDING_BATCH] for start in range(0, len(order), EMBEDDING_BATCH)]
        rows = [[pieces[index] for index in batch] for batch in batches]
        with ONE_THREAD, closing(side_by_side(self._forward, rows)) as made:
            for batch, found in zip(batches, made, strict=True):
                vectors[batch] = found
        return vectors

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return a vector for each text; the same as ``encode``, for the model has no prompts."""
        return self.encode(texts)

    def encode_query(self, text: str) -> Vector:
        """Return the vector of one text: float32, shape ``(dimensions,)``."""
        vector: Vector = self.encode([text])[0]
        return vector

    def _forward(self, batch: list[NDArray[np.int32]]) -> Matrix:
        """Return the vectors of ``batch``, which is sorted by length; its word pieces are rows, without padding."""
        lengths = np.array([len(pieces) for pieces in batch])
        if lengths.sum() > _CACHED_PIECES and len(batch) > 1:
            half = len(batch) // 2
            return np.concatenate([self._forward(batch[:half]), self._forward(batch[half:])])
        positions = np.concatenate([np.arange(length) for length in lengths])
        x = self._weights["embeddings.word_embeddings.weight"][np.concatenate(batch)]
        x += self._weights["embeddings.position_embeddings.weight"][positions]
        x += self._weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in self._layers:
            x += self._linear(self._attend(x, layer, lengths), layer + "attention.output.dense")
            x = self._norm(x, layer + "attention.output.LayerNorm")
            x += self._linear(_gelu(self._linear(x, layer + "intermediate.dense")), layer + "output.dense")
            x = self._norm(x, layer + "output.LayerNorm")
        sums: Matrix = np.add.reduceat(x, np.cumsum(lengths) - lengths, axis=0)
        sums /= lengths[:, None].astype(np.float32)
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(_SHORTEST))
        return sums

    def _attend(self, x: Matrix, layer: str, lengths: NDArray[np.int_]) -> Matrix:
        """Let the word pieces of each text see each other; texts of one length go together."""
        query, key, value = (self._linear(x, f"{layer}attention.self.{part}") for part in ("query", "key", "value"))
        query *= np.float32((self.dimensions // self._heads) ** -0.5)
        mixed = np.empty_like(x)
        start = 0
        for length, group in groupby(lengths.tolist()):
            stop = start + length * len(list(group))
            q, k, v, out = (
                rows[start:stop].reshape(-1, length, self._heads, self.dimensions // self._heads).transpose(0, 2, 1, 3)
                for rows in (query, key, value, mixed)
            )
            seen = q @ k.transpose(0, 1, 3, 2)
            seen -= seen.max(axis=-1, keepdims=True)
            np.exp(seen, out=seen)
            seen /= seen.sum(axis=-1, keepdims=True)
            np.matmul(seen, v, out=out)
            start = stop
        return mixed

    def _linear(self, x: Matrix, name: str) -> Matrix:
        y: Matrix = x @ self._weights[name + ".weight"].T
        y += self._weights[name + ".bias"]
        return y

    def _norm(self, x: Matrix, name: str) -> Matrix:
        x -= x.mean(axis=1, keepdims=True)
        x /= np.sqrt(np.square(x).mean(axis=1, keepdims=True) + np.float32(self._epsilon))
        x *= self._weights[name + ".weight"]
        x += self._weights[name + ".bias"]
        return x


def erf(x: Matrix) -> Matrix:
    """Return the error function of each number, to within 5e-7."""
    x = np.clip(x, np.float32(-4), np.float32(4))
    square = x * x
    y = _polynomial(_P, square)
    y *= x
    y /= _polynomial(_Q, square)
    return y


def _polynomial(coefficients: tuple[float, ...], x: Matrix) -> Matrix:
    y = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        y *= x
        y += np.float32(coefficient)
    return y


def _gelu(x: Matrix) -> Matrix:
    """Replace ``x`` by ``x / 2 (1 + erf(x / sqrt 2))`` and return it."""
    for start in range(0, len(x), _CACHED_ROWS):
        rows = x[start : start + _CACHED_ROWS]
        gate = erf(rows * np.float32(0.5**0.5))
        gate += np.float32(1)
        rows *= gate
        rows *= np.float32(0.5)
    return x


def _map(path: Path, names: list[str]) -> dict[str, Matrix]:
    """Return the named tensors of a safetensors file, mapped and read only."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    tensors = read_tensors(path)
    return {
        name: np.ndarray(tensors[name].shape, dtype="<f4", buffer=mapped, offset=tensors[name].start) for name in names
    }


def open_tokenizer(path: Path) -> Kitoken:
    """
    Return the tokenizer in ``path``, freed of the truncation and the padding that are stored with it.

    It gives the ids of ``tokenizers``, whose Unicode is 8.0 (docs/decisions/0052-the-tokenizer.md).
    """
    try:
        tokenizer = Kitoken.from_tokenizers_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise Unavailable(f"the tokenizer {str(path)!r} cannot be read: {error}") from error
    settings = json.dumps(tokenizer.config() | {"processing": []})
    for now, before in _AS_BEFORE:
        settings = settings.replace(now, before)
    tokenizer.set_config(json.loads(settings))
    return tokenizer
