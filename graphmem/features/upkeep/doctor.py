"""Doctor: all that ``validate`` finds, what is missing in this clone, and what is derived; and the repairs."""

from collections.abc import Callable, Iterator, Mapping

from graphmem.constants import DEFAULT_MODEL, MODEL_COMMAND, REPAIR_COMMAND, SPLIT_BYTES, SPLIT_ROWS
from graphmem.core.vocabulary.retyping import mend_drift, widen
from graphmem.errors import Refused
from graphmem.features.upkeep import conflicts, init, rebuild, validate
from graphmem.features.upkeep.store_contract import DoctorRequest, InitRequest, RebuildRequest
from graphmem.kernel.catalog.vectors import forget_damaged
from graphmem.kernel.finding import Checked, Code, Doctored, Finding
from graphmem.kernel.ledger.files.layout import FOLDER, MERGETOOL, Layout
from graphmem.kernel.ledger.parts import holds, home_of
from graphmem.kernel.model.entry import Batch
from graphmem.kernel.registry import operation
from graphmem.kernel.store import in_git
from graphmem.kernel.store.clone import TRACKED_FIX
from graphmem.kernel.store.git_setup import drivers, unregistered
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Writing
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command

FEW_FILES, MOST_FILES = 16, 256  # that a kind can be split into
INIT = "graphmem init"  # mends a clone where it never ran


@operation(
    "doctor",
    writes=True,
    previews="fix",
    at_home=True,
    without={"fix": "repairs change the clone, and git's configuration"},
)
def doctor(client: Client, request: DoctorRequest) -> Doctored:
    """Check all that ``validate`` does, the clone, and what is derived; ``fix`` repairs what a program can."""
    client.refuse_unusable()
    if request.fix:
        safe_files.refuse_links(safe_files.links(client.layout.store))
    found = _examine(client).findings
    if request.fix:
        codes = {finding.code for finding in found}
        for fix_finding in dict.fromkeys(fix_finding for code, (_, fix_finding) in FIXES.items() if code in codes):
            fix_finding(client)
    left = _examine(client) if request.fix else validate.checked(found)
    mended = [finding for finding in found if request.fix and finding not in left.findings]
    return Doctored(ok=left.ok, findings=left.findings, mended=mended)


def _examine(client: Client) -> Checked:
    """Return what is wrong with a store and its clone; where the catalog is damaged, nothing else can be checked."""
    found = validate.validate(client).findings
    if any(finding.code == Code.CATALOG_DAMAGED for finding in found):
        return validate.checked([_told(finding) for finding in found])
    return validate.checked([_told(finding) for finding in (*found, *_surroundings(client))])


def _told(found: Finding) -> Finding:
    """Return a finding that says what the repair would do, where a program can repair it."""
    if found.code not in FIXES or found.fix == INIT:
        return found
    return found.model_copy(update={"fix": f"{REPAIR_COMMAND}, which would {FIXES[found.code][0]}"})


def _surroundings(client: Client) -> Iterator[Finding]:
    """Yield what is missing or left over around the files, and the state of the model."""
    layout = client.layout
    if isinstance(client.clone.refusal, Refused):
        yield Finding.of(FOLDER, Code.TRACKED, client.clone.refusal.message, "neither in git", TRACKED_FIX)
    if client.ledger.is_in_files:
        yield from _unfinished(layout)
    yield from (found for found in in_git.findings(layout) if found.code != Code.NOT_ON_DISK)  # of `validate`
    for name in layout.look().leftovers if layout.private is None else ():
        yield Finding.of(name, Code.LEFTOVER, "a process that died left this file", "no such file", REPAIR_COMMAND)
    for name in _tool_copies(client):
        yield Finding.of(name, Code.LEFTOVER, "git mergetool left this file", "no such file", REPAIR_COMMAND)
    yield from _large(client)
    if damage := client.state.damage():
        name = client.layout.state_file.relative_to(client.layout.store).as_posix()
        yield Finding.of(name, Code.STATE_DAMAGED, damage, "a file that graphmem wrote", REPAIR_COMMAND)
    for text in client.settings.ignored:
        yield Finding.of("config.toml", Code.UNTRUSTED, f"ignored: {text}", "a setting that you allow", None)
    if client.settings.embedding.model != "none" and client.embedder is None:
        what = f"the model {client.settings.embedding.model!r} is not at hand: search is lexical only"
        fix = MODEL_COMMAND if client.settings.embedding.model == DEFAULT_MODEL else "pip install 'graphmem[models]'"
        yield Finding.of("config.toml", Code.NO_MODEL, what, "a model, or model = 'none'", fix)


def _tool_copies(client: Client) -> list[str]:
    """Return the copies of data files that ``git mergetool`` left, and that no row is read of."""
    if client.layout.private is not None or not client.ledger.is_in_files or client.ledger.files.is_merging:
        return []
    copies = [file for file in client.layout.data_files() if MERGETOOL.fullmatch(file)]
    return [file for file in copies if not client.catalog.rows_in(file)]


