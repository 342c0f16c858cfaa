"""An open store: its ledger, its catalog and what follows them, wired together."""

import contextlib
import hashlib
import math
import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from graphmem.constants import DEFAULT_MODEL, FORMAT, MODEL_COMMAND, SHOWN_FINDINGS, SILENT_BYTES, SILENT_CLUES
from graphmem.errors import DamagedCatalog, GraphmemError, Refused, Unavailable, Usage
from graphmem.kernel.catalog import vectors
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.clues import ClueIndex
from graphmem.kernel.catalog.database import CATALOG, catalog_errors, has_passing_cause, is_damage
from graphmem.kernel.catalog.words import LexicalIndex
from graphmem.kernel.embed.shared import Models
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.formats_in_use import using
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import top_of
from graphmem.kernel.graph import GraphMirror
from graphmem.kernel.ledger.files.layout import FOLDER, Layout, find, located, not_linked, not_of_another
from graphmem.kernel.ledger.files.place import FilePlace
from graphmem.kernel.ledger.parts import holds
from graphmem.kernel.ledger.port import RowPlace
from graphmem.kernel.ledger.ref.place import RefPlace
from graphmem.kernel.machine.state import State
from graphmem.kernel.model.authors import Author
from graphmem.kernel.model.field import format_time, parse_time
from graphmem.kernel.model.vocabulary import KINDS, EntityType, RelationType, Vocabulary
from graphmem.kernel.registry import extensions
from graphmem.kernel.settings.address import ServerAddress, is_server
from graphmem.kernel.settings.config import Settings, from_environment, load_settings, settings_stamp
from graphmem.kernel.settings.folders import project_folder, user_store
from graphmem.kernel.store import in_git, in_ref, in_server, purging
from graphmem.kernel.store.background import embed_in_background
from graphmem.kernel.store.checkout import checkout
from graphmem.kernel.store.clone import Clone, derived_folder, find_clone
from graphmem.kernel.store.in_server import OpenPlace
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.store.sync import Follower, Sync, SyncedLedger
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.surroundings import current_folder
from graphmem.kernel.text import count
from graphmem.names import split_ref

if TYPE_CHECKING:
    from graphmem.kernel.catalog.pca import Matrix, Vector
    from graphmem.kernel.catalog.vectors import VectorStore
    from graphmem.kernel.embed.model import Embedder
    from graphmem.kernel.embed.reranker import Reranker

MessageHandler = Callable[[str], None]
LOCK = "store.lock"
ALL = math.inf  # seconds that embedding may take: as many as it takes
LOOK_EVERY_S = 60.0  # at a server whose memory is asked beside that of the project
WITHOUT_CONFIG = (
    f"{FOLDER}/config.toml is missing: is a commit checked out that has no memory? What is written here is not in the"
    " memory of other branches; go to one that has it, or begin one here with: graphmem init"
)
MAKES_VECTORS = "each command makes some, and all are made by: graphmem rebuild"


def _open_files(clone: Clone, catalog: Catalog, lock: Path, settings: Settings) -> RowPlace:
    """Return the files of a store as the place of its rows, or the ref that has them in its commits."""
    timeout_s = settings.store.lock_timeout
    if clone.layout.home is not None:
        return RefPlace(clone.layout, catalog, lock, lock_timeout_s=timeout_s)
    return FilePlace(clone.layout, clone.git_folder, catalog, lock, lock_timeout_s=timeout_s)


class Rights(NamedTuple):
    """The kinds and entity types whose records a caller may see, and those that it may write; None for all."""

    sees: frozenset[str] | None = None
    writes: frozenset[str] | None = None
    is_writing: bool = False  # what it may write is read too, to decide what a write does; its answer does not show it
    by: str | None = None  # who the caller is, where a token says so

    @property
    def visible(self) -> frozenset[str] | None:
        """What the reads of its client return; None for all."""
        if not self.is_writing or self.sees is None:
            return self.sees
        return None if self.writes is None else self.sees | self.writes


ALL_RIGHTS = Rights()


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
    return os.urandom(16).hex()


