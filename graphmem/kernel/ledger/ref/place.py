"""
The files of a store in commits of a ref: they lie in git's directory, and each write is a commit beside the branches.

The files count: a write is done once they are on the disk, and the commit follows. A process that dies between the two
leaves files that are not as the last commit; who holds the place next commits them. A ref that others moved is merged
with the files. So each step can be done again.
Source: docs/decisions/0053-a-ref-of-its-own.md.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import orjson

from graphmem.errors import FileReplaced, GraphmemError
from graphmem.kernel.git import commands
from graphmem.kernel.git.ref import OWN, MemoryRef, blob_hash
from graphmem.kernel.ledger.files.journal import Ready, replace_files
from graphmem.kernel.ledger.files.layout import FOLDER, Layout
from graphmem.kernel.ledger.files.place import FilePlace, Read
from graphmem.kernel.ledger.files.watch import FilesLastRead
from graphmem.kernel.ledger.port import Stamp
from graphmem.kernel.ledger.ref.merging import merged
from graphmem.kernel.system import safe_files

NAMED_FILES = 3  # in the subject of a commit


@dataclass
class CheckedOut:
    """
    Which commit the files were last as, with the hash and the stamp of each then.

    Args:
        is_new: the files are not a memory yet: what the ref has takes their place.
    """

    commit: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    is_new: bool = False

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return what a file says of it."""
        try:
            found = orjson.loads(safe_files.read(path))
            files = {path: (str(name), Stamp(*stamp)) for path, (name, *stamp) in (found["files"] or {}).items()}
            return cls(
                found["commit"],
                {path: name for path, (name, _) in files.items()},
                {path: stamp for path, (_, stamp) in files.items()},
                found["files"] is None,
            )
        except (OSError, ValueError, KeyError, TypeError):
            return cls(is_new=True)

    def write(self, path: Path, ref: str) -> None:
        """Let a file say it."""
        unknown = Stamp(0, 0, 0)
        files = {path: [name, *self.stamps.get(path, unknown)] for path, name in self.files.items()}
        text = {"ref": ref, "commit": self.commit, "files": None if self.is_new else files}
        safe_files.put(path, orjson.dumps(text), is_flushed=True)


