"""
What graphmem writes with git beside the rows: trees, commits, branches; and what it compares for that.

The repository may be a stranger's, its configuration too. Nothing that it configures runs here: no filter, driver,
hook, editor, monitor or signing program. What the user's own configuration (global or system) sets runs as ever, such
as the filters of git-lfs. No text of a branch is taken for an option.
Source: docs/guarantees.md, "With a hostile branch".
"""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graphmem.errors import Conflict, Unavailable, Usage
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import directory_of, top_of
from graphmem.kernel.git.ref import HASH, SAFE
from graphmem.kernel.system.programs import program
from graphmem.kernel.system.surroundings import variables
from graphmem.names import visible
from graphmem.patterns import lazy_re

OLDEST = (2, 38)  # merges trees without a working tree
BRANCHES = "refs/heads/"
EMPTY = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}  # the tree without an entry, by the length of hashes
# What runs a program, or says whom to trust, in a configuration of the repository's own.
PROGRAMS = lazy_re(
    r"filter\..*\.(clean|smudge|process|required)|merge\..*\.driver|diff\.(.*\.(textconv|command)|external)"
    r"|gpg\.(.*\.)?program|gpg\.ssh\.(defaultkeycommand|allowedsignersfile|revocationfile)|gpg\.(format|mintrustlevel)"
    r"|core\.(editor|pager|askpass|alternaterefscommand|attributesfile|gitproxy)|sequence\.editor|pager\..*"
    r"|gc\.recentobjectshook|uploadpack\.packobjectshook|trailer\..*\.(command|cmd)|interactive\.difffilter",
    re.DOTALL,
)
# In the place of such a setting that the user does not set: nothing, but for these.
NEUTRAL = {"driver": "exit 1", "required": "false", "format": "openpgp", "mintrustlevel": "undefined"}
SIGNERS = {
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
}
# Objects and refs as they are, and files that are looked at although someone kept their size and time.
SETTINGS = (
    *commands.SETTINGS,
    *SAFE,
    "core.fsyncMethod=batch",
    "core.checkStat=default",
    "core.trustctime=true",
    "core.splitIndex=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.graftFileDeprecated=false",
)
AS_STORED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
DIFF = ("-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative", f"-O{os.devnull}")
WHO = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")


@dataclass(frozen=True)
class Head:
    """What is checked out; without a branch it is detached, without a commit the branch has none yet."""

    branch: str | None
    commit: str | None


@dataclass(frozen=True)
class TreeChange:
    """A path that differs between two trees: below the top, with git's status (A, M, D, T), its modes and hashes."""

    path: str
    status: str
    old_mode: str
    new_mode: str
    old: str
    new: str