@dataclass(eq=False)
class Runtime:
    """
    What the clients of one ``Memory`` share, from any number of threads: clock, ids, models, settings, output.

    Args:
        folder: the folder that holds ``.graphmem``; None looks at ``GRAPHMEM_DIR``, then from here upwards.
        at: a commit or a date; the clients then read the store as it was there.
    """

    folder: Path | str | None = None
    at: str | None = None
    now: Callable[[], datetime] = system_clock
    new_id: Callable[[], str] = fresh_id
    on_message: MessageHandler = lambda text: None
    progress: Progress = no_progress
    command: str = "python"  # what the notes for ``undo`` call the writes
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # settings that win over all others
    environment: Mapping[str, Any] = field(default_factory=from_environment)
    models: Models = field(default_factory=Models)
    via: str = "python"  # through what the rows are written
    tells_subjects: bool = True  # of commits, which may be about what a caller with a scope does not see
    asks_others: bool = True  # whether questions go to the stores beside it too
    project: Path | None = None  # the folder of the code, where the files of the store are not in it
    open_place: OpenPlace = _open_files  # where the rows are
    is_closed: bool = False

    def __post_init__(self) -> None:
        self.shown_messages: set[str] = set()
        self.loaded: dict[Path, tuple[object, Settings]] = {}
        self.lock = threading.Lock()
        self.of_thread = threading.local()
        self.clients: weakref.WeakSet[Client] = weakref.WeakSet()
        self.others: dict[str, Runtime] = {}

    def client(self, rights: Rights = ALL_RIGHTS) -> "Client":
        """Return the client of this thread for a caller with these rights, opened when the thread first asks for it."""
        clients: dict[Rights, Client] = vars(self.of_thread).setdefault("clients", {})
        if rights not in clients:
            if self.is_closed:
                raise _closed_error()
            clients[rights] = open_client(self) if rights == ALL_RIGHTS else narrowed(self.client(), rights)
            self.clients.add(clients[rights])
        return clients[rights]

    def other(self, named: str, project: Path, *, rests_s: float = 0) -> "Runtime":
        """
        Return what the clients of another store share; what goes on there is reported in answers alone.

        Args:
            named: its folder, or the address of a project in a server.
            project: the folder of the code that its records are compared with.
            rests_s: seconds for which a look at a server counts.
        """
        folder, open_place = Path(named), cast(OpenPlace, _open_files)
        if is_server(named):
            address = ServerAddress.parse(named)
            folder, open_place = in_server.machine_folder(address), in_server.opening(address, rests_s=rests_s)
        return Runtime(
            folder, None, self.now, self.new_id, command=self.command, options=self.options, open_place=open_place,
            environment=self.environment, models=self.models, via=self.via, asks_others=False, project=project,
        )  # fmt: skip

    @property
    def present_layout(self) -> Layout:
        """Where the files are; of the past of a store, its own."""
        client = self.client()
        return (client.present or client).layout

    def settings(self, config: Path) -> Settings:
        """Return the settings of a store, read again where a file that they come from or the trust in it changed."""
        stamp = settings_stamp(config)
        with self.lock:
            if config not in self.loaded or self.loaded[config][0] != stamp:
                self.loaded[config] = stamp, load_settings(config, self.options, self.environment)
            return self.loaded[config][1]

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Show nothing that is reported in this thread in the block: it may be of what the caller does not see."""
        self.of_thread.is_silent = True
        try:
            yield
        finally:
            self.of_thread.is_silent = False

    def show_once(self, text: str) -> bool:
        """Report what goes on, once for all clients; return whether it was new."""
        if getattr(self.of_thread, "is_silent", False):
            return False
        with self.lock:
            is_new = text not in self.shown_messages
            self.shown_messages.add(text)
        if is_new:
            self.on_message(text)
        return is_new

    def close(self) -> None:
        """Close the clients of all threads."""
        self.is_closed = True
        for client in list(self.clients):
            client.close()
        for other in self.others.values():
            other.close()


def _closed_error() -> Usage:
    """Return the error for the use of a memory that was closed."""
    return Usage("the memory is closed", hint="open another one: Memory(folder)")


@dataclass(eq=False)
class Client:
    """One caller of a store, in one thread: its connection, its settings and what was reported to it."""

    runtime: Runtime
    clone: Clone
    settings: Settings
    ledger: SyncedLedger
    catalog: Catalog
    local: Path
    present: "Client | None" = None  # of the store whose past this one is: it is not written, and has the models
    whole: "Client | None" = None  # of a caller who sees and writes all, where this one's does not
    rights: Rights = ALL_RIGHTS
    is_closed: bool = False
    lasting: list[str] = field(default_factory=list)  # notices that every answer has: what is unusual about the store
    notices: list[str] = field(default_factory=list)  # of the call under way
    is_in_call: bool = False
    has_looked: bool = False  # at the files, in the call under way
    is_model_away: bool = False  # it did not answer in the call under way
    questions: "dict[tuple[int, str], Vector]" = field(default_factory=dict)  # asked in this call: id of model, text

    def __post_init__(self) -> None:
        weakref.finalize(self, self.catalog.close)  # a thread that ends closes nothing
        self.now, self.new_id = self.runtime.now, self.runtime.new_id
        self.set_ledger()
        self.clues, self.lexical = ClueIndex(self.catalog), LexicalIndex(self.catalog)

    @property
    def layout(self) -> Layout:
        """Where the files are."""
        return self.clone.layout

    @property
    def state(self) -> State:
        """What this machine keeps of the store."""
        return State(self.layout.state_file, self.notify_once)

    def author(self, via: str | None = None) -> Author | None:
        """Return who writes, and through what; None where rows are to say nothing of that."""
        named = self.rights.by or (self.settings.by != "" and self.ledger.place.role) or self.settings.by
        by = commands.user_name(self.root) if named is None else named
        return (by, via or self.runtime.via) if by else None

    @property
    def formats(self) -> tuple[tuple[str, str], ...]:
        """The project's own formats of what tools print: the files' names and texts."""
        if not safe_files.is_folder(self.layout.formats):
            return ()
        found = [read_formats(self.layout) for read_formats in extensions("formats")]
        for wrong in (one for _, findings in found for one in findings):
            self.notify_once(f"{wrong.file}: {wrong.message}; it is left out")
        return tuple(text for texts, _ in found for text in texts)

    def beside(self, store: str) -> "Client | None":
        """
        Return one of ``STORES`` as this thread's client, to be asked beside the project's; None where it is not.

        It is there for a caller who may see all, of the store as it is now, and as the settings say.
        """
        may_all = self.rights.sees is None and not (self.rights.is_writing and self.rights.writes is not None)
        if not (self.runtime.asks_others and may_all and self.present is None):
            return None
        if store == "user":
            folder = user_store()
            named = str(folder) if self.settings.user_store and folder and (folder / FOLDER).is_dir() else ""
        else:
            named = self.settings.stores.organisation if store == "organisation" else ""
        if not named:
            return None
        with self.runtime.lock:
            runtime = self.runtime.others.get(named) or self.runtime.other(named, self.root, rests_s=LOOK_EVERY_S)
            self.runtime.others[named] = runtime
        layout = find_store(runtime.folder)
        if os.path.samefile(layout.store, self.layout.store):
            return None
        not_of_another(layout)
        other = runtime.client()
        other.questions = self.questions  # a question that all are asked has one vector
        return other

    @property
    def root(self) -> Path:
        """The folder of the project: whose code and packages the records are about."""
        return self.runtime.project or self.layout.root

    @property
    def lock_timeout_s(self) -> float:
        """The seconds that a writer waits for another one."""
        return self.settings.store.lock_timeout

    @cached_property
    def graph(self) -> GraphMirror:
        """The graph, for Cypher and the commands that maintain it; a caller who sees some kinds has one of these."""
        folder, visible = self.local, self.catalog.visible
        if visible is not None:
            digest = hashlib.sha256("\n".join(sorted(visible)).encode()).hexdigest()[:16]
            folder = self.local / safe_files.SCOPED / digest
            with safe_files.folder(folder, make=True):
                pass
        for open_mirror in extensions("graph"):
            return cast(GraphMirror, open_mirror(folder, self.catalog, lock_timeout_s=self.settings.store.lock_timeout))
        raise Unavailable("there is no graph: this graphmem has no feature that makes one")

    def close(self) -> None:
        """Let go of the catalog and the graph."""
        self.is_closed = True
        self.drop_vectors()
        self.close_graph()
        self.catalog.close()
        self.ledger.place.close()
        if self.present is not None and self.whole is None:
            self.present.close()

    def close_graph(self) -> None:
        """End what the graph keeps for the next query; that one opens it again."""
        if (graph := vars(self).pop("graph", None)) is not None:
            graph.close()

    # --- state --------------------------------------------------------------------------------------------------

    def sync(self, *, is_thorough: bool = False) -> None:
        """
        Take in what changed on disk, and report what is wrong with it; ``is_thorough`` compares every byte.

        One call of an operation looks at the files once, however many use cases it is made of.
        """
        if self.has_looked and not is_thorough:
            return
        if self.whole is not None:
            with self.runtime.silent(), self.whole.calling():
                self.whole.refresh_settings()
                self.whole.sync(is_thorough=is_thorough)
            self.after_sync(Sync())
            return
        self.refuse_unusable()
        with self.catalog.steady():
            self.before_sync()
            self.after_sync(self.ledger.sync(is_thorough=is_thorough))
        self.say_all(self.ledger.place.notices)
        if self.present is None and safe_files.is_file(self.layout.purge):
            with contextlib.suppress(GraphmemError, OSError), self.ledger.place.holding(0):
                self.finish_purge()

    def finish_purge(self) -> None:
        """Clear what a purge left, alone with the store, and report what could not be cleared."""
        if left := purging.finish(self):  # the rows are gone: that is no failure of the purge
            self.notify_once(
                f"the rows are purged; {', '.join(dict.fromkeys(left))} could not be cleared and may still hold their"
                " texts, which the next command tries again: is the disk full?"
            )

    def before_sync(self) -> None:
        """Refuse a store that cannot be read, and announce a first reading that takes long."""
        self.refuse_unusable()
        self.clone.refuse_tracked()
        if self.catalog.is_new and (size := self.ledger.place.size()) > SILENT_BYTES:
            self.show_once(f"reading {size / 2**20:,.0f} MiB of files for the first time")

    @contextlib.contextmanager
    def calling(self) -> Iterator[None]:
        """Run one call of an operation: what it reports is in its own answer, and in no other."""
        self.is_in_call = True
        try:
            with safe_files.holding_folders(), using(self.formats):
                yield
        finally:
            self.is_in_call = self.has_looked = False
            self.notices = []
            self.forget_questions()

    def answered_notices(self) -> list[str]:
        """Return the notices for the answer of the call under way."""
        return list(dict.fromkeys([*self.lasting, *self.said_of_settings, *self.notices]))

    def after_sync(self, sync: Sync) -> None:
        """Take the vocabulary as it is now, and report what was read."""
        self.has_looked = self.is_in_call
        self.load_vocabulary()
        if sync.waits_for:
            self.notify_once(f"{sync.waits_for}: this is what was read before")
        self.report(sync.rows if sync.is_first and self.present is None else 0)

    def load_vocabulary(self) -> None:
        """Take the vocabulary as it is now, and of it what the caller may see."""
        self.ledger.reader.load_vocabulary()
        if self.whole is not None:
            known, visible = self.whole.catalog.vocabulary, self.catalog.visible
            self.catalog.vocabulary = known if visible is None else known.narrowed(visible)

    def refuse_unseen(self, record_types: Iterable[str]) -> None:
        """
        Raise ``Refused`` where a kind is asked for by name that the caller may not see.

        Of a type of the project that it may not see it is not told that there is one.
        """
        for record_type in record_types:
            if self.rights.sees is not None and record_type in KINDS and record_type not in self.rights.sees:
                hint = f"it may read: {', '.join(sorted(self.rights.sees)) or 'nothing'}"
                raise Refused(f"this caller may not read {record_type!r}", hint=hint)

    @property
    def everything(self) -> Catalog:
        """The catalog with the records that the caller may not see too: to decide by, and not to show."""
        return (self.whole or self).catalog

    @property
    def known_types(self) -> Vocabulary:
        """The types that the caller may read or write; of relation types, those of which an edge may be."""
        known, (sees, writes, *_) = self.everything.vocabulary, self.rights
        return known if sees is None or writes is None else known.narrowed(sees | writes)

    def rights_to(self, made: EntityType | RelationType) -> str | None:
        """
        Return what the caller may do with rows of a type, to be shown after its name.

        Returns:
            Nothing for a caller who may do all; None where it may do nothing.
        """
        sees, writes, *_ = self.rights
        if sees is None and writes is None:
            return ""
        reads = sees if isinstance(made, EntityType) or sees is None or writes is None else sees | writes
        words = [word for word, types in (("read", reads), ("write", writes)) if types is None or made.is_of(types)]
        return f" ({', '.join(words)})" if words else None

    def hidden_end(self, ref: str, other: str) -> str | None:
        """
        Return the reference by key of a record that the caller may not read, as an end of an edge that it may write.

        An edge may be written if the type of either end may; an end that may not be read is named by its whole
        reference.

        Args:
            other: the reference of the other end.

        Returns:
            None where it may be read, where the edge may not be written, or where no live record is called so.
        """
        record_type, name = split_ref(ref)
        catalog, writes = self.everything, self.rights.writes
        renamed = catalog.vocabulary.renamed
        ends = {renamed.get(found, found) for found in (record_type, split_ref(other)[0])}
        if not record_type or self.catalog.may_tell(record_type) or (writes is not None and writes.isdisjoint(ends)):
            return None
        number = catalog.lookup(record_type, name)
        found = catalog.stored(number) if number is not None else None
        return found.key_ref if found is not None and not found.is_archived else None

    def findings(self) -> list[Finding]:
        """Return what is wrong with the files that the caller may see."""
        return [found for found in self.ledger.findings() if self.may_see(found.file)]

    def may_see(self, file: str) -> bool:
        """Return whether the caller may know of a file of the store."""
        kind, type_name = holds(file)
        return self.rights.sees is None or (type_name or kind) in self.rights.sees

    def refresh_settings(self) -> None:
        """Read the settings again where a file that they come from has changed, or what is trusted."""
        settings = self.runtime.settings(self.layout.config)
        if settings is self.settings:
            return
        self.settings = settings
        self.set_ledger()
        self.close_graph()
        for name in ("model", "reranker", "vectors"):
            vars(self).pop(name, None)
        self.report_ignored_settings()

    def set_ledger(self) -> None:
        """Give the ledger the settings that it follows."""
        self.ledger.place.lock_timeout_s = self.settings.store.lock_timeout
        self.ledger.may_hold_secrets = self.settings.store.secrets == "allow"

    def is_catalog_damaged(self, error: Exception) -> bool:
        """Return whether a use case failed because the catalog is damaged; then ``renew_catalog`` helps."""
        if isinstance(error, DamagedCatalog) or is_damage(error):
            return True
        if self.is_closed or isinstance(error, GraphmemError | OSError | MemoryError) or has_passing_cause(error):
            return False
        return bool(self.catalog.damage())  # what damaged values lead to is any error

    def renew_catalog(self) -> None:
        """Make the catalog empty: the next sync reads all files again. The vectors stay."""
        self.catalog.renew()
        vars(self).pop("vectors", None)
        self.ledger.reader.forget_vocabulary()
        self.show_once("the catalog was damaged; it is made again from the files")

    def refuse_unusable(self) -> None:
        """Raise ``Usage`` for a memory that is closed."""
        if self.is_closed:
            raise _closed_error()

    def report(self, rows_read_first: int = 0) -> None:
        """Report, once, what was read again and which lines are bad."""
        if rows_read_first:
            records, edges = self.catalog.live_counts()
            self.show_once(f"built local/ from the files: {count(records, 'record')}, {count(edges, 'relation')}")
        if self.clone.git_folder and self.present is None and not self.catalog.has_records():
            for finding in in_git.not_on_disk(self.layout):
                self.notify_once(f"{finding.severity}: {finding.with_fix('fix')}")
        findings = self.findings()
        conflicted = {found.file for found in findings if found.code == Code.CONFLICT_MARKER}
        for file in sorted(conflicted):
            at = next(found.line for found in findings if found.file == file and found.code == Code.CONFLICT_MARKER)
            self.notify_once(f"{file}:{at}: conflict markers of git; merge both sides with: graphmem resolve")
        findings = [found for found in findings if found.file not in conflicted]
        for finding in findings[:SHOWN_FINDINGS]:
            self.notify_once(f"{finding.severity}: {finding}")
        for file, number in self.catalog.purged_rows().items() if self.whole is None else ():
            self.notify_once(
                f"{file}: {count(number, 'row')} that had been purged came back, and are not read;"
                " the next write to the file removes them"
            )
        if len(findings) > SHOWN_FINDINGS:
            self.notify_once(f"and {len(findings) - SHOWN_FINDINGS:,} more; see: graphmem validate")

    def report_surroundings(self) -> None:
        """Report what is unusual about the clone, the folder and the settings."""
        for text in self.clone.notices:
            self.show_once(text)
        if isinstance(self.clone.refusal, Refused):
            self.lasting.append(f"{self.clone.refusal.message}; nothing is written until they are gone")
        self.lasting += (
            f"{path} is a symbolic link: what it hides is not read, and nothing is written until it is gone"
            for path in safe_files.links(self.layout.store)
        )
        if self.settings.format > FORMAT:
            self.lasting.append(
                f"the store has format {self.settings.format}, newer than this graphmem's {FORMAT}: reading only"
            )
        for text in self.lasting:
            self.show_once(text)
        self.report_ignored_settings()

    def report_ignored_settings(self) -> None:
        """Report the settings that have no effect."""
        for text in self.said_of_settings:
            self.show_once(text)

    @property
    def said_of_settings(self) -> list[str]:
        """Which settings have no effect: of the project without trust, and wrong ones."""
        return [f"ignored: {text}" for text in self.settings.ignored] + [one.text for one in self.settings.wrong]

    def show_once(self, text: str) -> bool:
        """Say to people what goes on, once for this ``Memory``; return whether it was new."""
        return self.runtime.show_once(text)

    def notify_once(self, text: str) -> None:
        """Report what bears on the answer, which holds it as a notice; people are shown it once."""
        self.show_once(text)
        if text not in self.notices:
            self.notices.append(text)

    def notify(self, text: str) -> None:
        """Report what was done with what this very call gave; the answer holds it as a notice."""
        if text not in self.notices:
            self.runtime.on_message(text)
            self.notices.append(text)

    @contextlib.contextmanager
    def reading(self, *followers: Follower) -> Iterator["Snapshot"]:
        """
        Yield the store as the files are now; it stays as it is while the block runs.

        Args:
            followers: what has to be in step with the catalog, such as ``client.clues``.
        """
        self.sync()
        with self.unchanging(*followers) as snapshot:
            yield snapshot

    @contextlib.contextmanager
    def unchanging(self, *followers: Follower) -> Iterator["Snapshot"]:
        """Yield the store as it is after the last ``sync``, as ``reading`` does; the files are not looked at again."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.catalog.unchanging())
            while behind := [follower for follower in followers if follower.is_behind]:
                stack.close()
                for follower in behind:
                    self.catch_up(follower)
                stack.enter_context(self.catalog.unchanging())
            self.load_vocabulary()
            yield Snapshot(self)

    def catch_up(self, follower: Follower) -> None:
        """Bring a follower in step with the catalog, and report it where it takes seconds."""
        if follower is vars(self).get("vectors"):
            self.embed_missing()
            return
        if self.whole is not None:  # what it follows is written by one who sees all of it
            self.whole.catch_up(self.whole.clues if follower is self.clues else self.whole.lexical)
            return
        if follower is self.clues and self.clues.is_behind and (lacking := self.clues.lacking) > SILENT_CLUES:
            self.show_once(f"working out what {lacking:,} memories are recognised by")
        follower.catch_up()

    def deciding(self, *followers: Follower, is_real: bool) -> contextlib.AbstractContextManager["Snapshot"]:
        """
        Hold the store alone for what is done; only read it for a preview, which says what would be done.

        Args:
            followers: what has to be in step with the catalog.
        """
        return self.writing(*followers) if is_real else self.reading(*followers)

    @contextlib.contextmanager
    def writing(self, *followers: Follower) -> Iterator["Writing"]:
        """
        Hold the store alone while the block decides and commits.

        Args:
            followers: what has to be in step with the catalog; where much was changed, others may write meanwhile.
        """
        self.refuse_unusable()
        if self.whole is not None:
            if not self.rights.is_writing:
                raise Refused("a caller who sees some kinds only cannot write")
            if followers:
                self.sync()
            for follower in followers:
                self.catch_up(follower)
            with contextlib.ExitStack() as stack:
                with self.runtime.silent():
                    stack.enter_context(self.whole.calling())
                    stack.enter_context(self.whole.writing())
                self.after_sync(Sync())
                yield Writing(self)
            return
        self.refuse_unwritable()
        self.before_sync()
        with contextlib.ExitStack() as held:
            self.after_sync(held.enter_context(self.ledger.writing()))
            if behind := [follower for follower in followers if follower.is_behind]:
                held.close()
                for follower in behind:
                    self.catch_up(follower)
                self.after_sync(held.enter_context(self.ledger.writing()))
            if safe_files.is_file(self.layout.purge):
                self.finish_purge()
            if not safe_files.is_file(self.layout.config):
                self.notify_once(WITHOUT_CONFIG)
            if self.local != self.layout.local:  # where the lock is that writers share
                raise Unavailable(f"{self.layout.local} is not a folder that can be written", hint="reading goes on")
            yield Writing(self)
        self.say_all(self.ledger.notices)
        self.say_all(self.ledger.place.notices)

    def say_all(self, texts: list[str]) -> None:
        """Report what there is to say for people, and empty the list."""
        for text in texts:
            self.notify_once(text)
        texts.clear()

    def refuse_unwritable(self) -> None:
        """Raise the error of a store that is only read: a past state, of a newer format, with wrong settings."""
        if self.present is not None:
            raise Refused("a past state (`--at`) cannot be written", hint="run the command without the commit or date")
        for wrong in self.settings.wrong:
            if wrong.decides_what_is_stored:
                raise Refused(
                    f"{wrong.message}, which decides what is stored", hint=f"{wrong.expected}; reading goes on"
                )
        if self.settings.format > FORMAT:
            raise Refused(
                f"the store has format {self.settings.format}, this graphmem writes format {FORMAT}",
                hint="update graphmem; reading goes on",
            )
        if not os.access(self.layout.store, os.W_OK):
            raise Unavailable(f"{self.layout.store} is read-only", hint="reading goes on")
        if self.clone.refusal is not None:
            self.sync()
            safe_files.refuse_links(safe_files.links(self.layout.store))  # which says more
            raise self.clone.refusal

    # --- models -------------------------------------------------------------------------------------------------

    @property
    def embedder(self) -> "Embedder | None":
        """The model of this store; None if it is not at hand, which every answer that needs it reports."""
        found, notices = (self.whole or self.present or self).model
        for text in notices:
            self.notify_once(text)
        return found

    @contextlib.contextmanager
    def asking_model(self) -> Iterator[None]:
        """Ask the model in the block; where it does not answer, the rest of the call goes by words alone."""
        try:
            yield
        except Unavailable as error:
            self.notify_once(f"{error.message}: search is by words alone")
            self.drop_vectors()
            self.__dict__["vectors"] = None
            self.is_model_away = True

    def question_vector(self, text: str) -> "Vector | None":
        """
        Return the vector of a question, made once in a call; None without a model, or where it does not answer.

        To be called before the snapshot is opened: a model may be asked over a network.
        """
        if self.vectors is None or (embedder := self.embedder) is None:
            return None
        question = (id(embedder), text)
        if question not in self.questions:
            with self.asking_model():
                self.questions[question] = embedder.encode_query(text)
        return self.questions.get(question)

    def document_vectors(self, texts: Sequence[str]) -> "Matrix | None":
        """Return the vectors of texts, kept or made now; None without a model, or where it does not answer."""
        if self.vectors is None:
            return None
        with self.asking_model():
            return self.vectors.encode_documents(texts)
        return None

    def forget_questions(self) -> None:
        """Forget what was asked in the call that ends; the next one asks a model again that did not answer."""
        self.questions = {}
        if (store := vars(self).get("vectors")) is not None:
            store.ahead.clear()
        if self.is_model_away:
            self.is_model_away = False
            vars(self).pop("vectors", None)
        if self.whole is not None:
            self.whole.forget_questions()

    def drop_vectors(self) -> None:
        """Let go of the files of the vectors."""
        if (store := vars(self).pop("vectors", None)) is not None:
            store.close()

    @cached_property
    def model(self) -> "tuple[Embedder | None, list[str]]":
        """The model of this store, and what there is to say about it."""
        found = self.runtime.models.embedder(self.settings.embedding, self.local)
        notices = list(found.warnings)
        if found.embedder is None and self.settings.embedding.model != "none":
            notices.append("no embedding model is at hand: search is lexical only")
            if self.settings.embedding.model == DEFAULT_MODEL:
                notices.append(f"hint: {MODEL_COMMAND}")
        return found.embedder, notices

    @cached_property
    def reranker(self) -> "Reranker | None":
        """The reranker of this store; None where none is named, or none is available, which is reported once."""
        if (other := self.whole or self.present) is not None:
            return other.reranker
        if not self.settings.retrieval.reranker:
            return None
        found, warnings = self.runtime.models.reranker(self.settings.retrieval.reranker)
        for warning in warnings:
            self.notify_once(warning)
        return found

    @cached_property
    def vectors(self) -> "VectorStore | None":
        """The vectors of the store; None without a model."""
        other = self.whole or self.present
        encoder = self.embedder if other is None else other.vectors  # which has most of them already
        return vectors.VectorStore(self.catalog, self.local / "vectors", encoder) if encoder else None

    @property
    def compared_by(self) -> tuple[Follower, ...]:
        """The followers that have to be in step with the catalog before new memories are compared with old ones."""
        return (self.clues,) if self.vectors is None else (self.clues, self.vectors)

    def embed_missing(self, first: Callable[[], Collection[int]] = tuple, *, seconds: float | None = None) -> int:
        """
        Embed what has no vector yet; return how many texts that were.

        Args:
            first: returns the records whose texts come before all others; called where texts are missing.
            seconds: to stop after, which is reported; None for what the settings say.
        """
        if self.vectors is None:
            return 0
        if self.whole is not None:
            with self.asking_model(), self.whole.calling():
                made = self.whole.embed_missing(first, seconds=seconds)
                if self.whole.is_model_away:
                    raise Unavailable("the model does not answer")
                return made
            return 0
        made = 0
        with self.asking_model():
            made = self.vectors.catch_up(
                lambda done, total: self.runtime.progress("embedding", done, total), first=first,
                seconds=self.settings.embedding.wait if seconds is None else seconds,
            )  # fmt: skip
        if self.vectors is not None and self.vectors.lacking and seconds != 0:
            rest = "a process in the background makes them" if self.embed_later() else MAKES_VECTORS
            texts = count(self.vectors.lacking, "text")
            self.notify_once(f"{texts} have no vector yet, and are found by their words alone; {rest}")
        return made

    def embed_later(self) -> bool:
        """Let a process in the background make the vectors that are missing; return whether it does."""
        embedding = self.settings.embedding
        has_none = embedding.model == "none" or vars(self).get("model", (True, []))[0] is None
        if self.present is not None or not embedding.background or has_none:
            return False
        return embed_in_background(self.root, self.local)

    def embed_ahead(self, texts: Collection[str] = (), *, seconds: float | None = None) -> None:
        """
        Load the model and embed what a command will compare, before it takes the lock; the vectors are kept.

        The caller has called ``sync``.
        """
        if self.vectors is None:
            return
        self.embed_missing(seconds=seconds)
        if texts and self.vectors is not None:
            with self.asking_model():
                self.vectors.encode_documents(list(dict.fromkeys(texts)))

    def encode_ahead(self, text: str) -> None:
        """Load the model and embed a record that is about to be added; its vector is kept with it."""
        if self.vectors is not None:
            with self.asking_model():
                self.vectors.encode_ahead(text)


