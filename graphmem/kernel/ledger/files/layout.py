"""Where a store's files are, and how a store is found: by walking up from a folder, like git."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import orjson

from graphmem.errors import Unavailable
from graphmem.kernel.git.places import common_of, is_own, top_of
from graphmem.kernel.git.ref import USUAL_REF, valid_ref
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command
from graphmem.kernel.system.user import is_of_another
from graphmem.patterns import lazy_re

FOLDER = safe_files.STORE
CHECKED_OUT = "ref.json"
IN_GIT = "graphmem"  # the folder in git's directory for stores whose rows are in a ref
PLAIN = lazy_re(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")  # the path of a file that is read
TYPE_FILE = lazy_re(r"types/(entities|relations)/[A-Za-z0-9_.-]+\.md")
EXTRACTOR_FILE = lazy_re(r"extractors/([a-z0-9][a-z0-9_-]{0,63})\.md")
ASIDE = ".aside"  # ends the name of a file that names nothing any more since a type was dropped; nothing reads it
QUERY_FILE = lazy_re(r"queries/([a-z][a-z0-9_]*/[a-z][a-z0-9_]*)\.cypher")
SCOPE_FILE = lazy_re(r"scopes/([a-z][a-z0-9_]{0,63})\.toml")
# What the feature ``governance`` reads: a folder for each sort of definition.
DEFINITIONS = ("flows", "cycles", "artefacts")
DEFINITION_FILE = lazy_re(rf"({'|'.join(DEFINITIONS)})/([a-z0-9][a-z0-9_-]{{0,63}})\.md")
# What a write replaces or removes beside rows, and ``undo`` brings back.
VOCABULARY_FILE = lazy_re(
    rf"{TYPE_FILE.pattern}|{SCOPE_FILE.pattern}|(?:{EXTRACTOR_FILE.pattern}|{QUERY_FILE.pattern})(?:{re.escape(ASIDE)})?"
)
WRITTEN = ("data", "types", "extractors", "scopes", "queries", "state")  # the folders whose files are replaced
MERGETOOL = lazy_re(r"data/.+_(BACKUP|BASE|LOCAL|REMOTE)_[0-9]+\.ndjson")  # what `git mergetool` leaves
FRESH = lazy_re(r"\.(.+)\.[0-9]+\.tmp")  # the name of a file with new contents; the group is the file it is for


@dataclass(frozen=True)
class Look:
    """What one walk found in a store: its regular files and its symbolic links, as paths below the store."""

    files: Sequence[str]
    links: Sequence[str]

    @property
    def data_files(self) -> list[str]:
        """The data files, in name order."""
        return [file for file in self.below("data/", ".ndjson") if is_plain(file)]

    @property
    def type_files(self) -> list[str]:
        """The files of the vocabulary, in name order."""
        return [file for file in self.below("types/", ".md") if TYPE_FILE.fullmatch(file)]

    @property
    def extractor_files(self) -> list[str]:
        """The files of extractors, in name order."""
        return [file for file in self.below("extractors/", ".md") if is_plain(file)]

    @property
    def misnamed(self) -> list[str]:
        """The files of data, types and extractors that are not read for their names."""
        groups = (
            ("data/", ".ndjson"), ("types/entities/", ".md"), ("types/relations/", ".md"), ("extractors/", ".md"),
        )  # fmt: skip
        return [file for top, end in groups for file in self.below(top, end) if not is_plain(file)]

    @property
    def leftovers(self) -> list[str]:
        """The files of new contents that a dead process left; what is in ``local/`` has another care."""
        named = [(file, file.rpartition("/")) for file in self.files if file.endswith(".tmp")]
        return [
            file
            for file, (folder, _, name) in named
            if FRESH.fullmatch(name) and (not folder or folder.partition("/")[0] in WRITTEN)
        ]

    def below(self, top: str, end: str) -> list[str]:
        """Return the files below a folder whose names end so, in name order."""
        return sorted([file for file in self.files if file.startswith(top) and file.endswith(end)])


@dataclass(frozen=True)
class Layout:
    """
    The paths of one store.

    Args:
        root: the folder of the project, which holds ``.graphmem``.
        private: a folder that holds ``local/`` and ``state/`` instead, where those of the store are not to be used.
        home: the folder in git's directory that holds ``.graphmem`` instead, where commits of a ref hold the rows.
    """

    root: Path
    private: Path | None = None
    home: Path | None = None

    @cached_property
    def store(self) -> Path:
        return (self.home or self.root) / FOLDER

    @cached_property
    def checked_out(self) -> Path:
        """Names the ref whose commits hold the rows, the commit that the files were last as, and how they were then."""
        return self.store / CHECKED_OUT

    @cached_property
    def history(self) -> str:
        """The revision of git whose history is that of the rows: the branch, or the ref that holds them."""
        if self.home is None:
            return "HEAD"
        try:
            return valid_ref(orjson.loads(safe_files.read(self.checked_out))["ref"])
        except (OSError, ValueError, KeyError, TypeError):
            return USUAL_REF

    @cached_property
    def config(self) -> Path:
        return self.store / "config.toml"

    @cached_property
    def types(self) -> Path:
        return self.store / "types"

    @cached_property
    def queries(self) -> Path:
        """Holds the project's own stored queries."""
        return self.store / "queries"

    @cached_property
    def scopes(self) -> Path:
        """Holds what callers that are bound to a scope may read and write."""
        return self.store / "scopes"

    @cached_property
    def formats(self) -> Path:
        """Holds the project's own formats of what tools print."""
        return self.store / "formats"

    @cached_property
    def extractors(self) -> Path:
        return self.store / "extractors"

    @cached_property
    def vocabulary(self) -> Path:
        return self.store / "schema.json"

    @cached_property
    def data(self) -> Path:
        return self.store / "data"

    @cached_property
    def local(self) -> Path:
        return (self.private or self.store) / "local"

    @cached_property
    def state(self) -> Path:
        return (self.private or self.store) / "state"

    @cached_property
    def state_file(self) -> Path:
        """Holds what this machine keeps of the store, but for what has a file of its own below."""
        return self.state / "state.db"

    @cached_property
    def state_aside(self) -> Path:
        """Holds a ``state/`` that was not made in this clone; nothing reads it."""
        return (self.private or self.store) / "state.aside.tmp"

    @cached_property
    def undo(self) -> Path:
        """Holds what the last writes of this clone replaced."""
        return self.state / "undo"

    @cached_property
    def undo_aside(self) -> Path:
        """Holds these notes while a purge is under way; the next write removes what a purge that was cut off left."""
        return self.state / "undo.purged"

    @cached_property
    def workflows(self) -> Path:
        """Declares which step of a workflow needs which."""
        return self.store / "workflows.json"

    @cached_property
    def purge(self) -> Path:
        """Holds the traces of purged records while these are cleared from the files of this machine."""
        return self.state / "purge.json"

    @cached_property
    def rejects(self) -> Path:
        """Holds the lines that the last bulk addition put aside."""
        return self.state / "rejects.ndjson"

    @cached_property
    def journal(self) -> Path:
        """Names the renames of a write that is under way."""
        return self.state / "journal.json"

    @cached_property
    def past(self) -> Path:
        """Holds past states, each a store of its own; they are made here."""
        return self.store / safe_files.DERIVED / safe_files.PAST

    def at(self, file: str) -> str:
        """Return where a file is, by its path below the store."""
        return f"{self.store}/{file}"

    def folders(self) -> set[Path]:
        """Return the folders whose files are committed, and the one of work under way."""
        tops = (self.data, self.types, self.extractors, self.scopes, self.queries, self.formats, self.state)
        return {self.store, *(folder for top in tops for folder in safe_files.walk(top))}

    def look(self, *tops: Path) -> Look:
        """Walk the store, or these folders of it; past states are not looked through."""
        start, files, links = len(str(self.store)) + 1, list[str](), list[str]()
        for top in tops or (self.store,):
            for folder, known in safe_files.tree(top, but=self.past):
                place = f"{folder}/"[start:]
                files += [place + entry.name for entry in known if entry.is_file(follow_symlinks=False)]
                links += [place + entry.name for entry in known if entry.is_symlink()]
        return Look(files, links)

    def shared_files(self) -> list[str]:
        """Return the files that are committed, and others beside them, as paths below the store."""
        tops = (self.data, self.types, self.extractors, self.scopes, self.queries, self.formats)
        try:
            there = safe_files.files(self.store)
        except FileNotFoundError:
            return []
        return [*(path.name for path in there), *self.look(*tops).files]

    def look_at_rows(self) -> Look:
        """Look at what is read: the data and the types."""
        return self.look(self.types, self.data)

    def definition_files(self) -> list[str]:
        """Return the files of flows, cycles and artefact types, in name order; links are not followed."""
        return self.look(*(self.store / folder for folder in DEFINITIONS)).below("", ".md")

    def data_files(self) -> list[str]:
        """Return the data files that are there, as paths below the store, in name order; links are not followed."""
        return self.look(self.data).data_files


