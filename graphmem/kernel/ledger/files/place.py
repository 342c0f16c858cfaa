"""
The files of a store as a place of rows: all or none of them are replaced, by one writer at a time.

Source: docs/format.md.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from graphmem.errors import BadInput, FileReplaced, Refused, Unavailable
from graphmem.kernel.finding import Code
from graphmem.kernel.git import commands
from graphmem.kernel.ledger.files.data_file import RESOLVE, can_splice, oversize, spliced, with_changes
from graphmem.kernel.ledger.files.journal import Ready, replace_files, sweep
from graphmem.kernel.ledger.files.layout import TYPE_FILE
from graphmem.kernel.ledger.files.missing import refuse_hidden
from graphmem.kernel.ledger.files.reading import ReadFiles
from graphmem.kernel.ledger.files.renaming import Renaming
from graphmem.kernel.ledger.files.watch import RACY_NS
from graphmem.kernel.ledger.parts import files_by_kind, is_of_purges, numbers_of, part_of, usual_file
from graphmem.kernel.ledger.port import Stamp, TakingIn
from graphmem.kernel.ledger.types import NO_TYPES, Types, is_vocabulary, read_types, vocabulary_json
from graphmem.kernel.model.entry import Batch
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.system import safe_files

Read = Mapping[str, Stamp | None]  # by path below the store: how a file was when it was read


class FilePlace(ReadFiles):
    """The files of a store; ``port.RowPlace`` says what the methods do that are not described here."""

    described: tuple[Vocabulary | None, bytes] = (None, b"")  # what ``schema.json`` last described, and its text

    def tidy(self) -> str | None:
        assert self.seen is not None
        safe_files.refuse_links([self.layout.store / link for link in self.seen.links])
        if safe_files.is_file(self.layout.journal):
            raise Unavailable(
                "a write that was interrupted cannot be finished", hint=f"see whether {self.layout.store} is writable"
            )
        sweep(self.layout, self.seen)
        if self.by_former_names and not self.is_merging and self.put_under_current_names():
            return "rows of types that were renamed are under the new names now"
        return None

    @property
    def is_merging(self) -> bool:
        """Whether git's index has unmerged data files: what their sides hold is compared with the files as they are."""
        with contextlib.suppress(Unavailable):
            return self.git_folder is not None and bool(commands.unmerged(self.layout.store, "data"))
        return False

    def put_under_current_names(self) -> bool:
        """Put the rows in files by former names of types where they belong, each once; return whether any changed."""
        present = set(self.layout.data_files())
        renaming, split = Renaming.of(self.last.vocabulary), files_by_kind(present)
        groups: dict[str, list[str]] = {}
        for file in sorted(present):
            groups.setdefault(usual_file(*renaming.held(file)), []).append(file)
        contents: dict[str, bytes] = {}
        for home, files in groups.items():
            is_well = all(found.fix == RESOLVE for file in files for found in self.last.findings_of(file))
            if is_well and not self.by_former_names.isdisjoint(files):
                rows = renaming.numbered(safe_files.read(self.layout.store / file) for file in files)
                parts: dict[str, list[bytes]] = {file: [] for file in files}
                for number, line in sorted(rows.items()):
                    parts.setdefault(part_of(home, split.get(home, 1), number), []).append(line)
                contents |= {file: b"".join(line + b"\n" for line in lines) for file, lines in parts.items()}
        if contents:
            self.replace(contents)
        return bool(contents)

    def refuse_unwell(self, files: Collection[str]) -> None:
        """Raise ``BadInput`` for bad lines, which a write would lose, ``Refused`` for files that git leaves out."""
        for file in files:
            findings = self.last.findings_of(file)
            if findings:
                first, place = findings[0], self.layout.store / file
                fixes = [found.fix for found in findings if found.fix == RESOLVE or found.code == Code.LFS_POINTER]
                raise BadInput(
                    f"{file} is not written as long as it has bad lines: {first}",
                    hint=fixes[0] if fixes else f"correct line {first.line} of {place}, or take it out",
                    details={"findings": [found.model_dump() for found in findings]},
                )
        if self.git_folder is not None and (fresh := [file for file in files if self.last.stamp(file) is None]):
            refuse_hidden(self.layout, fresh)

    def commit(self, batches: Mapping[str, Batch], types: Types, taking_in: TakingIn, *, is_read_again: bool) -> None:
        written = {file: self.contents(batch) for file, batch in batches.items()}
        for file, data in written.items():
            for found in oversize(file, len(data)):
                raise Refused(f"{file} would be {len(data):,} bytes, {found.expected}", hint=found.fix)
        digests = {file: hashlib.sha256(data).digest() for file, data in written.items()}
        read = self.as_read([*written, *filter(TYPE_FILE.fullmatch, types)])

        def ready(fresh: Mapping[Path, Path]) -> None:
            with taking_in:
                if not is_read_again:
                    for file, digest in digests.items():
                        if not is_of_purges(file):  # read like one that came from elsewhere: others follow from it
                            self.store_written(file, digest, fresh)
                self.refuse_changed(read)  # last: what is refused leaves the catalog as it was

        contents: dict[Path, bytes | None] = {self.layout.store / file: text for file, text in types.items()}
        contents |= self.stale_vocabulary_file(types)
        contents |= {self.layout.store / file: written.pop(file) for file in digests}
        self.put_in_place(contents, ready)

    def store_written(self, file: str, digest: bytes, fresh: Mapping[Path, Path]) -> None:
        """
        Store how a file will be that is about to be put in place.

        Args:
            digest: the SHA-256 of its contents.
            fresh: where new contents are, by the path of the file; renamed, they stay the same files.
        """
        path, now = fresh[self.layout.store / file], time.time_ns()
        os.utime(path, ns=(now, now), follow_symlinks=False)
        stamp = Stamp.of(os.lstat(path))
        # A file system that keeps such a time gives it to no later change, however soon that comes.
        read_ns = now + RACY_NS + 1 if stamp.mtime_ns == now else now
        self.last.store_file(file, stamp, digest, read_ns, is_ordered=True)

    def arrange(self, contents: Mapping[str, bytes | None]) -> None:
        """
        Put the rows of a kind, as they are, into other files, all or none; the catalog notes where each is now.

        Args:
            contents: of each file that the rows are in from now on; None for a file that goes.
        """
        read = self.as_read(contents)
        before = [file for file, stamp in read.items() if stamp is not None]

        def ready(fresh: Mapping[Path, Path]) -> None:
            with self.last.transaction():
                for file, data in contents.items():
                    if data is None:
                        self.last.remove_file(file)
                    else:
                        self.store_written(file, hashlib.sha256(data).digest(), fresh)
                        self.last.move_rows(file, numbers_of(file), before)
                self.refuse_changed(read)  # last: what is refused leaves the catalog as it was

        self.put_in_place({self.layout.store / file: data for file, data in contents.items()}, ready)

    def replace(self, contents: Mapping[str, bytes | None], *, with_vocabulary: bool = False) -> None:
        """
        Put other contents in the place of files as they were last read, all or none; they are to be read again.

        Args:
            with_vocabulary: ``schema.json`` too, where it is not what the types say.

        Raises:
            FileReplaced: one of them is another by now.
        """
        read = self.as_read(contents)
        paths = {self.layout.store / file: data for file, data in contents.items()}
        more = self.stale_vocabulary_file() if with_vocabulary else {}
        self.put_in_place({**paths, **more}, lambda fresh: self.refuse_changed(read))

    def put_in_place(self, contents: dict[Path, bytes | None], ready: Ready) -> None:
        """Do as ``replace_files``."""
        replace_files(contents, self.layout, ready)

    def as_read(self, files: Iterable[str]) -> Read:
        """Return how these files were when they were read; None for one that was not there."""
        return {file: self.last.stamp(file) for file in files}

    def refuse_changed(self, read: Read) -> None:
        """
        Wait while git changes files, and see that these are as they were read: the last look before they are replaced.

        Raises:
            FileReplaced: git or an editor replaced one of them.
            Locked: git changes files all the time.
        """
        end = time.monotonic() + self.lock_timeout_s
        while self.moment() is None:
            self.wait(end)
        for file, before in read.items():
            found = safe_files.stat_of(self.layout.at(file))
            if (Stamp.of(found) if found else None) != before:
                raise _replaced(file)

    def contents(self, batch: Batch) -> bytes:
        """Return the new bytes of a file: untouched lines as they are, the others in their places."""
        data = self.text(batch.file) or b""
        if data and self.last.digest(batch.file) != hashlib.sha256(data).digest():
            raise _replaced(batch.file)
        symmetric = self.last.vocabulary.symmetric
        changes: dict[int, bytes | None] = dict.fromkeys([*batch.gone, *self.last.purged_in(batch.file)])
        changes.update((entry.id, entry.line) for entry in batch.entries)
        if can_splice(data, changes, is_ordered=self.last.is_ordered(batch.file)):
            return spliced(data, changes, symmetric)
        return with_changes(data, changes, self.last.lines(batch.file) if data else {}, symmetric)

    def stale_vocabulary_file(self, types: Types = NO_TYPES) -> dict[Path, bytes]:
        """Return what ``schema.json`` has to hold with these files of types, by its path, where it is another text."""
        vocabulary, data = self.last.vocabulary, self.text("schema.json") or b""
        if types:
            vocabulary = vocabulary.with_types(read_types(types))
        if self.described[0] is not vocabulary or self.described[1] != data:
            if not is_vocabulary(data, vocabulary):
                return {self.layout.vocabulary: vocabulary_json(vocabulary)}
            self.described = vocabulary, data
        return {}


def _replaced(file: str) -> FileReplaced:
    """Report that a file changed while a command decided what to write into it."""
    return FileReplaced(
        f"{file} was replaced by another program while this command ran; nothing was changed",
        hint="run the command again",
    )
