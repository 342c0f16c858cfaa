"""Which files a model is made of, and what they hold: what ``graphmem trust`` binds to. Nothing of them is loaded."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from graphmem.errors import BadInput

MOST_FILES = 10_000  # of a model; a folder with more is none
OWNERS = {"embedding.model": "sentence-transformers", "retrieval.reranker": "cross-encoder"}  # of names without one

Seen = dict[str, list[int | str]]  # by path: what the system says of a file, and its SHA-256 then


def hub_cache() -> Path:
    """Return where huggingface_hub keeps what it fetched, without importing it."""
    user = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("HF_HOME", os.path.join(user, "huggingface"))
    return Path(os.environ.get("HF_HUB_CACHE", Path(home) / "hub")).expanduser()


def snapshots(name: str, revision: str | None) -> list[Path]:
    """Return the cached folders of a model of the hub: the wanted revision, or else the current one, comes first."""
    repository = hub_cache() / f"models--{name.replace('/', '--')}"
    if revision is None:
        with suppress(OSError):
            revision = (repository / "refs" / "main").read_text().strip()
    return sorted(repository.glob("snapshots/*"), key=lambda folder: (folder.name != revision, folder.name))


def folder_of(setting: str, name: str) -> tuple[Path, bool] | None:
    """Return the folder that a model would be loaded from, and whether it is one of this machine's, not of the hub."""
    if "/" not in name and not Path(name).is_dir():
        name = f"{OWNERS[setting]}/{name}"
    local = Path(name).expanduser()
    if local.is_dir():
        return local, True
    if name.startswith(("/", ".", "~")):
        return None
    return next(((folder, False) for folder in snapshots(name, None)), None)


def hashes(folder: Path, seen: Seen) -> dict[str, str]:
    """
    Return the SHA-256 of every file of a folder, by its path below it.

    Args:
        seen: hashes by path, taken over where a file is as it was, so that 90 MB need not be read each time; completed.

    Raises:
        BadInput: it has too many files, or one that cannot be read.
    """
    found: dict[str, str] = {}
    try:
        for path in files(folder):
            if len(found) == MOST_FILES:
                raise BadInput(f"{str(folder)!r} has more than {MOST_FILES:,} files: it is not a model")
            found[str(path.relative_to(folder))] = digest(path, seen)
    except OSError as error:
        raise BadInput(f"{str(error.filename)!r} cannot be read: {error.strerror}") from None
    return found


def files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, in name order; a link counts as what it leads to."""
    for path, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        yield from (Path(path, name) for name in sorted(names) if Path(path, name).is_file())


def digest(path: Path, seen: Seen) -> str:
    """Return the SHA-256 of a file; of one that is as it was when it was last read, that of then."""
    now = path.stat()
    state = [now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino]  # nothing but the system sets the third
    match seen.get(str(path.absolute())):
        case [*known, str(kept)] if known == state:
            return kept
    with path.open("rb") as file:
        made = hashlib.file_digest(file, "sha256").hexdigest()
    seen[str(path.absolute())] = [*state, made]
    return made