class Git:
    """
    Git at the top of a working tree, where nothing runs that the repository configures.

    Raises:
        Unavailable: there is no working tree of git, or git is too old.
    """

    def __init__(self, folder: Path) -> None:
        inside = commands.is_in_working_tree(folder)
        top = top_of(folder)
        if not inside or top is None:
            commands.git(folder, "rev-parse", "--git-dir")  # says why, where git does not work here
            raise Unavailable(
                f"the repository of {str(folder)!r} is bare", hint="use a working tree of it: git worktree add"
            )
        if _version(folder) < OLDEST:
            raise Unavailable(f"git is older than {'.'.join(map(str, OLDEST))}", hint="install a newer git")
        self.top = top
        self.user = dict[str, str]()  # what the user's own configuration sets
        own = set[str]()
        parts = (commands.git(top, "config", "--show-scope", "-z", "--list") or b"").split(b"\0")
        for scope, entry in zip(parts[0::2], parts[1::2], strict=False):
            name, has_value, value = os.fsdecode(entry).partition("\n")
            if scope in (b"system", b"global", b"command"):
                self.user[name] = value if has_value else "true"
            else:
                own.add(name)
        found = {name: self._neutral(name) for name in own if PROGRAMS.fullmatch(name)}
        self.environment = {**commands.ENVIRONMENT, **AS_STORED, "GIT_WORK_TREE": str(top), **_given(found)}

    def _neutral(self, name: str) -> str:
        """Return what a setting of the repository's own is replaced with: that of the user, or what runs nothing."""
        return self.user.get(name, NEUTRAL.get(name.rpartition(".")[2], ""))

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        index: Path | None = None,
        extra: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
        says: Collection[int] = (0,),
    ) -> tuple[int, bytes]:
        """
        Run git and return its exit status and what it prints.

        Args:
            given: its standard input.
            index: the index file in the place of the real one.
            extra: more variables.
            settings: more settings.
            says: the exit statuses that are answers.

        Raises:
            Unavailable: it ends with another status; the message quotes it.
        """
        environment = {**self.environment, **(extra or {}), **({"GIT_INDEX_FILE": str(index)} if index else {})}
        how = (*SETTINGS, *settings)
        status, printed, complaint = commands.run(
            self.top, *arguments, given=given, settings=how, environment=environment
        )
        if status in says:
            return status, printed
        lines = complaint.decode(errors="replace").strip().split("\n")
        words = visible(next((line for line in lines if line.startswith(("error: ", "fatal: "))), lines[0]))
        raise Unavailable(f"git {arguments[0]} failed: {words or f'exit status {status}'}", hint="see: git status")

    def output(self, *arguments: str, given: bytes = b"", index: Path | None = None) -> str:
        """Return what git prints, without the last line end."""
        return os.fsdecode(self.run(*arguments, given=given, index=index)[1]).rstrip("\n")

    def paths(self, *arguments: str, index: Path | None = None) -> list[str]:
        """Return the texts that git prints with a NUL after each."""
        return [os.fsdecode(path) for path in self.run(*arguments, index=index)[1].split(b"\0") if path]

    def changes(self, *arguments: str, index: Path | None = None) -> Iterator[TreeChange]:
        """Yield the changes that a command of git prints as raw lines."""
        parts = self.run(*arguments, "--raw", "--no-abbrev", *DIFF, "--", index=index)[1].split(b"\0")
        for facts, path in zip(parts[0::2], parts[1::2], strict=False):
            old_mode, new_mode, old, new, status = facts.decode()[1:].split(" ")
            yield TreeChange(os.fsdecode(path), status, old_mode, new_mode, old, new)