def open_client(runtime: Runtime) -> Client:
    """
    Open the store of a project for the current thread.

    Raises:
        Unavailable: there is no store, or of a past one: there is no git.
        NotFound: the commit that ``runtime.at`` names does not exist, or holds no store.
    """
    client = open_folder(find_store(runtime.folder), runtime)
    if runtime.at is None:
        return client
    try:
        root, commit = checkout(client.ledger, client.local, runtime.at)
        past = open_folder(find_store(root), runtime, present=client)
    except BaseException:
        client.close()
        raise
    subject = f": {commit.subject}" if runtime.tells_subjects and commit.subject else ""
    past.lasting.append(f"as of commit {commit.hash[:10]}, {format_time(commit.at)}{subject}")
    past.show_once(past.lasting[-1])
    return past


def narrowed(whole: Client, rights: Rights) -> Client:
    """
    Return a client of the same store for a caller who sees, or writes, some kinds and entity types only.

    It reads through a connection of its own that has no row of another type; what changed on disk is taken in, and what
    follows the catalog is brought in step, by the client that sees all.
    """
    with whole.runtime.silent():
        whole.sync()
    catalog = Catalog(whole.local / CATALOG, visible=rights.visible, sees=rights.sees)
    return Client(
        whole.runtime, whole.clone, whole.settings, whole.ledger, catalog, whole.local, whole.present, whole, rights
    )


