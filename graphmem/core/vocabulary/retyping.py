"""
What a type that is renamed or dropped changes: its rows, what refers to them, and the files that name the type.

The references of a record are those that its model declares (``Refers``). Source: docs/guides/change-a-type.md.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

from graphmem.errors import Refused, Unavailable
from graphmem.kernel.catalog.database import table_of
from graphmem.kernel.git.merge_driver import merge_rows
from graphmem.kernel.ledger.extractors import extractor_file, read_extractors
from graphmem.kernel.ledger.files.layout import ASIDE, QUERY_FILE, TYPE_FILE
from graphmem.kernel.ledger.files.renaming import Renaming
from graphmem.kernel.ledger.row import read_entry
from graphmem.kernel.ledger.scopes import file_of, read_scopes
from graphmem.kernel.ledger.scopes import text_of as scope_text
from graphmem.kernel.ledger.types import changed_text, path_of, type_text
from graphmem.kernel.machine import usage
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.vocabulary import EntityType, RelationType, Vocabulary, fits
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files
from graphmem.names import label, relation_label


@dataclass
class Retyping:
    """
    Types that get another name, or go, and what follows.

    Args:
        names: the new name of each type by its name; None for one that goes.
    """

    snapshot: Snapshot
    names: Mapping[str, str | None]
    puts: dict[int, Entry] = field(default_factory=dict)
    removes: dict[str, list[int]] = field(default_factory=dict)
    types: dict[str, bytes | None] = field(default_factory=dict)
    records: int = 0
    edges: int = 0
    references: int = 0  # other rows that name a record of theirs

    @cached_property
    def renaming(self) -> Renaming:
        """What becomes of a row and of a reference."""
        return Renaming(self.names, self.snapshot.symmetric)

    @property
    def files(self) -> list[str]:
        """The files that change, as paths below the store."""
        homes = self.snapshot.ledger.by_file([*self.puts.values()])
        return sorted({*self.removes, *homes, *self.types})

    @property
    def other_types(self) -> tuple[list[str], list[str]]:
        """The other types whose files change, and those that go too."""
        named = {*self.names.values(), next(iter(self.names))}
        others = {PurePath(file).stem: text for file, text in self.types.items() if TYPE_FILE.fullmatch(file)}
        left = {name: text is None for name, text in others.items() if name not in named}
        return sorted(name for name in left if not left[name]), sorted(name for name in left if left[name])

    @property
    def aside(self) -> list[str]:
        """The files that are put aside: they named nothing but what goes."""
        return sorted(file for file in self.types if file + ASIDE in self.types)

    @cached_property
    def may_meet(self) -> bool:
        """Whether a row may get the key that another one has: there are rows of a new name already."""
        known = {*self.snapshot.vocabulary.entities, *self.snapshot.vocabulary.project_relations}
        return not known.isdisjoint(new for new in self.names.values() if new is not None)

    def take(self, number: int, file: str, line: bytes) -> None:
        """Change a row, or take it out; one that is neither of these types nor names them stays as it is."""
        old = read_entry(line.rstrip(b"\r"), self.snapshot.symmetric)
        new = self.renaming.changed(old)
        if new is old:
            return
        if old.kind == "entity" and old.row["type"] in self.names:
            self.records += 1
        elif old.kind == "relation":
            self.edges += 1
        else:
            self.references += 1
        if new is None or new.id != number:
            self.removes.setdefault(file, []).append(number)
        if new is not None:
            self.puts[new.id] = self.united(new, file) if new.id != number else new

    def united(self, new: Entry, file: str) -> Entry:
        """Return a row that gets another key; where another row has it, what the two come to: no text is lost."""
        catalog, other = self.snapshot.catalog, self.puts[new.id].line if new.id in self.puts else None
        if other is None and self.may_meet:
            homes = catalog.files_of([new.id], table_of(file))
            other = catalog.lines_of([new.id], homes[new.id])[new.id] if homes else None
        if other is None:
            return new
        line = merge_rows(b"", other + b"\n", new.line + b"\n", self.renaming.symmetric)
        return read_entry(line.rstrip(b"\n"), self.renaming.symmetric)


def names_of(vocabulary: Vocabulary, old: str, new: str | None) -> dict[str, str | None]:
    """
    Return the names that change with a type: its own, its earlier names, and names of other types if it is dropped.

    A relation type goes with the last entity type that it leads from, or to.
    """
    former = [alias for alias, now in vocabulary.renamed.items() if now == old and alias != new]
    names: dict[str, str | None] = dict.fromkeys([old, *former], new)
    for made in vocabulary.project_relations.values() if new is None else ():
        left = made.with_ends(names)
        if not (left.sources and left.targets):
            names |= names_of(vocabulary, made.type, None)
    return names


def retyping(snapshot: Snapshot, names: Mapping[str, str | None]) -> Retyping:
    """Return all that follows in rows and files where types get another name, or go; nothing is written."""
    made = Retyping(snapshot, names)
    seen: set[int] = set()
    for name in names:
        for number, file, line in snapshot.catalog.rows_naming(name):
            if number not in seen:
                seen.add(number)
                made.take(number, file, line)
    for mentions in MENTIONS:
        made.types.update(mentions(snapshot, names))
    return made


def commit(writing: Writing, made: Retyping) -> None:
    """Write what follows, all or none; the counts of this machine go with their records."""
    writing.commit([*made.puts.values()], made.removes, made.types, is_moved=True)
    for old, new in made.names.items():
        with contextlib.suppress(Unavailable):
            usage.retype(writing.client.state, old, new)


def mend_drift(writing: Writing) -> None:
    """
    Give every type that rows are of a file again, all or none.

    The file says nothing yet: nothing is lost, and a person decides whether the type is to stay.
    """
    vocabulary = writing.vocabulary
    types: dict[str, EntityType | RelationType] = {**vocabulary.entities, **vocabulary.project_relations}
    lost = [types[name] for name in sorted(vocabulary.drifted)]
    writing.commit([], types={path_of(one): type_text(one) for one in lost})


def widen(writing: Writing) -> None:
    """Let the relation types of the project connect again what rows of edges connect that they no longer allow."""
    declared = writing.vocabulary.declared
    wider: dict[str, RelationType] = {}
    for kind, *ends in writing.catalog.refused_ends():
        made = wider.get(kind) or declared.get(kind)
        if isinstance(made, RelationType) and not made.allows(*ends):
            sides = zip(("sources", "targets"), ends, strict=True)
            more = {side: (*getattr(made, side), end) for side, end in sides if not fits(end, getattr(made, side))}
            wider[kind] = made.model_copy(update=more)
    types = {path_of(made): changed_text(_text_of(writing, made), made) for made in wider.values()}
    writing.commit([], types=types)


# --- files beside the rows that name types --------------------------------------------------------------------------


def _own_files(snapshot: Snapshot, names: Mapping[str, str | None]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the files of the types themselves: each goes, and is there under its new name, with the old as an alias."""
    vocabulary = snapshot.vocabulary
    for old, new in names.items():
        made = vocabulary.declared.get(old)
        if made is None:
            continue
        yield path_of(made), None
        if new is not None:
            aliases = tuple(sorted({*made.aliases, old} - {new}))
            renamed = made.model_copy(update={"type": new, "aliases": aliases})
            yield path_of(renamed), changed_text(_text_of(snapshot, made), renamed)