def is_plain(file: str) -> bool:
    """Return whether a path below the store is of plain characters: a branch can bring any other, also no UTF-8."""
    return PLAIN.fullmatch(file) is not None


def located(layout: Layout) -> Layout:
    """Return where the store of a project is: in git's directory where this clone has its rows in a ref."""
    home = home_in_git(layout.root)
    if home is None or not (home / FOLDER).is_dir():  # asked for each folder above the current one
        return layout
    top = top_of(layout.root)
    return replace(layout, home=home) if top and is_own(top) else layout


def home_in_git(root: Path) -> Path | None:
    """Return the folder in git's directory for the store of a project with a ref; None where there is no git."""
    found = common_of(root)
    return found[0] / IN_GIT / found[1] if found is not None else None


def find(start: Path, is_trusted: Callable[[Path], bool]) -> Layout:
    """
    Return the store of the project that ``start`` is in.

    Args:
        is_trusted: returns whether the user trusts a folder that another user made.

    Raises:
        Unavailable: neither ``start`` nor a folder above it holds ``.graphmem``.
    """
    for folder in (start, *start.parents):
        if (layout := located(Layout(folder))).store.is_dir():
            layout = not_linked(layout)
            if is_of_another(layout.store.stat().st_uid) and is_trusted(folder):
                return layout
            return not_of_another(layout)
    raise Unavailable(f"no {FOLDER} folder in {str(start)!r} or above it", hint="make one with: graphmem init")