def _given(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as variables of git's, after those that the user gives so; a name may have "=" in it."""
    before = int(variables().get("GIT_CONFIG_COUNT") or 0)
    found = {"GIT_CONFIG_COUNT": str(before + len(settings))}
    for place, (name, value) in enumerate(settings.items(), before):
        found |= {f"GIT_CONFIG_KEY_{place}": name, f"GIT_CONFIG_VALUE_{place}": value}
    return found


@cache
def _version(folder: Path) -> tuple[int, ...]:
    """Return the version of git."""
    found = re.search(rb"(\d+)\.(\d+)", commands.run(folder, "version")[1])
    return tuple(map(int, found.groups())) if found else (0,)


# --- what is there ---------------------------------------------------------------------------------------------------


def head_of(folder: Path) -> Head:
    """
    Return what is checked out in the working tree that a folder lies in.

    Raises:
        Unavailable: there is no git repository, or it is bare.
    """
    git = Git(folder)
    status, branch = git.run("symbolic-ref", "--quiet", "HEAD", says=(0, 1))
    name = os.fsdecode(branch).strip().removeprefix(BRANCHES) if status == 0 else None
    return Head(name, value_of(folder, "HEAD", git=git))


def value_of(folder: Path, ref: str, *, kind: str = "commit", git: Git | None = None) -> str | None:
    """Return the commit, or the tree, that a full name of a ref or a hash means; None where it means none."""
    status, found = (git or Git(folder)).run(*commands.MEANING, f"{ref}^{{{kind}}}", says=(0, 1))
    return found.decode().strip() if status == 0 else None


def dirty(folder: Path) -> list[str]:
    """Return the tracked paths whose content or mode differs from HEAD, in the index or in the working tree."""
    git = Git(folder)
    how = ("--name-only", "--ignore-submodules=dirty", *DIFF)
    settings = ("diff.autoRefreshIndex=true",)  # compares the content where only the times differ
    found = set[bytes]()
    for what in (("--cached", "HEAD"), ()):
        found |= {*git.run("diff", *how, *what, "--", settings=settings)[1].split(b"\0")}
    return sorted(os.fsdecode(path) for path in found if path)


def changes(folder: Path, before: str | None, after: str) -> list[TreeChange]:
    """Return what differs between two trees, or commits, by their hashes; a rename is D and A, None the empty tree."""
    names = before or EMPTY[len(after)], after
    return list(Git(folder).changes("diff-tree", "-r", "--ignore-submodules=none", *map(_hash, names)))


def patch(folder: Path, before: str, after: str) -> bytes:
    """Return what differs between two commits as a patch that git applies."""
    how = ("diff-tree", "-r", "-p", "--binary", "--full-index", *DIFF[1:], _hash(before), _hash(after))
    return Git(folder).run(*how)[1]


def worktrees(folder: Path) -> dict[str, Path]:
    """Return the branches that are checked out, each with the working tree."""
    found, place = dict[str, Path](), Path()
    for line in Git(folder).paths("worktree", "list", "--porcelain", "-z"):
        word, _, value = line.partition(" ")
        if word == "worktree":
            place = Path(value)
        elif word == "branch":
            found[value.removeprefix(BRANCHES)] = place
    return found


@contextlib.contextmanager
def objects(folder: Path) -> Iterator[commands.Objects]:
    """Yield the objects of a repository as they are stored, whatever it would put in their place."""
    with commands.objects(folder, environment={**commands.ENVIRONMENT, **AS_STORED}) as found:
        yield found


# --- trees and commits -----------------------------------------------------------------------------------------------


def take_tree(folder: Path, scratch: Path) -> str:
    """
    Write everything that git does not ignore, tracked or not, as a tree, and return its hash; a nested repository is
    a link to its commit.

    Args:
        folder: lies in the working tree; all of that is taken.
        scratch: a path for an index file, which begins as the real one, so that unchanged files are not read.

    Raises:
        Unavailable: a nested repository has no commit, or git cannot read or write something.
    """
    git = Git(folder)
    with _index(scratch, directory_of(git.top) / "index"):
        _look_at_all(git, scratch)
        found = list(git.changes("diff-files", "--ignore-submodules=dirty", index=scratch))
        gone = {change.path for change in found if change.status == "D"}
        _put(git, dict.fromkeys(gone), scratch)
        others = [path.rstrip("/") for path in git.paths(*commands.OTHERS, index=scratch)]
        there = dict.fromkeys([*(change.path for change in found if change.path not in gone), *others])
        for path in there:
            _refuse_unborn(git, path)
        if there:
            given = b"".join(os.fsencode(path) + b"\0" for path in there)
            git.run("update-index", "--add", "--replace", "-z", "--stdin", given=given, index=scratch)
        return git.output("write-tree", index=scratch)


@contextlib.contextmanager
def _index(scratch: Path, seed: Path | None = None) -> Iterator[None]:
    """Have an index file for a while, maybe as a copy."""
    files = scratch, scratch.with_name(f"{scratch.name}.lock")
    try:
        for file in files:
            file.unlink(missing_ok=True)
        if seed is not None and seed.exists():
            shutil.copyfile(seed, scratch)
            times = seed.stat()  # git reads a file that is as young as the index: a copy must not look younger
            os.utime(scratch, ns=(times.st_atime_ns, times.st_mtime_ns))
        yield
    finally:
        for file in files:
            file.unlink(missing_ok=True)


def _look_at_all(git: Git, index: Path) -> None:
    """Take the marks from an index that keep git from looking at files that are there."""
    marked: dict[str, list[str]] = {"--no-assume-unchanged": [], "--no-skip-worktree": []}
    for line in git.paths("ls-files", "-v", "-z", index=index):
        mark, path = line[0], line[2:]
        if mark.islower():
            marked["--no-assume-unchanged"].append(path)
        if mark in "sS" and os.path.lexists(git.top / path):
            marked["--no-skip-worktree"].append(path)
    for option, paths in marked.items():
        if paths:
            given = b"".join(os.fsencode(path) + b"\0" for path in paths)
            git.run("update-index", option, "-z", "--stdin", given=given, index=index)


def _refuse_unborn(git: Git, path: str) -> None:
    """Raise ``Unavailable`` for a repository below this one that has no commit: no tree can have it."""
    place = git.top / path
    if place.is_dir() and not place.is_symlink() and commands.commit_of(place, "HEAD") is None:
        raise Unavailable(
            f"{visible(path)!r} is a repository of its own without a commit",
            hint="commit in it, move it away, or have git ignore it",
        )


def _put(git: Git, entries: Mapping[str, tuple[str, str] | None], index: Path | None) -> None:
    """Put entries into an index, by their paths as mode and hash; None takes one out."""
    if entries:
        none = "0", "0" * 40
        lines = ((*(entry or none), path) for path, entry in entries.items())
        given = b"".join(
            b"%b %b\t%b\0" % (mode.encode(), name.encode(), os.fsencode(path)) for mode, name, path in lines
        )
        git.run("update-index", "--replace", "-z", "--index-info", given=given, index=index)


def commit_changes(
    folder: Path,
    *,
    branch: str,
    parent: str,
    tree: str,
    paths: Collection[str],
    message: str,
    scratch: Path,
    sign: bool = False,
) -> str:
    """
    Commit paths on a branch as they are in a tree, and return the commit's hash; the working tree is not touched.

    The index gets the paths before the branch moves: whatever ends it between the two, the call can be repeated.

    Args:
        branch: that names ``parent``.
        paths: as they are in ``tree``, present or gone; all others are as in ``parent``.
        scratch: a path for an index file.

    Raises:
        Unavailable: the branch names another commit by now, or git refuses; the branch is as it was.
    """
    git = Git(folder)
    only = set(paths)
    entries = {
        change.path: None if change.status == "D" else (change.new_mode, change.new)
        for change in git.changes("diff-tree", "-r", "--ignore-submodules=none", _hash(parent), _hash(tree))
        if change.path in only
    }
    with _index(scratch):
        git.run("read-tree", parent, index=scratch)
        _put(git, entries, scratch)
        made = git.output("write-tree", index=scratch)
    commit = commit_tree(folder, made, [parent], message, sign=sign, git=git)
    ref = BRANCHES + branch
    if (now := value_of(folder, ref, git=git)) != parent:
        raise Unavailable(f"branch {visible(branch)!r} names {now} by now, not {parent}", hint="run it again")
    if head_of(folder).branch == branch:
        _put(git, entries, None)
        git.run("update-index", "-q", "--refresh", says=(0, 1))
    move_refs(folder, {ref: (commit, parent)}, git=git)
    return commit


def commit_tree(
    folder: Path, tree: str, parents: Sequence[str], message: str, *, sign: bool = False, git: Git | None = None
) -> str:
    """
    Make a commit, which no ref names yet, and return its hash.

    Args:
        sign: as the user's own configuration has it, with no program that the repository names.
    """
    git = git or Git(folder)
    ends = [word for parent in parents for word in ("-p", _hash(parent))]
    how = ["-S"] if sign else []
    _, made = git.run(
        "commit-tree",
        *how,
        *ends,
        _hash(tree),
        given=message.encode(),
        extra=_identity(git),
        settings=signing(git) if sign else (),
    )
    return made.decode().strip()


def _identity(git: Git) -> dict[str, str]:
    """Return who commits, where git would not know: as the user's variables have it, or graphmem."""
    known = variables()
    found = {f"GIT_{name}": known[f"GIT_{name}"] for name in WHO if known.get(f"GIT_{name}")}
    for kind, usual in (("name", "graphmem"), ("email", "graphmem@localhost")):
        if git.run("config", "--get", f"user.{kind}", says=(0, 1))[0]:
            found = {f"GIT_{name}": usual for name in WHO if name.endswith(kind.upper())} | found
    return found


def signing(git: Git) -> tuple[str, ...]:
    """Return the settings that name the programs of signatures: those of the user or git's own, by absolute paths."""
    found = []
    for name, usual in SIGNERS.items():
        chosen = git.user.get(name) or (git.user.get("gpg.program") if "openpgp" in name else None) or usual
        found.append(f"{name}={program(os.path.expanduser(chosen)) or os.devnull}")
    signers = git.user.get("gpg.ssh.allowedsignersfile", "")
    if not signers.startswith(("/", "~", "%(prefix)")):  # a path below the repository would be its own
        found.append(f"gpg.ssh.allowedSignersFile={os.devnull}")
    return tuple(found)


def does_sign(folder: Path) -> bool:
    """Return whether the user's own configuration has commits signed."""
    return Git(folder).user.get("commit.gpgsign", "").lower() in ("true", "yes", "on", "1")


def merge_trees(folder: Path, ours: str, theirs: str, drivers: Mapping[str, str]) -> tuple[str, list[str]]:
    """
    Merge two commits, and return the tree with the paths that conflict in it; nothing is checked out.

    A path that a merge driver of the repository's own would merge conflicts.

    Args:
        drivers: settings of graphmem's own merge driver, so that rows merge.
    """
    git = Git(folder)
    how = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", _hash(ours), _hash(theirs))
    settings = tuple(f"{name}={value}" for name, value in drivers.items())
    _, printed = git.run(*how, settings=settings, says=(0, 1))
    tree, *paths = (os.fsdecode(part) for part in printed.split(b"\0") if part)
    return tree, list(dict.fromkeys(paths))


def signature_of(folder: Path, commit: str) -> str | None:
    """Return what git says of the signature of a commit by keys that the user trusts; None for no valid one."""
    git = Git(folder)
    how = ("verify-commit", _hash(commit))
    settings = (*SETTINGS, *signing(git))
    status, _, said = commands.run(git.top, *how, settings=settings, environment=git.environment)
    lines = said.decode(errors="replace").splitlines()
    return next((visible(line) for line in lines if "Good" in line), "valid") if status == 0 else None


def tips(folder: Path, prefix: str) -> list[str]:
    """Return the commits that refs name whose full names begin with a prefix."""
    lines = Git(folder).output("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    return [name for name, _, ref in (line.partition(" ") for line in lines) if ref.startswith(prefix)]


def commit_saying(folder: Path, ref: str, text: str) -> str | None:
    """Return the last commit of the history of a ref whose message has a text."""
    return Git(folder).output("rev-list", "-1", "--fixed-strings", f"--grep={text}", ref, "--") or None


# --- branches --------------------------------------------------------------------------------------------------------


def create_branch(folder: Path, name: str, at: str) -> None:
    """
    Make a branch at a commit.

    Raises:
        Conflict: it is there already.
        Usage: git does not take the name.
    """
    git = Git(folder)
    ref = _ref(git, name)
    if value_of(folder, ref, git=git) is not None:
        raise Conflict(f"branch {visible(name)!r} is there already")
    move_refs(folder, {ref: (at, None)}, git=git)


def delete_branch(folder: Path, name: str, at: str) -> None:
    """Delete a branch that names a commit and is not checked out; ``Unavailable`` where it names another by now."""
    if (place := worktrees(folder).get(name)) is not None:
        raise Unavailable(f"branch {visible(name)!r} is checked out in {visible(str(place))!r}")
    move_refs(folder, {BRANCHES + name: (None, at)})


def move_refs(folder: Path, refs: Mapping[str, tuple[str | None, str | None]], *, git: Git | None = None) -> None:
    """
    Let refs name other commits, all or none.

    Args:
        refs: by full name the new commit, None to delete it, and the one that it names now, None if it is not there.

    Raises:
        Unavailable: one of them names another commit by now.
    """
    given = b""
    for ref, (new, old) in refs.items():
        name, before = os.fsencode(ref), _hash(old).encode() if old else b"0" * len(new or "")
        given += (
            b"update %b\0%b\0%b\0" % (name, _hash(new).encode(), before) if new else b"delete %b\0%b\0" % (name, before)
        )
    (git or Git(folder)).run("update-ref", "--no-deref", "-m", "graphmem", "-z", "--stdin", given=given)


def switch(folder: Path, name: str, *, spares: Callable[[str], bool] = lambda path: False) -> None:
    """
    Check a branch out in the working tree that a folder lies in; untracked and ignored files stay.

    Args:
        spares: whether a path may differ from HEAD; it stays so, or git refuses.

    Raises:
        Unavailable: tracked files differ from HEAD, files are in the way, or another working tree has the branch.
        Usage: it can be no name of a branch.
    """
    git = Git(folder)
    _ref(git, name)
    if found := [path for path in dirty(folder) if not spares(path)]:
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        raise Unavailable(
            f"{visible(found[0])!r}{more} differs from HEAD", hint="commit it, or put it aside: git stash"
        )
    git.run("switch", "--quiet", "--no-guess", "--no-overwrite-ignore", "--no-recurse-submodules", name)


def name_head(folder: Path, branch: str) -> None:
    """Let HEAD name a branch of the commit that is checked out; index and files stay as they are."""
    git = Git(folder)
    git.run("symbolic-ref", "-m", "graphmem", "HEAD", _ref(git, branch))


def _ref(git: Git, branch: str) -> str:
    """Return the full name of the ref of a branch."""
    ref = BRANCHES + branch
    if branch.startswith("-") or "\0" in branch or git.run("check-ref-format", ref, says=(0, 1))[0]:
        raise Usage(f"{visible(branch)!r} is not the name of a branch", hint="such as work/api-retries")
    return ref


def _hash(name: str) -> str:
    """Return a full hash; nothing else is taken for one."""
    if not HASH.fullmatch(name):
        raise Unavailable(f"{visible(name)!r} is not the hash of an object")
    return name