def _large(client: Client) -> Iterator[Finding]:
    """Yield which kinds have so large files that they should be split, or be so into more."""
    sizes: dict[str, list[tuple[int, int]]] = {}
    with client.reading() as snapshot:
        for file in snapshot.ledger.place.parts() if snapshot.ledger.is_in_files else ():
            stat = safe_files.stat_of(snapshot.layout.store / file)
            size = snapshot.catalog.rows_in(file), stat.st_size if stat else 0
            sizes.setdefault(home_of(file), []).append(size)
    for home, found in sizes.items():
        rows, total = map(sum, zip(*found, strict=True))
        if len(found) < MOST_FILES and (rows >= SPLIT_ROWS * len(found) or total >= SPLIT_BYTES * len(found)):
            kind, type_name = holds(home)
            is_vast = rows >= SPLIT_ROWS * FEW_FILES or total >= SPLIT_BYTES * FEW_FILES
            fix = command("graphmem", "split", type_name or kind, *(["--files", str(MOST_FILES)] if is_vast else []))
            place = "one file" if len(found) == 1 else f"{len(found)} files"
            what = f"{rows:,} rows, {total / 2**20:,.0f} MiB in {place}; a write to one reads and writes all of it"
            yield Finding.of(home, Code.LARGE_KIND, what, f"at most {SPLIT_ROWS:,} rows in a file", fix)


def _unfinished(layout: Layout) -> Iterator[Finding]:
    """Yield what ``init`` would complete; in a clone where it never ran, that it did not: git keeps no empty folder."""
    settings = unregistered(layout)
    if settings == dict.fromkeys(drivers(), "is not set"):
        what = "this clone is not set up, so git merges and shows the data files as plain text"
        yield Finding.of(".git/config", Code.NOT_SET_UP, what, "what graphmem init sets", INIT)
        return
    for folder in init.folders(layout):
        if folder.is_relative_to(layout.store) and not safe_files.is_folder(folder):
            name = folder.relative_to(layout.store).as_posix()
            yield Finding.of(name, Code.MISSING_FOLDER, "the folder is missing", "a folder", REPAIR_COMMAND)
    for path, missing in init.missing_entries(layout).items():
        what = f"{', '.join(map(repr, missing))} missing"
        yield Finding.of(path.name, Code.MISSING_ENTRY, what, "what graphmem init writes", REPAIR_COMMAND)
    for name, what in settings.items():
        yield Finding.of(".git/config", Code.UNREGISTERED, f"{name} {what}", "what graphmem init sets", REPAIR_COMMAND)


# --- repairs ---------------------------------------------------------------------------------------------------------


def make_anew(client: Client) -> None:
    """Make the catalog again from the files."""
    client.renew_catalog()
    client.sync()


def complete(client: Client) -> None:
    """Make what ``init`` makes where it is missing."""
    init.init(InitRequest(folder=client.layout.root))


def _remove_leftovers(client: Client) -> None:
    """Remove what dead processes left, which every write does anyway, and the copies of ``git mergetool``."""
    with client.writing():
        for file in _tool_copies(client):
            safe_files.remove(client.layout.store / file)


def _renew_schema(client: Client) -> None:
    """Write ``schema.json`` as the types say."""
    with client.writing():
        client.ledger.files.replace({}, with_vocabulary=True)


def _remove_dangling(client: Client) -> None:
    """Take out the rows that name what is missing; ``undo`` brings them back."""
    with client.writing() as snapshot:
        snapshot.commit([], validate.dangling_rows(client))


def _repaired_by(repair: Callable[[Writing], object]) -> Callable[[Client], None]:
    """Return a repair that holds the store alone."""

    def alone(client: Client) -> None:
        with client.writing() as writing:
            repair(writing)

    return alone


def _remove_purged(client: Client) -> None:
    """Take rows that were purged, and that a merge brought back, out of their files."""
    with client.writing():
        client.ledger.write({file: Batch(file) for file in client.catalog.purged_rows()}, is_noted=False)


def _remake_vectors(client: Client) -> None:
    """Forget the vectors that are damaged."""
    forget_damaged(client.catalog, client.local / "vectors")


def _begin_state(client: Client) -> None:
    """Put the damaged state of this machine aside, as the next write would do."""
    with client.state.changing():
        pass


def _rebuild_derived(client: Client) -> None:
    """Rebuild catalog, graph and index."""
    rebuild.rebuild(client, RebuildRequest(embed=False))
    client.catch_up(client.lexical)


# By code of a finding: what a repair would do, in words, and the repair; in the order in which they are done.
FIXES: Mapping[Code, tuple[str, Callable[[Client], None]]] = {
    Code.CATALOG_DAMAGED: ("rebuild the catalog from the files", make_anew),
    Code.NOT_SET_UP: ("set this clone up", complete),
    Code.MISSING_FOLDER: ("make the folder", complete),
    Code.MISSING_ENTRY: ("add the lines", complete),
    Code.UNREGISTERED: ("set it in this clone's git configuration", complete),
    Code.LEFTOVER: ("remove the file", _remove_leftovers),
    Code.STALE_SCHEMA: ("write schema.json as the types say", _renew_schema),
    Code.DRIFT: ("make a file for the type", _repaired_by(mend_drift)),
    Code.NARROWED: ("let the type connect the two", _repaired_by(widen)),
    Code.MISPLACED: ("move the rows to the files that they belong in", _repaired_by(conflicts.resolve)),
    Code.PURGED_ROW: ("take the rows out of the file", _remove_purged),
    Code.DANGLING: ("take the row out of its file", _remove_dangling),
    Code.VECTORS_DAMAGED: ("forget them; the next search makes them again", _remake_vectors),
    Code.STATE_DAMAGED: ("put it aside, and begin a new one", _begin_state),
    Code.CATALOG_DIFFERS: ("rebuild catalog, graph and index from the files", _rebuild_derived),
    Code.INDEX_DIFFERS: ("rebuild graph and index from the files", _rebuild_derived),
    Code.GRAPH_DIFFERS: ("rebuild graph and index from the files", _rebuild_derived),
    Code.GRAPH_DAMAGED: ("rebuild graph and index from the files", _rebuild_derived),
}
