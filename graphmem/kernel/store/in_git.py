"""
What git makes of a store: files that no commit gets, files that git has and the disk lacks, memory of other worktrees.

It only looks; ``init``, ``status`` and ``doctor`` report it.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from graphmem.constants import FILE_BYTES
from graphmem.errors import GraphmemError, Unavailable
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import top_of, worktrees
from graphmem.kernel.ledger.files.layout import DEFINITIONS, FOLDER, Layout
from graphmem.kernel.ledger.files.missing import brought_back, missing_files, tracked_files
from graphmem.kernel.store.clone import git_folder
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command
from graphmem.kernel.system.user import is_of_another
from graphmem.names import visible
from graphmem.patterns import lazy_re

# Paths as a store has them, for rules that are about a name or a folder.
USUAL_FILES = (
    "config.toml", "schema.json", "data/failure.ndjson", "data/entities/service.ndjson", "types/entities/service.md",
    "extractors/notes.md", "scopes/reviewer.toml",
)  # fmt: skip
ATTRIBUTES = {"merge": ("graphmem",), "diff": ("graphmem",), "eol": ("lf",), "filter": ("unset", "unspecified"),
              "working-tree-encoding": ("unset", "unspecified"), "ident": ("unset", "unspecified")}  # fmt: skip
RULE = lazy_re(r"(?P<source>.*?):(?P<line>\d+):(?P<pattern>.*)")  # of an ignore file, as git prints it
SHARED = (
    "data",
    "types",
    "extractors",
    "queries",
    "scopes",
    *DEFINITIONS,
)  # the folders in a store whose files are committed
MOST_WORKTREES = 50  # that are looked at


def findings(layout: Layout) -> list[Finding]:
    """Return what git does to a store that its user may not expect; nothing outside a repository, or without git."""
    folder = git_folder(layout.root)
    if layout.home or folder is None or not safe_files.is_folder(layout.store):
        return []
    found = list[Finding]()
    for look in (bare, _kept_out, _changed_by_attributes, not_on_disk, _uncommitted_elsewhere):
        with contextlib.suppress(Unavailable, OSError):
            found += look(layout)
    return found


def bare(layout: Layout) -> Iterator[Finding]:
    """Yield that the store is where no commit can hold it."""
    if commands.is_in_working_tree(layout.root) is False:
        what, right = "the repository is bare here, and no commit can hold the memory", "a store in a worktree"
        yield Finding.of(FOLDER, Code.NO_WORKING_TREE, what, right, "move it into a worktree: git worktree list")


def _kept_out(layout: Layout) -> Iterator[Finding]:
    """Yield by which lines of ignore files git keeps files of the store out of commits."""
    there = layout.look_at_rows()
    files = dict.fromkeys([*USUAL_FILES, *there.data_files, *there.type_files, *layout.definition_files()])
    # Git does not take literal paths here; these are of plain characters.
    arguments = ("--no-literal-pathspecs", "check-ignore", "-v", "--no-index", "--", *files)
    rules: dict[str, list[str]] = {}
    for entry in (commands.git(layout.store, *arguments) or b"").decode("utf-8", "replace").splitlines():
        rule, _, path = entry.rpartition("\t")
        if (found := RULE.fullmatch(rule)) and not found["pattern"].startswith("!"):
            where = f"line {found['line']} of {found['source']}: {found['pattern']}"
            rules.setdefault(visible(where), []).append(path)
    for rule, paths in rules.items():
        what = f"git ignores {paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}, by {rule}"
        yield Finding.of(FOLDER, Code.KEPT_OUT, what, "files that are committed", "take that line out, or narrow it")


def _changed_by_attributes(layout: Layout) -> Iterator[Finding]:
    """Yield what attributes of git, such as those of LFS, do to data files on their way into a commit."""
    arguments = ("check-attr", "-z", *ATTRIBUTES, "--", USUAL_FILES[2])
    parts = (commands.git(layout.store, *arguments) or b"").decode("utf-8", "replace").split("\0")
    given = dict(zip(parts[1::3], parts[2::3], strict=False))
    wrong = {name: value for name, value in given.items() if value not in ATTRIBUTES[name]}
    if wrong:
        what = f"git's attributes give data files {visible(', '.join(f'{name}={wrong[name]}' for name in wrong))}"
        right = ", ".join(f"{name}={ATTRIBUTES[name][0]}" for name in wrong)
        yield Finding.of(".gitattributes", Code.ATTRIBUTES, what, right, "see .git/info/attributes too")


# --- files that git has and the disk lacks ---------------------------------------------------------------------------


def not_on_disk(layout: Layout) -> Iterator[Finding]:
    """Yield which data files git has and the disk lacks; none outside a repository, or without git."""
    missing: dict[str, bool] = {}
    with contextlib.suppress(Unavailable):
        missing = missing_files(layout)
    for file, is_skipped in missing.items():
        what = "git has this file, and it is not on the disk: its rows are not read"
        why = "a sparse checkout leaves it out" if is_skipped else "a commit would remove it"
        yield Finding.of(
            visible(file), Code.NOT_ON_DISK, f"{what}; {why}", "the file", brought_back(layout, file, is_skipped)
        )


def unchecked_out(root: Path) -> tuple[str, str] | None:
    """Return that git has a memory of a project which the disk lacks, and what brings it back."""
    tracked: dict[str, bool] = {}
    with contextlib.suppress(Unavailable):
        tracked = tracked_files(root, FOLDER)
    tracked.pop(FOLDER, None)  # a file of that name is no memory
    layout = Layout(root)
    if any(tracked.values()):
        return f"git has a memory of {str(root)!r}, and a sparse checkout leaves it out", brought_back(layout, "", True)
    if tracked and not layout.store.is_dir():
        forget = command("git", "-C", str(root), "rm", "-r", "-q", "--cached", FOLDER)
        back = f"{brought_back(layout, '', False).rstrip('/')}, or forget it with: {forget}"
        return f"git has a memory of {str(root)!r}, and it is not on the disk", back
    return None


def not_added(layout: Layout) -> list[Finding]:
    """Return which data files git does not know, where it knows others; ``status`` alone reports it: it is usual."""
    with contextlib.suppress(Unavailable):
        if not layout.home and tracked_files(layout.root, FOLDER):
            arguments = ("ls-files", "--others", "--exclude-standard", "-z", "--", f"{FOLDER}/data")
            listed = (commands.git(layout.root, *arguments) or b"").split(b"\0")
            if files := [os.fsdecode(file).removeprefix(f"{FOLDER}/") for file in listed if file.endswith(b".ndjson")]:
                what = f"`git commit -a` leaves out what is new: {visible(', '.join(files))}"
                return [Finding.of(FOLDER, Code.NOT_ADDED, what, "", command("git", "add", FOLDER))]
    return []


# --- other worktrees -------------------------------------------------------------------------------------------------


def _uncommitted_elsewhere(layout: Layout) -> Iterator[Finding]:
    """Yield the other worktrees of the repository that have memory which is in no commit of their branch."""
    folder = git_folder(layout.root)
    top = top_of(layout.root)
    if folder is None or top is None:
        return
    for worktree in worktrees(top)[1 : MOST_WORKTREES + 1]:
        if is_of_another(os.lstat(worktree).st_uid):
            continue
        other = Layout(worktree / layout.root.relative_to(top))
        with contextlib.suppress(GraphmemError, OSError):
            if number := uncommitted(other):
                place, files = visible(str(worktree)), f"{number:,} file{'' if number == 1 else 's'}"
                what = f"the worktree {place!r} has memory that is not committed: {files}"
                fix = command("git", "-C", str(worktree), "add", "--", os.fspath(other.store.relative_to(worktree)))
                yield Finding.of(FOLDER, Code.UNCOMMITTED, what, "committed memory", f"{fix}, then commit there")


def uncommitted(layout: Layout) -> int:
    """Return how many files of a store are not as the commit has them that is checked out there."""
    if layout.store.is_symlink() or not layout.store.is_dir():
        return 0
    tree = commands.tree_of(layout.root, "HEAD", FOLDER)
    committed = commands.files_of(layout.root, tree) if tree else {}
    committed = {path: name for path, name in committed.items() if path.partition("/")[0] in SHARED}
    there = [file for file in layout.look(*(layout.store / name for name in SHARED)).files if not file.endswith(".tmp")]
    differing = sum(not _is_as_committed(layout.store / file, committed.pop(file, None)) for file in there)
    return differing + len(committed)


def _is_as_committed(path: Path, name: str | None) -> bool:
    """Return whether a file is what an object of git holds, line ends apart; no filter of git runs for it."""
    if name is None:
        return safe_files.bytes_of([path]) == 0  # an empty file says nothing
    kind = hashlib.sha256 if len(name) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    if safe_files.bytes_of([path]) > FILE_BYTES:
        return False
    data = safe_files.read(path)
    texts = (data, data.replace(b"\r\n", b"\n"))
    return any(kind(b"blob %d\0%b" % (len(text), text)).hexdigest() == name for text in texts)