def above(folder: Path) -> Path | None:
    """Return the folder above with a store whose project ``folder`` is in; a repository is a project of its own."""
    for inner, outer in pairwise((folder, *folder.parents)):
        if (inner / ".git").exists():
            return None
        store = located(Layout(outer)).store
        if store.is_dir() and not store.is_symlink() and not is_of_another(store.stat().st_uid):
            return outer
    return None


def not_linked(layout: Layout) -> Layout:
    """Return the layout of a store, or raise ``Unavailable`` where its folder is a link, which a branch can bring."""
    if layout.store.is_symlink():
        raise Unavailable(
            f"{str(layout.store)!r} is a symbolic link, which is not followed",
            hint="name the real folder: " + command("graphmem", "--dir", str(layout.store.resolve().parent)),
        )
    return layout


def not_of_another(layout: Layout) -> Layout:
    """Return the layout of a store, or raise ``Unavailable`` where another user made it: who names it may use it."""
    if is_of_another(layout.store.stat().st_uid):
        trust = command("git", "config", "--global", "--add", "safe.directory", str(layout.root))
        raise Unavailable(
            f"{str(layout.store)!r} belongs to another user",
            hint=f"if you trust it: {trust}; or name its folder: {command('graphmem', '--dir', str(layout.root))}",
        )
    return layout
