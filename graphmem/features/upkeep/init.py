"""Prepare a project: the folders of its store, and what git has to know."""

from pathlib import Path

from graphmem.constants import FORMAT
from graphmem.errors import Refused
from graphmem.features.upkeep.store_contract import Initialised, InitRequest
from graphmem.kernel.git import commands
from graphmem.kernel.ledger.files.journal import replace_files
from graphmem.kernel.ledger.files.layout import FOLDER, Layout, above, located, not_linked
from graphmem.kernel.registry import operation
from graphmem.kernel.settings.folders import user_store
from graphmem.kernel.store import in_git, in_ref
from graphmem.kernel.store.git_setup import register
from graphmem.kernel.store.runtime import Runtime, open_client
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command

# First what no rule of the project or of the user may keep out of commits: the nearest file wins, and its last line.
IGNORED = "!*/\n!*.ndjson\n!*.md\n!*.toml\n!*.json\n!*.cypher\n!.gitignore\n!.gitattributes\nlocal/\nstate/\n*.tmp\n"
ATTRIBUTES = (
    "* -filter -ident -working-tree-encoding\n"
    "*.ndjson text eol=lf merge=graphmem diff=graphmem\n*.md text eol=lf\n"
    "schema.json text eol=lf merge=graphmem\nconfig.toml text eol=lf\n"
)
GIT_FILES = {".gitignore": IGNORED.encode().splitlines(), ".gitattributes": ATTRIBUTES.encode().splitlines()}


@operation(
    "init", writes=True, at_home=True, needs_store=False, not_over_http="prepares a folder anywhere on this machine"
)
def init(request: InitRequest) -> Initialised:
    """
    Prepare a project: make ``.graphmem`` in ``folder``, or complete it; run again it changes nothing.

    Raises:
        Refused: the folder is in a project that has a memory, and none of its own was asked for.
    """
    layout = not_linked(located(Layout(request.folder.absolute())))
    is_new = not layout.store.is_dir()
    if request.ref and layout.home is None:
        layout = in_ref.begun(layout)
    if not layout.home and not safe_files.is_file(layout.config) and (lack := in_git.unchecked_out(layout.root)):
        raise Refused(lack[0], hint=f"bring it back: {lack[1]}")
    if not layout.home and not safe_files.is_file(layout.config) and (lack := in_ref.unbegun(layout.root)):
        raise Refused(lack[0], hint=lack[1])
    if is_new and not request.nested:
        _refuse_nested(layout.root)
        _refuse_bare(layout.root)
    safe_files.refuse_links(safe_files.links(layout.store))
    registered = []
    for path in folders(layout):
        with safe_files.folder(path, make=True):
            pass
    own = user_store()
    if own and own.is_dir() and layout.root.samefile(own):  # of all projects, in a home that others may read
        layout.store.chmod(0o700)
    if not safe_files.is_file(layout.config):
        safe_files.write(layout.config, f"format = {FORMAT}\n".encode())
        registered.append(f"{FOLDER}/config.toml")
    for path in missing_entries(layout):
        # Our lines in their order, then those that a person added.
        ours = GIT_FILES[path.name]
        replace_files({path: b"\n".join([*ours, *(line for line in _lines_of(path) if line not in ours), b""])})
        registered.append(f"{FOLDER}/{path.name}")
    client = open_client(Runtime(layout.root))
    try:
        with client.writing():
            client.ledger.files.replace({}, with_vocabulary=True)
    finally:
        client.close()
    registered += register(layout)
    return Initialised(path=str(layout.store), created=is_new, registered=registered, findings=in_git.findings(layout))


def _refuse_nested(folder: Path) -> None:
    """Raise ``Refused`` for a folder whose project has a memory already, which a second one would hide."""
    outer = above(folder)
    if outer is not None:
        raise Refused(
            f"{str(folder)!r} is in a project that has a memory: {str(outer / FOLDER)!r}, which is used here too",
            hint=f"for a memory of its own: {command('graphmem', 'init', '--nested', str(folder))}",
        )


def _refuse_bare(folder: Path) -> None:
    """Raise ``Refused`` for a folder of a bare repository, which has no files: no commit could hold a memory."""
    if commands.is_in_working_tree(folder) is False:
        raise Refused(
            f"the repository of {str(folder)!r} is bare: no commit could hold a memory here",
            hint="go into one of its worktrees: git worktree list",
        )


def folders(layout: Layout) -> tuple[Path, ...]:
    """Return the folders that every store has."""
    return layout.types / "entities", layout.types / "relations", layout.data, layout.local, layout.state


def missing_entries(layout: Layout) -> dict[Path, list[str]]:
    """Return the lines that git's files in the store lack, by file."""
    found = {layout.store / name: list[str]() for name in GIT_FILES}
    for path in found:
        lines = _lines_of(path)
        found[path] = [line.decode() for line in GIT_FILES[path.name] if line not in lines]
    return {path: missing for path, missing in found.items() if missing}


def _lines_of(path: Path) -> list[bytes]:
    """Return the lines of a file; none where it is not there."""
    return safe_files.read(path).splitlines() if safe_files.is_file(path) else []
