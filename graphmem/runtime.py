"""An open store: its ledger, its catalog and what follows them, wired together."""

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol

from graphmem import safe_files
from graphmem.catalog import clues
from graphmem.catalog.catalog import Catalog
from graphmem.catalog.database import CatalogError, has_passing_cause, is_damage, reason_of
from graphmem.catalog.vectors import VectorStore
from graphmem.catalog.words import LexicalIndex
from graphmem.clone import Clone, cached, find_clone
from graphmem.config import Settings, from_environment, load_settings, project_folder, settings_stamp
from graphmem.constants import (
    DEFAULT_MODEL,
    EMBED_S,
    FORMAT,
    MAX_FINDINGS,
    MODEL_COMMAND,
    SILENT_BYTES,
    SILENT_CLUES,
    SUGGESTION_NAMES,
)
from graphmem.errors import DamagedCatalog, GraphmemError, NotFound, Refused, Unavailable, Usage
from graphmem.graph.engines import open_mirror
from graphmem.graph.port import GraphMirror
from graphmem.ledger.layout import FOLDER, Layout, find, not_linked
from graphmem.model.field import parse_time
from graphmem.names import split_ref
from graphmem.rules.suggest import did_you_mean
from graphmem.sync import SyncedLedger

if TYPE_CHECKING:
    from graphmem.embed.model import Embedder
    from graphmem.embed.model import Found as FoundEmbedder
    from graphmem.embed.reranker import Reranker

Say = Callable[[str], None]
CATALOG = "catalog.sqlite"


class Progress(Protocol):
    """Shows long work: what is done, how much of it, of how much."""

    def __call__(self, what: str, done: int, total: int) -> None: ...


def no_progress(what: str, done: int, total: int) -> None:
    """Show nothing."""


def system_clock() -> datetime:
    """Return now, in UTC, in whole milliseconds."""
    return parse_time(datetime.now(UTC))


def fresh_id() -> str:
    """Return an id that no other report has."""
    return token_hex(16)