def _relation_types(snapshot: Snapshot, names: Mapping[str, str | None]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the files of the relation types whose ends change."""
    for made in snapshot.vocabulary.declared.values():
        if isinstance(made, RelationType) and made.type not in names:
            changed = made.with_ends(names)
            if changed is not made:
                yield path_of(made), changed_text(_text_of(snapshot, made), changed)


def _text_of(snapshot: Snapshot, made: EntityType | RelationType) -> bytes:
    """Return the text of a type's file."""
    return safe_files.read(snapshot.layout.store / path_of(made))


def scopes(snapshot: Snapshot, names: Mapping[str, str | None]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the scopes that name a type, with its new name, or without one that goes."""
    for made in read_scopes(snapshot.layout, ())[0]:
        changed = made.model_copy(update={name: renamed(getattr(made, name), names) for name in ("read", "write")})
        if changed != made:
            yield file_of(snapshot.layout, made.name).relative_to(snapshot.layout.store).as_posix(), scope_text(changed)


def extractors(snapshot: Snapshot, names: Mapping[str, str | None]) -> Iterator[tuple[str, bytes | None]]:
    """Yield changed extractors that write a type; one that wrote only a dropped type is put aside."""
    for name, made in read_extractors(snapshot.layout)[0].items():
        changed = made.model_copy(update={"writes": renamed(made.writes, names)})
        if not changed.writes:
            for file in extractor_file(name, made):
                yield from _put_aside(snapshot, file)
        elif changed != made:
            yield from extractor_file(name, changed).items()


def _queries(snapshot: Snapshot, names: Mapping[str, str | None]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the stored queries that name a type, with its new name, or without one that goes."""
    vocabulary, labels = snapshot.vocabulary, dict[str, str | None]()
    for old, new in names.items():
        is_relation = vocabulary.renamed.get(old, old) in vocabulary.project_relations
        word = relation_label if is_relation else label
        labels[word(old)] = word(new) if new is not None else None
    for file in filter(QUERY_FILE.fullmatch, snapshot.layout.look(snapshot.layout.queries).files):
        with contextlib.suppress(ValueError, OSError, Refused):  # `validate` says what is wrong with it
            text = safe_files.text(snapshot.layout.store / file, QUERY_BYTES)
            changed = snapshot.client.graph.renamed(text, names, labels)
            if changed is None:
                yield from _put_aside(snapshot, file)
            elif changed != text:
                yield file, changed.encode()


def _put_aside(snapshot: Snapshot, file: str) -> Iterator[tuple[str, bytes | None]]:
    """Yield what takes a file out of use and keeps its text, for a person to go on with; below one kept before."""
    path, aside = (snapshot.layout.store / name for name in (file, file + ASIDE))
    before = safe_files.read(aside) if safe_files.is_file(aside) else b""
    yield file, None
    yield file + ASIDE, before + safe_files.read(path)


def renamed(types: tuple[str, ...], names: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return some types with their new names, without those that go."""
    found = (names.get(name, name) for name in types)
    return tuple(dict.fromkeys(name for name in found if name is not None))


# What yields the new texts of files that name types, None for one that goes. Another sort of file has a line here.
MENTIONS: tuple[Callable[[Snapshot, Mapping[str, str | None]], Iterator[tuple[str, bytes | None]]], ...] = (
    _own_files,
    _relation_types,
    scopes,
    extractors,
    _queries,
)


QUERY_BYTES = 64 * 1024  # of a file
