"""
A ref whose commits hold a memory: its value, the files of a commit, a new commit.

Git's plumbing alone: neither index nor working tree is touched, and no hook runs. What the ref holds may be a
stranger's: it is read only if all of it is plain files of memories.
Source: docs/decisions/0053-a-ref-of-its-own.md.
"""

import hashlib
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from graphmem.errors import Refused, Unavailable, Usage
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import common_of, directory_of, top_of
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command
from graphmem.names import visible
from graphmem.patterns import lazy_re

USUAL_REF = "refs/heads/graphmem/memory"
REF = lazy_re(r"refs(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+")
HASH = lazy_re(r"[0-9a-f]{40}|[0-9a-f]{64}")
NAME = r"(?!\.)[A-Za-z0-9_.-]+"
# What a store has of its own in a commit, below the folder of the store.
OWN = lazy_re(
    rf"config\.toml|schema\.json|workflows\.json|\.gitignore|\.gitattributes|data/({NAME}/)*{NAME}\.ndjson"
    rf"|types/(entities|relations)/{NAME}\.md|extractors/{NAME}\.md(\.aside)?"
    rf"|queries/{NAME}/{NAME}\.cypher(\.aside)?|(scopes|formats)/{NAME}\.toml"
)
IDENTITY = r"^user\.(name|email)$"
# A ref counts once it and its objects are on the disk.
SAFE = ("core.fsync=committed,loose-object,reference", "fastimport.unpackLimit=100")


def valid_ref(name: str) -> str:
    """Return the full name of a ref, or raise ``Usage``."""
    if not REF.fullmatch(name) or ".." in name or any(part.endswith((".lock", ".")) for part in name.split("/")):
        raise Usage(f"{visible(name)!r} is not the full name of a ref", hint=f"such as {USUAL_REF}")
    return name


