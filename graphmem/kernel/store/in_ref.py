"""A memory in a ref of its own: how a clone begins with it, and that it has not begun yet."""

from dataclasses import replace
from pathlib import Path

from graphmem.errors import Refused, Unavailable
from graphmem.kernel.git import commands
from graphmem.kernel.git.ref import USUAL_REF, MemoryRef, valid_ref
from graphmem.kernel.ledger.files.layout import FOLDER, Layout, home_in_git
from graphmem.kernel.ledger.ref.place import CheckedOut
from graphmem.kernel.system import safe_files

PLACE, NAME = "graphmem.place", "graphmem.ref"  # settings of git
BEGIN = "graphmem init --ref"


def ref_of(root: Path, name: str | None = None) -> MemoryRef:
    """Return the ref that the memory of a project would be in, by the setting of git if no name is given."""
    named = name or commands.output_of(root, "config", "--get", NAME) or USUAL_REF
    return MemoryRef(root, valid_ref(named), FOLDER)


def begun(layout: Layout) -> Layout:
    """
    Let this clone have the rows of a project in a ref, beginning with what git has of it, and return where they are.

    Raises:
        Refused: there are rows in files, or the ref holds what a memory does not.
        Unavailable: there is no git repository.
    """
    if layout.look_at_rows().data_files:
        raise Refused(f"{str(layout.store)!r} has the rows", hint="to move them: graphmem ledger move ref")
    return placed(layout, ref_of(layout.root))


def placed(layout: Layout, ref: MemoryRef) -> Layout:
    """Make the folder for a memory in a ref, and take over the commit that a remote had when it was last fetched."""
    home = home_in_git(layout.root)
    if home is None:
        raise Unavailable(f"{str(layout.root)!r} is in no git repository", hint="begin one with: git init")
    there = _known_commit(ref)
    if there is not None:
        ref.files(there)
        if ref.value() is None:
            ref.move(there, None)
    found = replace(layout, home=home)
    with safe_files.folder(found.store, make=True):
        CheckedOut(is_new=True).write(found.checked_out, ref.name)
    commands.git(layout.root, "config", "--local", PLACE, "ref")
    return found


def _known_commit(ref: MemoryRef) -> str | None:
    """Return the commit of a ref, or else of what a remote had when it was last fetched."""
    if (there := ref.value()) is not None or not ref.name.startswith("refs/heads/"):
        return there
    tail = ref.name.removeprefix("refs/heads/")
    how = ("for-each-ref", "--count=1", "--sort=refname", "--format=%(objectname)")
    return commands.output_of(ref.root, *how, f"refs/remotes/origin/{tail}", f"refs/remotes/*/{tail}")


def refuse_unbegun(layout: Layout, *, is_meant: bool) -> None:
    """Raise ``Unavailable`` for a store without rows where they are in a ref that this clone has not taken in."""
    if layout.home is None and (is_meant or not safe_files.is_file(layout.config)):
        lack = None if layout.look_at_rows().data_files else unbegun(layout.root)
        if lack is None and is_meant:
            lack = f"the setting ledger.place puts the memory of {str(layout.root)!r} into a ref", BEGIN
        if lack is not None:
            raise Unavailable(lack[0], hint=lack[1])


def unbegun(root: Path) -> tuple[str, str] | None:
    """Return that git has a memory of a project in a ref, or is to have it there, and this clone has not begun."""
    try:
        ref = ref_of(root)
        if _known_commit(ref) is not None:
            return f"the memory of {str(root)!r} is in {ref.name}, which this clone has not taken in", BEGIN
        if commands.output_of(root, "config", "--get", PLACE) == "ref":
            return f"git's settings put the memory of {str(root)!r} into {ref.name}, which does not exist", BEGIN
    except Unavailable:
        pass
    return None
