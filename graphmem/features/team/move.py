"""Move: the rows of a memory from the branch into a ref of its own, and back."""

import contextlib
from dataclasses import replace

from graphmem.errors import Refused, Unavailable
from graphmem.features.team.contract import LedgerMoved, MoveRequest
from graphmem.kernel.git import commands
from graphmem.kernel.git.ref import OWN, MemoryRef
from graphmem.kernel.ledger.files.journal import replace_files
from graphmem.kernel.ledger.files.layout import CHECKED_OUT, FOLDER, Layout, home_in_git
from graphmem.kernel.ledger.ref.place import CheckedOut
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store import in_git, in_ref
from graphmem.kernel.store.git_setup import register
from graphmem.kernel.store.runtime import Client, Runtime, open_client
from graphmem.kernel.system import safe_files

DRAFT = "draft.tmp"  # the folder in the store's one in git's directory, before it counts and when it counts no more


@operation(
    "ledger.move",
    writes=True,
    positional=1,
    arguments=1,
    previews="dry_run",
    at_home=True,
    takes={"to": Taken("ref|branch")},
    not_over_http="changes where the rows of this clone are",
    example="graphmem ledger move ref --dry-run",
    help="""
    Move the rows of the project into a ref of their own, or back into files of the branch.

    Into a ref, each commit of the branch that changed the memory becomes a commit of the ref. Nothing is committed in
    the branch, and no file of it is removed.
    """,
)
def move(client: Client, request: MoveRequest) -> LedgerMoved:
    """
    Move the rows into a ref of their own, or back into files of the branch.

    Raises:
        Refused: files would be replaced that are in no commit, or the ref holds what a memory does not.
        Unavailable: there is no git repository.
    """
    layout, is_to_ref = client.layout, request.to == "ref"
    target = replace(layout, home=home_in_git(layout.root) if is_to_ref else None)
    moved = LedgerMoved(to=request.to, path=str(target.store), ref=None, changed=False, files=0, commits=0)
    if (layout.home is not None) == is_to_ref:
        return moved
    if target.home is None and is_to_ref:
        raise Unavailable(f"{str(layout.root)!r} is in no git repository", hint="begin one with: git init")
    ref = in_ref.ref_of(layout.root, layout.history if layout.home else None)
    with client.deciding(is_real=not request.dry_run):
        there = ref.value() if is_to_ref else None
        if there is not None:
            ref.files(there)
        commits = len(ref.branch_commits()) if is_to_ref and there is None else 0
        if not is_to_ref and (number := in_git.uncommitted(target)):
            raise Refused(f"{number} files in {str(target.store)!r} are in no commit", hint="commit or remove them")
        names = [file for file in layout.shared_files() if OWN.fullmatch(file)]
        if not request.dry_run:
            contents = {file: safe_files.read(layout.store / file) for file in names}
            _to_ref(layout, target, contents, ref) if is_to_ref else _to_branch(layout, target, contents)
    if is_to_ref and not request.dry_run:  # a ref that was there is merged
        opened = open_client(Runtime(layout.root))
        with contextlib.closing(opened), opened.writing():
            pass
    return moved.model_copy(update={"ref": ref.name, "changed": True, "files": len(names), "commits": commits})


def _to_ref(layout: Layout, target: Layout, contents: dict[str, bytes], ref: MemoryRef) -> None:
    """Make the ref, and the folder in git's directory, which counts once it has its name."""
    draft = target.store.parent / DRAFT / FOLDER
    safe_files.remove_folder(draft.parent)
    for folder in ("types/entities", "types/relations", "data"):
        with safe_files.folder(draft / folder, make=True):
            pass
    replace_files({draft / file: data for file, data in contents.items()})
    if ref.value() is None:
        commit = ref.begin(contents)
        taken = CheckedOut(commit, ref.files(commit))
    else:  # with what they had in common when the rows were moved from there, if they were
        before = CheckedOut.read(target.store.parent / CHECKED_OUT)
        taken = CheckedOut(before.commit, before.files)
    taken.write(draft / CHECKED_OUT, ref.name)
    commands.git(layout.root, "config", "--local", in_ref.PLACE, "ref")
    safe_files.move(draft, target.store)
    _take_along(layout, target)


def _to_branch(layout: Layout, target: Layout, contents: dict[str, bytes]) -> None:
    """Write the files into the working tree, then take its name from the folder in git's directory."""
    for file in target.shared_files():
        if OWN.fullmatch(file) and file not in contents:
            safe_files.remove(target.store / file)
    replace_files({target.store / file: data for file, data in contents.items()})
    _take_along(layout, target)
    draft = layout.store.parent / DRAFT / FOLDER
    safe_files.remove_folder(draft.parent)
    CheckedOut.read(layout.checked_out).write(layout.store.parent / CHECKED_OUT, layout.history)
    with safe_files.folder(draft.parent, make=True):
        safe_files.move(layout.store, draft)
    commands.git(layout.root, "config", "--local", "--unset", in_ref.PLACE)
    safe_files.remove_folder(draft.parent)
    register(target)


def _take_along(layout: Layout, target: Layout) -> None:
    """Move what this machine keeps of the store; where that cannot be, it begins again."""
    for source, goal in ((layout.state, target.state), (layout.local, target.local)):
        with contextlib.suppress(OSError):
            if safe_files.is_folder(source) and not safe_files.is_linked(goal):
                safe_files.remove_folder(goal)
                safe_files.move(source, goal)