class Models:
    """The models that the clients of one process share; each is loaded once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.embedders: dict[str, FoundEmbedder] = {}
        self.rerankers: dict[str, tuple[Reranker | None, Sequence[str]]] = {}

    def embedder(self, name: str, cache_folder: Path) -> "FoundEmbedder":
        """Return the embedder that a setting names, with what to report about it."""
        from graphmem.embed.model import find_model  # noqa: PLC0415 - 15 ms that only a search by meaning pays

        with self.lock:
            if name not in self.embedders:
                self.embedders[name] = find_model(name, cache_folder=cache_folder)
            return self.embedders[name]

    def reranker(self, name: str) -> "tuple[Reranker | None, Sequence[str]]":
        """Return the reranker that a setting names, with what to report about it."""
        from graphmem.embed.reranker import find_reranker  # noqa: PLC0415 - numpy, then torch

        with self.lock:
            if name not in self.rerankers:
                self.rerankers[name] = find_reranker(name)
            return self.rerankers[name]


@dataclass
class Shared:
    """What the clients of one ``Memory`` share, each of which belongs to one thread."""

    now: Callable[[], datetime] = system_clock
    new_id: Callable[[], str] = fresh_id
    say: Say = lambda text: None
    progress: Progress = no_progress
    command: str = "python"  # what the notes for ``undo`` call the writes
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # settings that win over all others
    environment: Mapping[str, Mapping[str, object]] = field(default_factory=from_environment)
    models: Models = field(default_factory=Models)
    said: set[str] = field(default_factory=set)


class Runtime:
    """
    The clients of one ``Memory``: each thread has its own, with a connection of its own to the catalog.

    Args:
        opened: opens the client of the thread that calls it.
    """

    def __init__(self, opened: "Callable[[], Store]") -> None:
        self.opened = opened
        self.of_thread = threading.local()
        self.clients: weakref.WeakSet[Store] = weakref.WeakSet()
        self.is_closed = False

    def client(self) -> "Store":
        """Return the client of this thread, opened when the thread first asks for it."""
        found: Store | None = getattr(self.of_thread, "client", None)
        if found is None:
            if self.is_closed:
                raise closed_error()
            found = self.of_thread.client = self.opened()
            self.clients.add(found)
        return found

    def close(self) -> None:
        """Close the clients of all threads."""
        self.is_closed = True
        for client in list(self.clients):
            client.close()


def closed_error() -> Usage:
    """Return the error for the use of a memory that was closed."""
    return Usage("the memory is closed", hint="open another one: Memory(folder)")


@dataclass(eq=False)
class Store:
    """One project's store, open for one thread. Use ``open_store``."""

    clone: Clone
    settings: Settings
    ledger: SyncedLedger
    catalog: Catalog
    lexical: LexicalIndex
    local: Path
    shared: Shared
    settings_stamp: object = None  # of the files that the settings came from
    is_closed: bool = False
    notices: list[str] = field(default_factory=list)  # reported since the last call of a use case returned
    present: "Store | None" = None  # the store whose past this one is: it is not written, and takes models from there

    def __post_init__(self) -> None:
        weakref.finalize(self, self.catalog.close)  # a thread that ends closes nothing
        self.now, self.new_id = self.shared.now, self.shared.new_id

    @property
    def layout(self) -> Layout:
        """Where the files are."""
        return self.clone.layout

    @cached_property
    def graph(self) -> GraphMirror:
        """The graph, for Cypher and for the commands that maintain it; no other command uses it."""
        return open_mirror(self.local, self.catalog, lock_timeout_s=self.settings.store.lock_timeout)

    def close(self) -> None:
        """Let go of the catalog."""
        self.is_closed = True
        self.catalog.close()
        if self.present is not None:
            self.present.close()

    # --- state --------------------------------------------------------------------------------------------------

    def sync(self, *, is_thorough: bool = False) -> None:
        """Take in what changed on disk, and say what is wrong with it; ``is_thorough`` compares every byte."""
        self.refuse_unusable()
        self.clone.refuse_tracked()
        if self.catalog.is_new and (size := self.ledger.data_bytes()) > SILENT_BYTES:
            self.say_once(f"reading {size / 2**20:,.0f} MiB of files for the first time")
        sync = self.ledger.sync(is_thorough=is_thorough)
        self.ledger.load_vocabulary()
        if sync.waits_for:
            self.notify_once(f"{sync.waits_for}: this is what was read before")
        self.report(sync.rows if sync.is_first and self.present is None else 0)

    def refresh_settings(self) -> None:
        """Read the settings again where a file that they come from has changed, or what is trusted."""
        stamp = settings_stamp(self.layout.config)
        if stamp == self.settings_stamp:
            return
        self.settings = load_settings(self.layout.config, self.shared.options, self.shared.environment)
        self.settings_stamp = stamp
        self.ledger.lock_timeout_s = self.settings.store.lock_timeout
        for name in ("embedder", "reranker", "vectors", "graph"):
            vars(self).pop(name, None)
        for text in self.settings.ignored:
            self.notify_once(f"ignored: {text}")

    def is_catalog_damaged(self, error: Exception) -> bool:
        """Tell whether a use case failed because the catalog is damaged; then ``renew_catalog`` helps."""
        if isinstance(error, DamagedCatalog) or is_damage(error):
            return True
        if self.is_closed or isinstance(error, GraphmemError | OSError | MemoryError) or has_passing_cause(error):
            return False
        return bool(self.catalog.damage())  # what damaged values lead to is any error

    def renew_catalog(self) -> None:
        """Make the catalog empty: the next sync reads all files again. The vectors stay."""
        self.catalog.renew()
        vars(self).pop("vectors", None)
        self.ledger.forget_vocabulary()
        self.say_once("the catalog was damaged; it is made again from the files")

    def refuse_unusable(self) -> None:
        """Raise ``Usage`` for a memory that is closed."""
        if self.is_closed:
            raise closed_error()

    def report(self, rows_read_first: int = 0) -> None:
        """Say, once, what was read anew and which lines are bad."""
        if rows_read_first:
            records, edges = self.catalog.live_counts()
            self.say_once(f"built local/ from the files: {counted(records, 'record')}, {counted(edges, 'relation')}")
        findings = self.ledger.findings()
        conflicted = {found.file for found in findings if found.code == "conflict_marker"}
        for file in sorted(conflicted):
            at = next(found.line for found in findings if found.file == file and found.code == "conflict_marker")
            self.notify_once(f"{file}:{at}: conflict markers of git; merge both sides with: graphmem resolve")
        findings = [found for found in findings if found.file not in conflicted]
        for finding in findings[:MAX_FINDINGS]:
            self.notify_once(f"{finding.severity}: {finding}")
        for file, number in self.ledger.purged_rows().items():
            self.notify_once(f"{file}: {counted(number, 'row')} that had been purged came back, and are not read;"
                          " the next write to the file removes them")  # fmt: skip
        if len(findings) > MAX_FINDINGS:
            self.notify_once(f"and {len(findings) - MAX_FINDINGS:,} more; see: graphmem validate")

    def say_once(self, text: str) -> bool:
        """Say to people what is going on, once for this ``Memory``; return whether it was new."""
        is_new = text not in self.shared.said
        if is_new:
            self.shared.said.add(text)
            self.shared.say(text)
        return is_new

    def notify_once(self, text: str) -> None:
        """Say once what bears on the answer, which holds it as a notice."""
        if self.say_once(text):
            self.notices.append(text)

    @contextlib.contextmanager
    def reading(self, *, with_clues: bool = False) -> Iterator[Catalog]:
        """
        Yield the catalog as the files are now; it stays as it is while the block runs.

        Args:
            with_clues: every memory has its clues, `catalog.clues`.
        """
        self.sync()
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.catalog.unchanging())
            while with_clues and clues.missing(self.catalog):
                stack.close()
                self.add_clues()
                stack.enter_context(self.catalog.unchanging())
            self.ledger.load_vocabulary()
            yield self.catalog

    def add_clues(self) -> None:
        """Add the clues that were put off, and say so where it takes seconds."""
        missing = clues.missing(self.catalog)
        if missing > SILENT_CLUES:
            self.say_once(f"working out what {missing:,} memories are recognised by")
        if missing:
            clues.catch_up(self.catalog)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Catalog]:
        """Hold the store alone while the block decides and commits."""
        self.refuse_unusable()
        if self.present is not None:
            raise Refused("a past state (`--at`) cannot be written", hint="run the command without the commit or date")
        if self.settings.format > FORMAT:
            raise Refused(
                f"the store has format {self.settings.format}, this graphmem writes format {FORMAT}",
                hint="update graphmem; reading goes on",
            )
        if not os.access(self.layout.store, os.W_OK):
            raise Unavailable(f"{self.layout.store} is read-only", hint="reading goes on")
        self.sync()
        if self.clone.refusal is not None:
            safe_files.refuse_links(self.layout.store)  # which says more
            raise self.clone.refusal
        with self.ledger.writing():
            if self.local != self.layout.local:  # where the lock is that writers share
                raise Unavailable(f"{self.layout.local} is not a folder that can be written", hint="reading goes on")
            yield self.catalog
        for text in self.ledger.notices:
            self.notify_once(text)
        self.ledger.notices.clear()

    # --- models -------------------------------------------------------------------------------------------------

    @cached_property
    def embedder(self) -> "Embedder | None":
        """The model of this store; None where there is none, which is said once."""
        if self.present is not None:
            return self.present.embedder
        found = self.shared.models.embedder(self.settings.embedding.model, self.local)
        for warning in found.warnings:
            self.notify_once(warning)
        if found.embedder is None and self.settings.embedding.model != "none":
            self.notify_once("no embedding model is at hand: search is lexical only")
            if self.settings.embedding.model == DEFAULT_MODEL:
                self.notify_once(f"hint: {MODEL_COMMAND}")
        return found.embedder

    @cached_property
    def reranker(self) -> "Reranker | None":
        """The reranker of this store; None where none is named, or none is at hand, which is said once."""
        if self.present is not None:
            return self.present.reranker
        if not self.settings.retrieval.reranker:
            return None
        found, warnings = self.shared.models.reranker(self.settings.retrieval.reranker)
        for warning in warnings:
            self.notify_once(warning)
        return found

    @cached_property
    def vectors(self) -> VectorStore | None:
        """The vectors of the store; None without a model."""
        encoder = self.embedder if self.present is None else self.present.vectors  # which has most of them already
        return VectorStore(self.catalog, self.local / "vectors", encoder) if encoder else None

    def embed_missing(self, first: Collection[int] = (), *, seconds: float | None = EMBED_S) -> int:
        """
        Embed what has no vector yet; return how many texts that were.

        Args:
            first: records whose texts come before all others.
            seconds: to stop after, which is said; what is left is made by later commands. None for all.
        """
        if self.vectors is None:
            return 0
        made = self.vectors.catch_up(
            lambda done, total: self.shared.progress("embedding", done, total), first=first, seconds=seconds
        )
        if self.vectors.lacking:
            self.notify_once(
                f"{counted(self.vectors.lacking, 'text')} have no vector yet, and are found by their words alone;"
                " each command makes some, and all are made by: graphmem rebuild"
            )
        return made

    def embed_ahead(self, texts: Collection[str] = (), *, seconds: float | None = EMBED_S) -> None:
        """Load the model and embed what a command will compare, before it takes the lock; the vectors are kept."""
        if self.vectors is None:
            return
        self.sync()
        self.embed_missing(seconds=seconds)
        if texts:
            self.vectors.encode_documents(list(dict.fromkeys(texts)))

    # --- names --------------------------------------------------------------------------------------------------

    def resolve(self, ref: str, scopes: Collection[str] | None = None) -> int:
        """
        Return the number of the record that a reference or an unambiguous bare name means.

        Args:
            ref: ``kind/name``, ``type/name`` or a name alone.
            scopes: what it may be; None for anything.

        Raises:
            NotFound: nothing has that name, or several have.
        """
        catalog = self.catalog
        scope, name = split_ref(ref)
        if scope in catalog.vocabulary.scopes and (scopes is None or scope in scopes):
            number = catalog.lookup(scope, name)
            if number is not None:
                return self.told_apart(number, name)
        found = catalog.anywhere(ref, scopes)
        if len(found) == 1:
            return self.told_apart(found[0], split_ref(ref)[1])
        if found:
            refs = sorted(catalog.refs(found).values())
            raise NotFound(f"{ref!r} is ambiguous", hint=f"one of: {', '.join(refs)}", details={"candidates": refs})
        raise NotFound(f"nothing is named {ref!r}", hint=self.suggestion(ref, scopes), details={"ref": ref})

    def told_apart(self, number: int, name: str) -> int:
        """Return the number of a record; where others have the name that was typed, warn once which they are."""
        others = self.catalog.namesakes(number, name)
        if others:
            refs = self.catalog.refs([number, *others])
            also = ", ".join(sorted(refs[other] for other in others))
            self.notify_once(f"{refs[number]} is not the only record of this name; the others: {also}")
        return number

    def suggestion(self, ref: str, scopes: Collection[str] | None) -> str:
        """Return what was meant by a name that nothing has, or how to find out."""
        names = [
            name for name in self.catalog.names(SUGGESTION_NAMES) if scopes is None or split_ref(name)[0] in scopes
        ]
        bare = {split_ref(name)[1]: name for name in names}
        scope, name = split_ref(ref)
        if (
            scope
            and scope not in self.catalog.vocabulary.scopes
            and (near := did_you_mean(scope, self.catalog.vocabulary.scopes))
        ):
            return f"{scope!r} is not a kind or type; {near}"
        return did_you_mean(ref, names) or did_you_mean(name, bare) or "see: graphmem list"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 record, 2 records."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def open_store(
    folder: Path | str | None = None,
    shared: Shared | None = None,
) -> Store:
    """
    Open the store of a project for the current thread.

    Args:
        folder: the folder that holds ``.graphmem``; None looks at ``GRAPHMEM_DIR``, then from here upwards.
        shared: what the clients of one ``Memory`` share; None for one client alone.

    Raises:
        Unavailable: there is no store.
    """
    clone = find_clone(find_store(folder))
    layout = clone.layout
    shared = shared or Shared()
    stamp = settings_stamp(layout.config)
    settings = load_settings(layout.config, shared.options, shared.environment)
    local = derived_folder(layout)
    catalog = Catalog(local / CATALOG)
    timeout = settings.store.lock_timeout
    ledger = SyncedLedger(clone, catalog, local / "store.lock", lock_timeout_s=timeout, command=shared.command)
    lexical = LexicalIndex(catalog)
    store = Store(clone, settings, ledger, catalog, lexical, local, shared, stamp)
    try:
        ledger.load_vocabulary()
    except Exception as error:
        if not store.is_catalog_damaged(error):
            if isinstance(error, CatalogError):
                raise reason_of(error) from error
            raise
        store.renew_catalog()
    for text in clone.notices:
        store.say_once(text)
    if isinstance(clone.refusal, Refused):
        store.notify_once(f"{clone.refusal.message}; nothing is written until they are gone")
    for path in safe_files.links(layout.store):
        store.notify_once(
            f"{path} is a symbolic link: what it hides is not read, and nothing is written until it is gone"
        )
    for text in settings.ignored:
        store.notify_once(f"ignored: {text}")
    if settings.format > FORMAT:
        store.notify_once(f"the store has format {settings.format}, newer than this graphmem's {FORMAT}: reading only")
    return store


def find_store(folder: Path | str | None) -> Layout:
    """Return where the store is: in the folder named, or in one at or above the current one."""
    named = folder if folder is not None else project_folder()
    if named is None:
        return find(Path.cwd())
    layout = Layout(Path(named).expanduser().absolute())
    if not layout.store.is_dir():
        raise Unavailable(f"{str(named)!r} holds no {FOLDER} folder", hint="make one with: graphmem init")
    return not_linked(layout)


def derived_folder(layout: Layout) -> Path:
    """
    Return the folder of what is derived: ``local/``, or where that cannot be used, another one of this store and user.

    Raises:
        Unavailable: no such folder can be written.
    """
    with contextlib.suppress(OSError), safe_files.folder(layout.local, make=True):
        if os.access(layout.local, os.W_OK) and not safe_files.links(layout.local):
            return layout.local
    folder = cached(layout)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
