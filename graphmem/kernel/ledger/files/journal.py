"""
All or nothing across files: new contents beside the old, a journal of the renames, the renames, the journal gone.

Source: docs/guarantees.md. Whoever calls holds the lock of the store; so a journal, or a file of new contents, that is
there when another process takes the lock was left by a dead process.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import orjson

from graphmem.errors import Refused
from graphmem.kernel.ledger.files.layout import FRESH, VOCABULARY_FILE, Layout, Look, is_plain
from graphmem.kernel.ledger.parts import home_of
from graphmem.kernel.system import safe_files

Ready = Callable[[Mapping[Path, Path]], None]
JOURNAL_BYTES = 2**24  # of a journal: some hundred bytes a file, and a write changes a file a kind


def replace_files(
    contents: dict[Path, bytes | None] | dict[Path, bytes],
    layout: Layout | None = None,
    ready: Ready = lambda fresh: None,
) -> None:
    """
    Put new contents in the place of files, all or none.

    Args:
        contents: by the path of the file, made where it is missing, folders too; None for a file that goes. They are
            let go of once they are on the disk: much may follow from them.
        layout: of the store that the files belong to; None for a copy elsewhere, which no journal protects.
        ready: called once the new contents are on the disk and nothing is replaced yet, with their paths by the path of
            the file; what it raises leaves the files as they are.

    Raises:
        Refused: the disk is full, or something cannot be written; the files are as before.
    """
    fresh = {
        path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path, data in contents.items() if data is not None
    }
    gone = [path for path, data in contents.items() if data is None]
    journal = layout.journal if layout is not None and len(contents) > 1 else None
    try:
        for path, new in fresh.items():
            with safe_files.folder(path.parent, make=True):
                safe_files.write(new, contents[path] or b"", is_flushed=True)
            contents[path] = b""
        draft = journal.with_name(f".{journal.name}.{os.getpid()}.tmp") if journal is not None else None
        if layout is not None and journal is not None and draft is not None:
            _flush_folders(fresh.values())
            steps = [
                *(
                    [str(new.relative_to(layout.store)), str(path.relative_to(layout.store))]
                    for path, new in fresh.items()
                ),
                *([str(path.relative_to(layout.store))] for path in gone),
            ]
            fresh[journal] = draft
            with safe_files.folder(journal.parent, make=True):
                safe_files.write(draft, orjson.dumps(steps), is_flushed=True)
        ready({path: new for path, new in fresh.items() if path != journal})  # all that takes long is done
        if journal is not None:
            safe_files.replace(fresh.pop(journal), journal)
            _flush_folders([journal])
    except Exception as error:  # whatever ``ready`` raises: nothing was replaced yet
        for new in fresh.values():
            with contextlib.suppress(OSError):
                safe_files.remove(new)
        if isinstance(error, OSError):
            raise Refused(f"the store cannot be written: {error.strerror}: {error.filename!r}") from error
        raise
    for path, new in fresh.items():
        safe_files.replace(new, path)
    for path in gone:
        safe_files.remove(path)
    _flush_folders(contents)
    if journal is not None:
        safe_files.remove(journal)


def recover(layout: Layout) -> bool:
    """
    Finish what a dead process began: its renames if its journal is whole, nothing of it otherwise.

    Returns:
        Whether there was a journal.
    """
    try:
        data = safe_files.read(layout.journal, most=JOURNAL_BYTES)
    except FileNotFoundError:
        if safe_files.is_folder(layout.journal):  # not ours: it would keep every write from being finished
            safe_files.remove_folder(layout.journal)
        return False
    steps = list(_read_steps(layout, data))
    for new, path in steps:
        with contextlib.suppress(FileNotFoundError):  # done before the process died
            safe_files.replace(new, path) if new is not None else safe_files.remove(path)
    _flush_folders(path for _, path in steps)
    safe_files.remove(layout.journal)
    return True


def _read_steps(layout: Layout, data: bytes) -> Iterator[tuple[Path | None, Path]]:
    """
    Yield the renames of a journal, then the files that go, without a new name; nothing if it is cut off, for then none
    had begun, or is not a list of these.

    A store comes with a branch, and a journal with it might too: only a file of new contents in the store's own folders
    is renamed, and only to the file that it is for; only a file of the vocabulary goes, or one
    whose rows go into others.
    """
    try:
        steps = orjson.loads(data)
    except orjson.JSONDecodeError:
        return
    if not isinstance(steps, list) or not all(_is_step(step) for step in steps):
        return
    written = set[str]()  # kinds, each by its one file, of which a file gets new contents
    for new, path in (step for step in steps if len(step) > 1):
        found = FRESH.fullmatch(Path(new).name)
        target = layout.store / path
        is_ours = found is not None and found[1] == target.name and Path(new).parent == Path(path).parent
        if is_ours and ".." not in Path(path).parts and target.parent in layout.folders():
            yield layout.store / new, target
            written |= {home_of(path)} if _is_data_file(path) else set()
    for (path,) in (step for step in steps if len(step) == 1):
        if VOCABULARY_FILE.fullmatch(path) or (_is_data_file(path) and home_of(path) in written):
            yield None, layout.store / path


def _is_step(step: object) -> bool:
    """Return whether an item of a journal is a rename, two paths below the store, or a file that goes, one path."""
    return isinstance(step, list) and len(step) in (1, 2) and all(map(_is_path, step))


def _is_data_file(path: str) -> bool:
    """Return whether a path of a journal is that of a data file."""
    return path.startswith("data/") and path.endswith(".ndjson") and is_plain(path) and ".." not in path.split("/")


def _is_path(value: object) -> bool:
    """Return whether a value of a journal can be a path."""
    return isinstance(value, str) and "\0" not in value


def sweep(layout: Layout, look: Look) -> None:
    """Remove what dead processes left, as it was seen; the caller has recovered first."""
    safe_files.remove_folder(layout.undo_aside)
    for file in look.leftovers:
        safe_files.remove(layout.store / file)


def _flush_folders(paths: Iterable[Path]) -> None:
    """Write the folders that hold these files down to the disk: their names count from then on."""
    for folder in {path.parent for path in paths}:
        safe_files.flush(folder)