def open_folder(layout: Layout, runtime: Runtime, *, present: Client | None = None) -> Client:
    """Open the store in a folder for the current thread, and report what is unusual about it."""
    clone = find_clone(layout)
    settings = runtime.settings(clone.layout.config)
    if present is None:
        in_ref.refuse_unbegun(layout, is_meant=settings.ledger.place == "ref")
    local = derived_folder(clone.layout)
    catalog = Catalog(local / CATALOG)
    open_place = runtime.open_place if present is None else _open_files  # a past state is always one of files
    place = open_place(clone, catalog, local / LOCK, settings)
    ledger = SyncedLedger(place, catalog, clone.layout, runtime.command)
    client = Client(runtime, clone, settings, ledger, catalog, local, present)
    with catalog_errors():
        try:
            ledger.reader.load_vocabulary()
        except Exception as error:
            if not client.is_catalog_damaged(error):
                raise
            client.renew_catalog()
    client.report_surroundings()
    return client


def find_store(folder: Path | str | None) -> Layout:
    """Return where the store is: in the folder named, or in one at or above the current one."""
    named = folder if folder is not None else project_folder()
    if named is None:
        try:
            return find(current_folder(), commands.is_safe)
        except Unavailable:
            top = top_of(current_folder())
            if top is not None and (lack := in_git.unchecked_out(top)) is not None:
                raise Unavailable(lack[0], hint=f"bring it back: {lack[1]}") from None
            if top is not None and (lack := in_ref.unbegun(top)) is not None:
                raise Unavailable(lack[0], hint=lack[1]) from None
            raise
    layout = located(Layout(current_folder() / Path(named).expanduser()))
    if not layout.store.is_dir():
        option = " --user" if layout.root == user_store() else ""
        raise Unavailable(f"{str(named)!r} holds no {FOLDER} folder", hint=f"make one with: graphmem init{option}")
    return not_linked(layout)
