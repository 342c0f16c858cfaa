"""Prepare a project: the folders of its store, and what git has to know."""

from pathlib import Path

from graphmem.constants import FORMAT
from graphmem.contract.store import Initialised, InitRequest
from graphmem.errors import Refused
from graphmem.ledger.journal import replace_files
from graphmem.ledger.layout import FOLDER, Layout, above, not_linked
from graphmem.settings.folders import user_store
from graphmem.store.git_setup import register
from graphmem.store.runtime import Runtime, open_client
from graphmem.system import safe_files
from graphmem.system.shell import command

IGNORED = "local/\nstate/\n*.tmp\n"
ATTRIBUTES = (
    "*.ndjson text eol=lf merge=graphmem diff=graphmem\n*.md text eol=lf\n"
    "schema.json text eol=lf merge=graphmem\nconfig.toml text eol=lf\n"
)


def init(request: InitRequest) -> Initialised:
    """
    Prepare a project, or complete what is missing; run again it changes nothing.

    Raises:
        Refused: the folder is in a project that has a memory, and none of its own was asked for.
    """
    layout = not_linked(Layout(request.folder.absolute()))
    is_new = not layout.store.is_dir()
    if is_new and not request.nested:
        refuse_nested(layout.root)
    safe_files.refuse_links(safe_files.links(layout.store))
    registered = []
    for path in folders(layout):
        with safe_files.folder(path, make=True):
            pass
    if layout.root == user_store():  # of all projects, in a home that others may read
        layout.store.chmod(0o700)
    if not safe_files.is_file(layout.config):
        safe_files.write(layout.config, f"format = {FORMAT}\n".encode())
        registered.append(f"{FOLDER}/config.toml")
    for path, missing in missing_entries(layout).items():
        lines = safe_files.read(path).splitlines() if safe_files.is_file(path) else []
        data = b"\n".join([*lines, *map(str.encode, missing), b""])
        replace_files({path: data})
        registered.append(f"{FOLDER}/{path.name}")
    client = open_client(Runtime(layout.root))
    try:
        with client.writing():
            replace_files(client.ledger.stale_vocabulary_file(), client.layout)
    finally:
        client.close()
    return Initialised(path=str(layout.store), created=is_new, registered=registered + register(layout))


def refuse_nested(folder: Path) -> None:
    """Raise ``Refused`` for a folder whose project has a memory already, which a second one would hide."""
    outer = above(folder)
    if outer is not None:
        raise Refused(
            f"{str(folder)!r} is in a project that has a memory: {str(outer / FOLDER)!r}, which is used here too",
            hint=f"for a memory of its own: {command('graphmem', 'init', '--nested', str(folder))}",
        )


def folders(layout: Layout) -> tuple[Path, ...]:
    """Return the folders that every store has."""
    return layout.types / "entities", layout.types / "relations", layout.data, layout.local, layout.state


def missing_entries(layout: Layout) -> dict[Path, list[str]]:
    """Return the lines that git's files in the store lack, by file."""
    found = {}
    for name, text in ((".gitignore", IGNORED), (".gitattributes", ATTRIBUTES)):
        path = layout.store / name
        lines = safe_files.read(path).splitlines() if safe_files.is_file(path) else []
        found[path] = [line for line in text.splitlines() if line.encode() not in lines]
    return {path: missing for path, missing in found.items() if missing}
