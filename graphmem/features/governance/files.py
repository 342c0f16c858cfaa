"""The files of a repository as guarded work sees them: which are rows of the store, and what all others come to."""

import hashlib
from collections.abc import Mapping

from graphmem.kernel.git import worktree
from graphmem.kernel.git.places import top_of
from graphmem.kernel.git.worktree import TreeChange
from graphmem.kernel.store.runtime import Client

Entries = Mapping[str, tuple[str, str]]  # mode and hash by path below the top


class OwnFiles:
    """The rows of a store, as paths below the top of its repository."""

    def __init__(self, client: Client) -> None:
        top = (top_of(client.root) or client.root).resolve()
        self.store = client.layout.store.resolve().relative_to(top).as_posix()
        self.root = client.root.resolve().relative_to(top).as_posix()

    def holds(self, path: str) -> bool:
        """Return whether a path is of rows, or derived from definitions."""
        return path.startswith(f"{self.store}/data/") or path == f"{self.store}/schema.json"

    def in_project(self, path: str) -> str | None:
        """Return a path as one of the project; None for one outside of it."""
        if self.root == ".":
            return path
        return path.removeprefix(f"{self.root}/") if path.startswith(f"{self.root}/") else None

    def after(self, before: Entries, changes: list[TreeChange]) -> Entries:
        """Return the files after some changes; rows are left out."""
        gone = {change.path for change in changes if change.status == "D"}
        new = {one.path: (one.new_mode, one.new) for one in changes if one.status != "D" and not self.holds(one.path)}
        return {path: entry for path, entry in {**before, **new}.items() if path not in gone}


def dirty_files(client: Client) -> list[str]:
    """Return the tracked files that differ from HEAD, but for the rows of the store."""
    own = OwnFiles(client)
    return [path for path in worktree.dirty(client.root) if not own.holds(path)]


def entries_of(client: Client, commit: str) -> Entries:
    """Return the files of a commit but for the rows of the store."""
    return OwnFiles(client).after({}, worktree.changes(client.root, None, commit))


def content_of(entries: Entries) -> str:
    """Return a hash of files: what a stage looked at is there as long as it is the same."""
    lines = (f"{mode} {name} {path}\0" for path, (mode, name) in sorted(entries.items()))
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def content_of_branch(client: Client, branch: str) -> str | None:
    """Return the hash of the files of a branch; None where it is not here."""
    tip = worktree.value_of(client.root, worktree.BRANCHES + branch)
    return None if tip is None else content_of(entries_of(client, tip))