class RefPlace(FilePlace):
    """The files of a store in the commits of a ref; ``port.RowPlace`` says what the methods do."""

    def __init__(self, layout: Layout, last: FilesLastRead, lock: Path, *, lock_timeout_s: float) -> None:
        super().__init__(layout, None, last, lock, lock_timeout_s=lock_timeout_s)
        self.ref = MemoryRef(layout.root, layout.history, FOLDER)

    def where(self) -> str | None:
        return f"in commits of {self.ref.name}; to share them: graphmem sync"

    def has_changed(self, *, is_thorough: bool = False) -> bool:
        return self.ref.value() != self.checked_out().commit or super().has_changed(is_thorough=is_thorough)

    @contextlib.contextmanager
    def holding(self, timeout_s: float) -> Iterator[None]:
        with super().holding(timeout_s):
            self.take_in()
            yield

    def put_in_place(self, contents: dict[Path, bytes | None], ready: Ready) -> None:
        super().put_in_place(contents, ready)
        self.publish_written()

    def refuse_changed(self, read: Read) -> None:
        super().refuse_changed(read)
        if self.ref.value() != self.checked_out().commit:
            raise FileReplaced(
                f"{self.ref.name} was moved by another program while this command ran; nothing was changed",
                hint="run the command again",
            )

    # --- files and commits ----------------------------------------------------------------------------------------

    def take_in(self) -> None:
        """
        Bring files and ref together: commit what was written, take in what the ref has; inside the lock.

        Raises:
            Refused: the ref holds what a memory does not, or what cannot be merged; the files are as before.
            Unavailable: git cannot write.
        """
        taken, at = self.checked_out(), self.ref.value()
        if at is None and taken.commit is not None and commands.commit_of(self.layout.root, taken.commit):
            self.ref.move(taken.commit, None)
            at = taken.commit
            self.notices.append(f"{self.ref.name} was gone, and is there again")
        if at is None:
            taken = CheckedOut(is_new=True)
        elif at != taken.commit:
            if taken.commit is not None and not self.ref.is_in(taken.commit, at):
                lost = taken.commit[:10]
                self.notices.append(f"{self.ref.name} was rewritten and has lost commit {lost}: the rows are merged")
            self.take(at, taken, self.base(taken, at))
            taken = CheckedOut(at, self.ref.files(at))
        self.publish(taken, [at] if at is not None else [])

    def meet(self, theirs: str, before: str | None) -> None:
        """
        Take in a commit of another clone; inside ``holding``. The ref has both afterwards.

        Args:
            before: the commit that the other one had at the last meeting: without it in its history, that was
                rewritten, and what it has lost does not come back with our history.

        Raises:
            Refused: as ``take_in``; nothing was changed.
        """
        taken = self.checked_out()
        if taken.commit is not None and self.ref.is_in(theirs, taken.commit):
            return
        self.take(theirs, taken, self.base(taken, theirs))
        has_parted = taken.commit is not None and not self.ref.is_in(taken.commit, theirs)
        if taken.commit is not None and has_parted and (before is None or self.ref.is_in(before, theirs)):
            self.publish(taken, [taken.commit, theirs])
            return
        if has_parted:
            self.notices.append(f"{self.ref.name} was rewritten elsewhere: rows are merged, the history is the new one")
        self.ref.move(theirs, taken.commit)
        self.publish(CheckedOut(theirs, self.ref.files(theirs)), [theirs])

    def base(self, taken: CheckedOut, at: str) -> Mapping[str, str] | None:
        """Return the files that ours and those of a commit both come from; None where ours do not count."""
        if taken.is_new:
            return None
        if taken.commit is None:
            return {}
        if self.ref.is_in(taken.commit, at):
            return taken.files
        common = self.ref.base(taken.commit, at)
        return self.ref.files(common) if common else {}

    def take(self, at: str, taken: CheckedOut, base: Mapping[str, str] | None) -> None:
        """Merge the files with a commit; without a base it replaces them."""
        theirs, ours = self.ref.files(at), self.files(taken, at)
        contents = {name: path for path, name in ours.items()}
        with commands.objects(self.layout.root) as objects:

            def read(name: str) -> bytes:
                if name in contents:
                    return safe_files.read(self.layout.store / contents[name])
                return objects.read(name)

            changes = merged(ours if base is None else base, ours, theirs, read)
        replace_files({self.layout.store / path: data for path, data in changes.items()}, self.layout)

    def publish_written(self) -> None:
        """Commit what was just written; where git cannot, the rows are kept, and the next one who writes does it."""
        try:
            taken = self.checked_out()
            self.publish(taken, [taken.commit] if taken.commit is not None else [])
        except GraphmemError as error:
            self.notices.append(f"{error.message}: what was written is kept, and the next write commits it")

    def publish(self, taken: CheckedOut, parents: list[str]) -> None:
        """Commit the files that are not as they were taken, and note how they are."""
        stamps: dict[str, Stamp] = {}
        like = taken.commit or "0" * 40
        files = self.files(taken, like, stamps)
        commit = taken.commit
        changes: dict[str, bytes | None] = {path: None for path in taken.files if path not in files}
        for path, name in files.items():
            if taken.files.get(path) != name:
                changes[path] = safe_files.read(self.layout.store / path)
        if changes or len(parents) > 1:
            names = [*changes][:NAMED_FILES]
            more = f" and {len(changes) - len(names)} more" if len(changes) > len(names) else ""
            commit = self.ref.commit(
                parents, changes, f"memory: {', '.join(names)}{more}" if names else "memory: merge"
            )
            if len(commit) != len(like):
                files = {path: blob_hash(safe_files.read(self.layout.store / path), commit) for path in files}
        if commit is not None and (commit, stamps) != (self.checked_out().commit, taken.stamps):
            with contextlib.suppress(OSError):  # it is found out again
                CheckedOut(commit, files, stamps).write(self.layout.checked_out, self.ref.name)

    def files(self, taken: CheckedOut, like: str, stamps: dict[str, Stamp] | None = None) -> dict[str, str]:
        """Return the files of the store with the hashes of their contents; ``stamps`` is filled with how each is."""
        found: dict[str, str] = {}
        for path in self.layout.shared_files():
            if OWN.fullmatch(path) and (stat := safe_files.stat_of(self.layout.at(path))) is not None:
                stamp = Stamp.of(stat)
                if taken.stamps.get(path) == stamp:
                    found[path] = taken.files[path]
                else:
                    found[path] = blob_hash(safe_files.read(self.layout.store / path), like)
                if stamps is not None:
                    stamps[path] = stamp
        return found

    def checked_out(self) -> CheckedOut:
        """Return which commit the files were last as."""
        return CheckedOut.read(self.layout.checked_out)