@dataclass(frozen=True)
class MemoryRef:
    """
    A ref that holds the memory of a project, and maybe those of other projects in the same repository.

    Args:
        root: the folder of the project.
        name: of the ref, in full.
        store: the name of the folder of a store.
    """

    root: Path
    name: str
    store: str

    @cached_property
    def places(self) -> tuple[Path, Path]:
        """What holds the history, and the path of the project below the top."""
        found = common_of(self.root)
        if found is None:
            raise Unavailable(f"{str(self.root)!r} is in no git repository", hint="begin one with: git init")
        return found

    @property
    def prefix(self) -> str:
        """The path of the store in a commit, with a slash at its end."""
        found = f"{(self.places[1] / self.store).as_posix()}/"
        if "\n" in found or found.startswith('"'):
            raise Unavailable(f"{visible(found)!r} cannot be in a commit of a ref", hint="rename the folder")
        return found

    def value(self) -> str | None:
        """
        Return the commit that the ref names; None where there is no such ref.

        Raises:
            Refused: it names another ref, or nothing that is a commit.
        """
        try:
            found = safe_files.read(self.places[0] / self.name, most=1_000).decode("ascii", "replace").strip()
        except OSError:  # packed, or kept in another way
            return self._packed()
        if not HASH.fullmatch(found):
            raise Refused(f"{self.name} does not name a commit: {visible(found[:80])!r}", hint="see: git show-ref")
        return found

    def _packed(self) -> str | None:
        """Return the value of a ref that has no file of its own; git is asked again where its list has changed."""
        common = self.places[0]
        stat = safe_files.stat_of(common / "packed-refs")
        if stat is None and not (common / "reftable").exists():
            return None
        stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino) if stat else None
        known = vars(self).get("packed")
        if stamp is None or known is None or known[0] != stamp:
            known = vars(self)["packed"] = stamp, commands.output_of(self.root, *commands.MEANING, self.name)
        return known[1]

    def files(self, commit: str) -> dict[str, str]:
        """
        Return the files of the store at a commit, by their paths below it, with the hashes of their contents.

        Raises:
            Refused: the commit holds anything else than plain files of memories.
        """
        found: dict[str, str] = {}
        for entry in (commands.git(self.root, "ls-tree", "-r", "-z", "--full-tree", commit) or b"").split(b"\0")[:-1]:
            facts, _, raw = os.fsdecode(entry).partition("\t")
            mode, _, name = facts.split(" ")
            outer, is_store, path = raw.rpartition(f"{self.store}/")
            if mode != "100644" or not is_store or outer[-1:] not in ("", "/") or not OWN.fullmatch(path):
                what = "" if mode == "100644" else ", which is not a plain file" if mode != "100755" else ""
                look = command("git", "show", "--stat", self.name)
                raise Refused(
                    f"{self.name} holds {visible(raw)!r}{what}: it may hold the files of memories alone",
                    hint=f"nothing was changed; look at it, and take it out: {look}",
                )
            if raw.startswith(self.prefix):
                found[path] = name
        return found

    def is_in(self, commit: str, other: str) -> bool:
        """Return whether a commit is in the history of another one; False where git does not have it."""
        try:
            return commands.git(self.root, "merge-base", "--is-ancestor", commit, other) is not None
        except Unavailable:
            return False

    def base(self, commit: str, other: str) -> str | None:
        """Return the commit at which two parted; None where they have none in common, or git does not have one."""
        try:
            return commands.output_of(self.root, "merge-base", commit, other)
        except Unavailable:
            return None

    def move(self, new: str, old: str | None) -> None:
        """
        Let the ref name another commit.

        Args:
            old: the one that it names; None where it is not there.

        Raises:
            Unavailable: it names another one by now.
        """
        settings = (*commands.SETTINGS, *SAFE)
        none = "0" * len(new)
        how = ("update-ref", "--no-deref", "-m", "graphmem", "--end-of-options", self.name, new, old or none)
        self._done(commands.run(self.root, *how, settings=settings))

    def commit(self, parents: Collection[str], changes: Mapping[str, bytes | None], subject: str) -> str:
        """
        Make a commit, let the ref name it, and return its hash.

        Args:
            parents: first the commit that the ref names, whose files are kept but for the changes.
            changes: the new contents by path below the store; None for a file that goes.

        Raises:
            Unavailable: the ref names another commit by now, or git cannot write.
        """
        code = self._code_commit()
        message = f"{subject}\n\n{commands.CODE}: {code}\n" if code else f"{subject}\n"
        stream = [*self._head(f"committer {self.identity} {int(time.time())} +0000", message)]
        for place, parent in enumerate(parents):
            stream.append(f"{'merge' if place else 'from'} {parent}\n".encode())
        return self._imported([*stream, *self._changed(changes)])

    def begin(self, files: Mapping[str, bytes]) -> str:
        """
        Make the ref of what the branch has, and return the commit that it names.

        Each commit of the branch's first-parent history that changed the store becomes one; then comes one with
        these files.

        Raises:
            Unavailable: the ref is there by now, or git cannot write.
        """
        stream = list[bytes]()
        store = os.fsencode(self.prefix.rstrip("/"))
        for commit, author, committer, subject, tree in self.branch_commits():
            stream += self._head(f"author {author}\ncommitter {committer}", f"{subject}\n\n{commands.CODE}: {commit}\n")
            stream.append(b"M 040000 %b %b\n" % (tree.encode(), store) if tree else b"D %b\n" % store)
        stream += self._head(f"committer {self.identity} {int(time.time())} +0000", "memory: moved from the branch\n")
        return self._imported([*stream, b"deleteall\n", *self._changed(files)])

    def branch_commits(self) -> list[tuple[str, str, str, str, str]]:
        """
        Return the commits of the branch that changed the store, oldest first, the first parents of merges alone.

        Returns:
            Of each its hash, its author and committer with the time, its subject, and the store's tree, if any.
        """
        if commands.commit_of(self.root, "HEAD") is None:
            return []
        form = "%x00".join(("%H", "%an <%ae> %at +0000", "%cn <%ce> %ct +0000", "%s", ""))
        how = ("--first-parent", "--reverse", "--encoding=UTF-8", f"--format={form}", "HEAD", "--", self.store)
        parts = (commands.git(self.root, "log", *how) or b"").decode("utf-8", "replace").split("\0")
        found = [[part.strip("\n") for part in parts[start : start + 4]] for start in range(0, len(parts) - 4, 4)]
        asked = "".join(f"{one[0]}:{self.prefix.rstrip('/')}\n" for one in found)
        _, printed, _ = commands.run(self.root, "cat-file", "--batch-check", given=os.fsencode(asked) or b"\n")
        trees = [line.split(" ") for line in os.fsdecode(printed).splitlines()]
        return [
            (commit, author, committer, subject, line[0] if line[1:2] == ["tree"] else "")
            for (commit, author, committer, subject), line in zip(found, trees, strict=False)
        ]

    def _head(self, who: str, message: str) -> Iterator[bytes]:
        """Yield the beginning of a commit for ``git fast-import``."""
        text = message.encode()
        yield f"commit {self.name}\n{who}\n".encode()
        yield b"data %d\n%b\n" % (len(text), text)

    def _changed(self, changes: Mapping[str, bytes | None]) -> Iterator[bytes]:
        """Yield the changes of a commit for ``git fast-import``."""
        for path, data in changes.items():
            name = os.fsencode(self.prefix + path)
            if data is None:
                yield b"D %b\n" % name
            else:
                yield b"M 100644 inline %b\ndata %d\n%b\n" % (name, len(data), data)

    def _imported(self, stream: Iterable[bytes]) -> str:
        """Let ``git fast-import`` make commits, and return what the ref names then."""
        given = b"".join((b"feature done\n", *stream, b"done\n"))
        settings = (*commands.SETTINGS, *SAFE)
        self._done(commands.run(self.root, "fast-import", "--quiet", "--done", given=given, settings=settings))
        found = self.value()
        assert found is not None
        return found

    def _done(self, ended: tuple[int, bytes, bytes]) -> None:
        """Raise ``Unavailable`` where git did not do what it was asked to."""
        status, _, complaint = ended
        if status:
            words = visible(complaint.decode(errors="replace").strip().partition("\n")[0])
            raise Unavailable(f"{self.name} cannot be written: {words}", hint="see what git says itself: git fsck")

    @cached_property
    def identity(self) -> str:
        """The name and the address of the user, as git has them in a commit."""
        output = commands.git(self.root, "config", "-z", "--get-regexp", IDENTITY) or b""
        entries = (entry.partition("\n") for entry in output.decode("utf-8", "replace").split("\0"))
        found = {name: "".join(c for c in value if c.isprintable() and c not in "<>") for name, _, value in entries}
        return f"{found.get('user.name') or 'graphmem'} <{found.get('user.email', '')}>"

    def _code_commit(self) -> str | None:
        """Return the commit that is checked out; None before the first one."""
        top = top_of(self.root)
        if top is None:
            return None
        try:
            head = safe_files.read(directory_of(top) / "HEAD", most=1_000).decode("ascii", "replace").strip()
        except OSError:
            return None
        kind, is_branch, name = head.partition("ref: ")
        if not is_branch or kind:
            return head if HASH.fullmatch(head) else None
        try:
            return MemoryRef(self.root, valid_ref(name), self.store).value()
        except (Usage, Refused):
            return commands.commit_of(self.root, "HEAD")


def blob_hash(data: bytes, like: str) -> str:
    """Return the hash by which git names these bytes; ``like`` is a hash of the same repository."""
    digest = hashlib.new("sha1" if len(like) == 40 else "sha256", usedforsecurity=False)
    digest.update(b"blob %d\0" % len(data))
    digest.update(data)
    return digest.hexdigest()
