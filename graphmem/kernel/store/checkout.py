"""The files of the store at a commit, taken from git's objects into a folder that opens like any other store."""

import contextlib
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

import orjson

from graphmem.constants import FORMAT
from graphmem.errors import NotFound
from graphmem.kernel.catalog import vectors
from graphmem.kernel.catalog.database import CATALOG, CatalogError, remove
from graphmem.kernel.git import commands
from graphmem.kernel.git.commands import Commit
from graphmem.kernel.git.ref import blob_hash
from graphmem.kernel.ledger.files.data_file import without_purged
from graphmem.kernel.ledger.files.journal import replace_files
from graphmem.kernel.ledger.files.layout import FOLDER, Layout, is_plain
from graphmem.kernel.ledger.port import PlaceHistory
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.store.clone import find_clone
from graphmem.kernel.store.sync import SyncedLedger
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked
from graphmem.patterns import lazy_re

STATE = lazy_re(r"([0-9a-f]{40}|[0-9a-f]{64})(-[0-9a-f]{16})?")  # a tree's hash, and that of what was purged since
CLEARED = "cleared.json"  # in a past state: the hashes of the files that are not as committed, for rows were purged
KEPT = 5  # past states that stay at hand; each is as large as the store


def checkout(present: SyncedLedger, local: Path, at: str) -> tuple[Path, Commit]:
    """
    Take the store out of a commit, or of the last commit before a date, into a folder of its own.

    Args:
        present: the files as they are now, and their catalog.
        local: the folder of what is derived of them; past states are below it.
        at: a commit or a date.

    Returns:
        The folder that holds ``.graphmem`` as it was then, and the commit.

    Raises:
        NotFound: there is no such commit, or it holds no store.
        Unavailable: the store is in no git repository, or git is missing.
    """
    if (history := present.place.history) is not None:
        return _checkout_of(present, local, history, at)
    folder = present.layout.root
    commit = commands.describe(folder, commands.find_commit(folder, at, present.layout.history))
    tree, files = committed(folder, commit.hash)
    if not files:
        raise NotFound(f"commit {commit.hash[:10]} holds no {FOLDER} here", hint=f"see: git log -- {FOLDER}")
    present.sync()
    root = local / "at" / f"{tree}{_mark_of(present.catalog.purges())}"
    if not _is_whole(root, files):
        with locked(local / "at.lock", timeout_s=present.place.lock_timeout_s):
            _take_out(present, local, files, root)
    _note_use(root)
    return root, commit


def _checkout_of(present: SyncedLedger, local: Path, history: PlaceHistory, at: str) -> tuple[Path, Commit]:
    """Do the same for a place with commits of its own."""
    moment = history.moment(at)
    present.sync()
    name = hashlib.sha256(moment.name.encode()).hexdigest()
    root = local / "at" / f"{name}{_mark_of(present.catalog.purges())}"
    if not safe_files.is_folder(root / FOLDER):
        with locked(local / "at.lock", timeout_s=present.place.lock_timeout_s):
            files = {"config.toml": f"format = {FORMAT}\n".encode(), **history.files(moment)}
            _write(present, local, files, {}, root)
    _note_use(root)
    return root, Commit(str(moment.number), (), moment.at or datetime.fromtimestamp(0, UTC), "", "")


def _note_use(root: Path) -> None:
    """Note that a past state was used now, and remove those that were not for longest."""
    with safe_files.folder(root) as handle:
        os.utime(handle)
    _forget_oldest(root.parent)


def committed(folder: Path, commit: str) -> tuple[str, dict[str, str]]:
    """Return the hash of the store's folder at a commit, and its files with the hashes of their contents, if any."""
    tree = commands.tree_of(folder, commit, FOLDER)
    if tree is None:
        return "", {}
    return tree, {path: name for path, name in commands.files_of(folder, tree).items() if _is_read(path)}


def _is_read(path: str) -> bool:
    """Return whether a committed file is one that a store is read from."""
    if not is_plain(path):
        return False
    top, _, name = path.rpartition("/")
    if top in ("types/entities", "types/relations"):
        return name.endswith(".md")
    return path == "config.toml" or (path.startswith("data/") and name.endswith(".ndjson"))


def _mark_of(purges: Purges) -> str:
    """Return what names the purges that a past state was made without; empty if all were applied."""
    return f"-{hashlib.sha256(repr(sorted(purges.hashes)).encode()).hexdigest()[:16]}" if purges else ""


def _is_whole(root: Path, files: dict[str, str]) -> bool:
    """
    Return whether a past state has the files of its commit, byte for byte: git names them by their hashes.

    Files from which purged rows were taken have hashes of their own.
    """
    cleared: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        cleared = dict(orjson.loads(safe_files.read(root / CLEARED)))
    for path, name in {**files, **cleared}.items():
        try:
            data = safe_files.read(root / FOLDER / path)
        except OSError:
            return False
        if blob_hash(data, name) != name:
            return False
    return True


def _take_out(present: SyncedLedger, local: Path, files: dict[str, str], root: Path) -> None:
    """
    Write the files of a commit below ``root``, with what is derived of them so far: all or nothing.

    Rows that were purged since are left out: their texts are in git's history only.
    """
    if _is_whole(root, files):  # made by another process meanwhile
        return
    purges, symmetric = present.catalog.purges(), present.symmetric
    contents: dict[str, bytes] = {}
    cleared: dict[str, str] = {}
    with commands.objects(present.layout.root) as objects:
        for file, name in files.items():
            was = objects.read(name)
            data = without_purged(was, purges, symmetric) if file.startswith("data/") else was
            contents[file] = data
            if data is not was:
                cleared[file] = blob_hash(data, name)
    _write(present, local, contents, cleared, root)


def _write(present: SyncedLedger, local: Path, files: dict[str, bytes], cleared: dict[str, str], root: Path) -> None:
    """Write files of a store below ``root``, with what is derived of them so far: all or nothing, under the lock."""
    for path in safe_files.folders(root.parent):  # the process that made a draft held the lock, and is dead
        if path.name.startswith("."):
            safe_files.remove_folder(path)
    safe_files.remove_folder(root)
    draft = root.with_name(f".{root.name}.{os.getpid()}.tmp")
    contents = {draft / FOLDER / file: data for file, data in files.items()}
    replace_files({**contents, draft / CLEARED: orjson.dumps(cleared)} if cleared else contents)
    _begin_from(present, local, find_clone(Layout(draft)).layout.local)
    safe_files.replace(draft, root)


def _begin_from(present: SyncedLedger, local: Path, to: Path) -> None:
    """Begin with the catalog and the vectors of now: only rows that were other then have to be read and embedded."""
    try:
        with safe_files.folder(to, make=True):
            present.catalog.copy(to / CATALOG)
        with safe_files.folder(to / "vectors", make=True):
            for path in vectors.current_files(present.catalog, local / "vectors"):
                safe_files.copy(path, to / "vectors" / path.name)
    except (OSError, CatalogError):  # without them everything is read, which takes longer
        remove(to / CATALOG)


def _forget_oldest(folder: Path) -> None:
    """Remove the past states that were not asked for longest."""
    with contextlib.suppress(OSError):  # another process removes them too
        states = [path for path in safe_files.folders(folder) if STATE.fullmatch(path.name)]
        for path in sorted(states, key=lambda path: path.lstat().st_mtime, reverse=True)[KEPT:]:
            safe_files.remove_folder(path)
