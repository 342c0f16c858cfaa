"""
What graphmem asks git: commits, trees, objects. It only reads, but for this clone's own settings.

Every call goes through ``start``, the only place that runs git. The repository may be a stranger's: nothing that it
configures runs (monitors, hooks, pagers, signatures, external diffs), a folder of it that looks like a git directory
is not taken for one, nothing goes to the network, and neither time nor output is without bound. No shell; nothing that
a user or a branch named is taken for an option or a pattern.
Source: docs/guarantees.md, "With a hostile branch".
"""

import contextlib
import os
import selectors
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from math import ceil
from operator import itemgetter
from pathlib import Path
from threading import Timer
from time import monotonic

from graphmem.constants import AUTHOR_CHARACTERS, FILE_BYTES, GIT_BYTES, GIT_S
from graphmem.errors import NotFound, Unavailable, Usage
from graphmem.kernel.git.places import is_own, top_of
from graphmem.kernel.system.programs import program
from graphmem.kernel.system.shell import command
from graphmem.kernel.system.surroundings import variables
from graphmem.names import printable
from graphmem.patterns import lazy_re

DATE = lazy_re(r"\d{4}-\d{2}-\d{2}([T ].+)?")
# Settings that win over those of any configuration file: what would run a program, or change what git prints.
SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "credential.helper=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "log.showRoot=true",
    "log.showSignature=false",
)
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone never goes to the network
}
# Other variables of git are not passed on: a hook is called with some that name another repository, index or program.
KEPT = ("GIT_CONFIG_", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_TEST_")
DEFAULT_BRANCHES = ("origin/main", "origin/master", "main", "master")
ERROR_STATUS = 128  # from here on git has failed; below, merge-file counts conflicts
ERROR_BYTES = 4096  # of what git says on standard error
MEANING = ("rev-parse", "--verify", "--quiet", "--end-of-options")  # asks which object a name means
OTHERS = ("ls-files", "--others", "--exclude-standard", "-z")
WHOLE = "this clone is partial; to have all of it: git fetch --refetch --no-filter"
LAST_SECOND = 253_402_300_799  # that a date can name; a commit may claim a later one
CODE = "Code-Commit"  # the trailer that names the commit of the code, in a ref that holds a memory
FORMAT = "%x00%H%x00%P%x00%ct%x00%an%x00%s%x00"  # what git reports of a commit; no part of it can hold a NUL


@dataclass(frozen=True)
class Commit:
    """A commit; ``at`` is when it was committed, in UTC, and ``parents`` are full hashes."""

    hash: str
    parents: tuple[str, ...]
    at: datetime
    author: str
    subject: str


def git(folder: Path, *arguments: str, timeout_s: float = GIT_S, most: int = GIT_BYTES) -> bytes | None:
    """
    Run git in a folder and return what it prints; None where it says no, such as to a name that means nothing.

    Raises:
        Unavailable: git is not installed, the folder is in no repository, git does not read the repository, the time
            is up, or git prints more than ``most`` bytes.
    """
    if program("git") and top_of(folder) is None:  # no process is started to learn it
        raise _outside(folder)
    status, printed, complaint = run(folder, *arguments, timeout_s=timeout_s, most=most)
    if status == 0:
        return printed
    if status < 0:
        raise Unavailable(f"git {arguments[0]} was ended by signal {-status}")
    if status == 1 or not complaint:
        return None
    if b"not a git repository" in complaint:
        raise _outside(folder)
    words = complaint.decode(errors="replace").strip().partition("\n")[0]
    hint = WHOLE if _is_partial(folder) else "see what git says itself: git status"
    raise Unavailable(f"git {arguments[0]} does not work here: {words}", hint=hint)


def run(
    folder: Path,
    *arguments: str,
    timeout_s: float = GIT_S,
    most: int = GIT_BYTES,
    given: bytes = b"",
    settings: Sequence[str] = SETTINGS,
    environment: Mapping[str, str] = ENVIRONMENT,
) -> tuple[int, bytes, bytes]:
    """
    Run git in a folder and return its exit status, what it prints, and the beginning of what it complains.

    Args:
        given: its standard input; with one, it may print what fits in memory.
        settings, environment: as ``start`` takes them.

    Raises:
        Unavailable: git is not installed, the time is up, or git prints more than ``most`` bytes.
    """
    with start(folder, *arguments, settings=settings, environment=environment) as process:
        try:
            if given:
                printed, complaint = process.communicate(given, timeout_s)
            else:
                printed, complaint = output(process, monotonic() + timeout_s, most)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise Unavailable(f"git {arguments[0]} took longer than {timeout_s:.1f} s") from None
        except OverflowError:
            raise Unavailable(f"git {arguments[0]} printed more than {most / 2**20:,.0f} MiB") from None
        finally:
            if process.poll() is None:
                process.kill()
    return process.returncode, printed, complaint


def start(
    folder: Path, *arguments: str, settings: Sequence[str] = SETTINGS, environment: Mapping[str, str] = ENVIRONMENT
) -> subprocess.Popen[bytes]:
    """
    Start git in a folder, with nothing of the repository's own that would run a program.

    Args:
        settings: of git, which win over those of the repository.
        environment: variables beside those that are passed on.

    Raises:
        Unavailable: git is not installed, or the folder's git directory may be a stranger's: ``refuse_foreign``.
    """
    refuse_foreign(folder)
    given_settings = (word for setting in settings for word in ("-c", setting))
    given = variables().items()
    kept = {name: value for name, value in given if not name.startswith(("GIT_", "GRAPHMEM_")) or name.startswith(KEPT)}
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            [program("git") or "git", "--no-pager", *given_settings, *arguments],
            cwd=folder,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env={**kept, **environment},
        )
    except FileNotFoundError:
        raise Unavailable("git is not installed, or not on the PATH", hint="history is read from git") from None


def _outside(folder: Path) -> Unavailable:
    """Return the error for a folder that is in no repository."""
    return Unavailable(f"{str(folder)!r} is in no git repository", hint="begin one with: git init")


def refuse_foreign(folder: Path) -> None:
    """
    Raise ``Unavailable`` in a folder that git could take for a git directory although no user made it one here, and
    where the git directory is that of another project.

    A branch can bring such a folder, and its configuration runs programs. Git from 2.38 on refuses it by a setting.
    """
    top = top_of(folder)
    if top is not None and not is_own(top):
        own = command("git", "-C", str(top), "config", "core.worktree", str(top))
        raise Unavailable(
            f"the git directory of {str(top)!r} is of another project, or does not name it: git is not asked there",
            hint=f"look at {str(top / '.git')!r}; a worktree that was moved: git worktree repair; "
            f"a git directory that you keep elsewhere for this folder alone: {own}",
        )
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        if place == top:
            return
        there = {name for name in ("HEAD", "objects", "refs", "commondir") if os.path.lexists(place / name)}
        if there >= {"HEAD", "objects", "refs"} or there >= {"HEAD", "commondir"}:
            raise Unavailable(
                f"{str(place)!r} looks like a git directory, which a branch can bring: git is not asked there",
                hint="look at its HEAD and config; a project of yours has a .git folder",
            )


def output(process: subprocess.Popen[bytes], end: float, most: int) -> tuple[bytes, bytes]:
    """
    Return what a process prints, and the beginning of what it complains.

    Raises:
        TimeoutError: it has not ended at ``end``, a time of ``monotonic``.
        OverflowError: it prints more than ``most`` bytes.
    """
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdin.close()
    printed, complaint = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, printed)
        selector.register(process.stderr, selectors.EVENT_READ, complaint)
        while selector.get_map():
            ready = selector.select(max(0.0, end - monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                data = os.read(key.fd, 2**16)
                key.data.extend(data)
                if not data:
                    selector.unregister(key.fileobj)
            if len(printed) > most:
                raise OverflowError
            del complaint[ERROR_BYTES:]
    try:
        process.wait(max(0.0, end - monotonic()))
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    return bytes(printed), bytes(complaint)


def output_of(folder: Path, *arguments: str) -> str | None:
    """Run git and return what it prints as a text, without the last line end; None where it says no or nothing."""
    output = git(folder, *arguments)
    return output.decode("utf-8", "replace").strip() or None if output is not None else None


def is_in_working_tree(folder: Path) -> bool | None:
    """Return whether a folder is in a working tree; False in a bare repository, None in none, and without git."""
    try:
        found = output_of(folder, "rev-parse", "--is-inside-work-tree")
    except Unavailable:
        return None
    return None if found is None else found == "true"


def user_name(folder: Path) -> str:
    """Return the name, on one line, that git gives to who commits in a folder; empty where it knows no name."""
    given = variables()
    home = given.get("HOME", "")
    files = (
        given.get("GIT_CONFIG_GLOBAL") or os.path.join(home, ".gitconfig"),
        os.path.join(given.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git/config"),
        os.path.join(folder, ".git/config"),
    )
    return _user_name(folder, *((path, _changed_at(path)) for path in files))


@lru_cache(16)  # to ask git takes 3 ms
def _user_name(folder: Path, *stamps: tuple[str, int]) -> str:
    """Do the work of ``user_name``, while the files stay as they are that usually say it."""
    try:
        _, printed, _ = run(folder, "config", "--get", "user.name")
    except Unavailable:
        return ""
    return "".join(filter(printable, " ".join(printed.decode("utf-8", "replace").split())))[:AUTHOR_CHARACTERS].strip()


def _changed_at(path: str) -> int:
    """Return when a file was changed, in nanoseconds; 0 where it is missing."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def is_in_hook() -> bool:
    """Return whether a hook of git called us; git holds its lock meanwhile."""
    return "GIT_INDEX_FILE" in variables()


def is_safe(folder: Path) -> bool:
    """
    Return whether the user tells git to trust the repository that a folder lies in.

    Asked from the root folder: a configuration of the repository's own does not count, to git neither.
    """
    top = next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), folder)
    try:
        status, printed, _ = run(Path("/"), "config", "-z", "--show-scope", "--path", "--get-all", "safe.directory")
    except Unavailable:
        return False
    parts = printed.decode("utf-8", "surrogateescape").split("\0")
    known: list[str] = []
    for scope, value in zip(parts[0::2], parts[1::2], strict=False):
        if status == 0 and scope in ("system", "global", "command"):
            known = [*known, value] if value else []  # an empty one takes back those before it
    return any(value == "*" or os.path.realpath(value) == os.path.realpath(top) for value in known)


# --- which commit ---------------------------------------------------------------------------------------------------


def find_commit(folder: Path, named: str, history: str = "HEAD") -> str:
    """
    Return the full hash of a commit by its name.

    Args:
        folder: lies in the repository.
        named: a commit, branch or tag; or a date, which means the last commit before it.
        history: HEAD, or the ref that is meant: a commit of the code then means the last one that was made with it,
            or else before it.

    Raises:
        NotFound: there is no such commit.
        Usage: it can be no name of a commit, or the date is none.
    """
    if DATE.fullmatch(named):
        return _before(folder, named, history)
    found = commit_of(folder, named)
    if found is not None and history != "HEAD" and git(folder, "merge-base", "--is-ancestor", found, history) is None:
        with_it = (f"--grep=^{CODE}: {found}$", "-1", history, "--")
        return output_of(folder, "rev-list", *with_it) or _before(
            folder, describe(folder, found).at.isoformat(), history
        )
    if found is None:
        raise NotFound(
            f"{named!r} is not a commit",
            hint="a commit, branch or tag, or a date such as 2026-11-01 or 2026-11-01T09:30",
        )
    return found


def commit_of(folder: Path, named: str) -> str | None:
    """Return the full hash of the commit that a revision means; None where it means none."""
    if named.startswith("-") or "\0" in named:
        raise Usage(f"{named!r} is not a commit", hint="a commit, branch or tag does not begin with -")
    return output_of(folder, *MEANING, f"{named}^{{commit}}")


def is_in_history(folder: Path, commit: str) -> bool:
    """Return whether a commit, by its full hash, is one of HEAD's history."""
    if commit_of(folder, commit) != commit:
        return False
    return git(folder, "merge-base", "--is-ancestor", commit, "HEAD") is not None


def parsed_date(date: str) -> datetime:
    """Return the moment that a date means, or raise ``Usage``; a day begins at midnight UTC."""
    try:
        moment = datetime.fromisoformat(date)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        moment.timestamp()
    except (ValueError, OverflowError):
        raise Usage(
            f"{date!r} is not a date", hint="such as 2026-11-01, 2026-11-01T09:30 or 2026-11-01T09:30+02:00"
        ) from None
    return moment


def _before(folder: Path, date: str, history: str = "HEAD") -> str:
    """Return the last commit of a history before a date; a day begins at midnight UTC."""
    last = max(0, ceil(parsed_date(date).timestamp()) - 1)  # git counts whole seconds, and takes the bound in
    if commit_of(folder, history) is not None:
        found = output_of(folder, "rev-list", "-1", f"--min-age={last}", history, "--")
        if found is not None:
            return found
    hint = "the clone is shallow: git fetch --unshallow" if is_shallow(folder) else "see: git log"
    raise NotFound(f"there is no commit before {date}", hint=hint)


def merge_base(folder: Path, first: str, second: str) -> str:
    """Return the commit at which two commits, given by full hashes, parted."""
    found = output_of(folder, "merge-base", first, second)
    if found is None:
        hint = "the clone is shallow: git fetch --unshallow" if is_shallow(folder) else None
        raise NotFound(f"commits {first[:10]} and {second[:10]} have no history in common", hint=hint)
    return found


def default_branch(folder: Path) -> str:
    """Return the name of the branch that others start from: that of the remote, or else the one of this clone."""
    names = output_of(folder, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"), *DEFAULT_BRANCHES
    found = next((name for name in names if name and commit_of(folder, name)), None)
    if found is None:
        raise NotFound(
            f"this clone has none of {', '.join(DEFAULT_BRANCHES)} to compare with",
            hint="name the commit or branch with --base; a clone of CI may have to fetch it: git fetch origin main",
        )
    return found


def _is_partial(folder: Path) -> bool:
    """Return whether the clone lacks objects that its remote has: it was made with a filter."""
    status, printed, _ = run(folder, "config", "--local", "--get-regexp", r"^remote\..*\.promisor$")
    return status == 0 and b"true" in printed


def is_shallow(folder: Path) -> bool:
    """Return whether the clone lacks the beginning of its history."""
    return output_of(folder, "rev-parse", "--is-shallow-repository") == "true"


def describe(folder: Path, commit: str) -> Commit:
    """Return what git reports of a commit, given its full hash."""
    output = git(folder, "log", "-1", "--encoding=UTF-8", f"--format={FORMAT}", "--no-patch", commit, "--")
    return next(commits(output or b""))[0]


# --- what a commit holds --------------------------------------------------------------------------------------------


def tree_of(folder: Path, commit: str, path: str) -> str | None:
    """Return the hash of the folder that a commit holds at a path below ``folder``; None where it holds none there."""
    found = output_of(folder, *MEANING, f"{commit}:./{path}")
    return output_of(folder, *MEANING, f"{found}^{{tree}}") if found is not None else None


def files_of(folder: Path, tree: str) -> dict[str, str]:
    """
    Return the regular files of a tree by their paths below it, with the hashes of their contents.

    Links and submodules are left out, and so is what a crafted tree would put elsewhere.
    """
    files: dict[str, str] = {}
    for entry in (git(folder, "ls-tree", "-r", "-z", "--full-tree", tree) or b"").split(b"\0"):
        facts, _, path = entry.decode("utf-8", "replace").partition("\t")
        if facts.startswith("100") and not {"", ".", ".."}.intersection(path.split("/")):
            files[path] = facts.split(" ")[2]
    return files


def files_with(folder: Path, text: str) -> list[str]:
    """
    Return the files below a folder that have a text: those that are tracked, or new and not ignored.

    Raises:
        Unavailable: as ``git``.
    """
    how = ("-I", "-l", "-z", "--fixed-strings", "--untracked", "--no-recurse-submodules", "--no-textconv")
    return (git(folder, "grep", *how, "-e", text) or b"").decode("utf-8", "surrogateescape").split("\0")[:-1]


def tracked(folder: Path) -> list[str]:
    """Return the paths below ``folder`` of the files that git knows."""
    return [os.fsdecode(path) for path in (git(folder, "ls-files", "-z") or b"").split(b"\0") if path]


class Objects:
    """The contents of objects, all from one process; made by ``objects``."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process, self.folder = process, folder

    def read(self, name: str, *, most: int = FILE_BYTES) -> bytes:
        """
        Return the content of an object, by its hash or as ``COMMIT:./PATH`` from the folder.

        Raises:
            Unavailable: the clone does not have it, or it has more than ``most`` bytes; another one can be read then.
        """
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(name.encode() + b"\n")
        self.process.stdin.flush()
        head = self.process.stdout.readline().split()
        if not head:
            if _is_partial(self.folder):
                raise Unavailable("this clone is partial, and lacks what is asked for", hint=WHOLE)
            raise Unavailable(f"git cat-file ended, or took longer than {GIT_S:.0f} s")
        if len(head) != 3 or not head[2].isdigit():
            raise Unavailable(f"git does not have object {name}", hint="see: git fsck")
        size = int(head[2])
        if size > most:
            for start in range(0, size + 1, most):  # else the next object would begin in this one
                self.process.stdout.read(min(most, size + 1 - start))
            raise Unavailable(f"object {name} has {size:,} bytes; at most {most:,} are read")
        content = self.process.stdout.read(size)
        self.process.stdout.read(1)
        return content


@contextlib.contextmanager
def objects(folder: Path, environment: Mapping[str, str] = ENVIRONMENT) -> Iterator[Objects]:
    """Yield the objects of the repository that a folder lies in; ``environment`` as ``start`` takes it."""
    with start(folder, "cat-file", "--batch", environment=environment) as process:
        timer = Timer(GIT_S, process.kill)  # an object is read in milliseconds; a file system that hangs ends here
        timer.daemon = True
        timer.start()
        try:
            yield Objects(process, folder)
        finally:
            timer.cancel()


# --- who changed what -----------------------------------------------------------------------------------------------


Contents = tuple[list[str], list[str]]  # of the changed files before and after, as hashes


def touching(folder: Path, paths: list[str], history: str) -> Iterator[tuple[Commit, list[Contents]]]:
    """
    Yield the commits of a history that changed files at these paths below ``folder``, newest first.

    Each comes with what it changed against each parent; a merge, against those of its parents it differs from.
    """
    how = "-m --full-history --date-order --encoding=UTF-8 --raw --no-abbrev --no-renames".split()
    output = git(folder, "log", *how, f"--format={FORMAT}", history, "--", *paths)
    # Git lists a merge once for each parent that it differs from.
    for commit, parts in groupby(commits(output or b""), key=itemgetter(0)):
        yield commit, [_changed(rest) for _, rest in parts]


def _changed(output: str) -> Contents:
    """Return the contents that raw lines of a difference name, before and after; only those of regular files."""
    entries = [line.split(" ") for line in output.split("\n") if line.startswith(":")]
    old = [name for mode, _, name, *_ in entries if mode.startswith(":100")]
    return old, [name for _, mode, _, name, *_ in entries if mode.startswith("100")]


def commits(output: bytes) -> Iterator[tuple[Commit, str]]:
    """Yield each commit that ``git log`` prints in ``FORMAT``, with what follows it."""
    parts = output.decode("utf-8", "replace").split("\0")[1:]
    for start in range(0, len(parts) - 5, 6):
        name, parents, at, author, subject, rest = parts[start : start + 6]
        moment = datetime.fromtimestamp(min(int(at), LAST_SECOND), UTC)
        yield Commit(name, tuple(parents.split()), moment, author, subject), rest


# --- a merge under way ----------------------------------------------------------------------------------------------


def unmerged(folder: Path, path: str) -> dict[str, dict[int, str]]:
    """
    Return the files that git's index holds unmerged at a path below ``folder``, with the hashes of their versions.

    Returns:
        By path below ``folder``; the versions by stage: 1 is the one that both come from, 2 ours, 3 theirs.
    """
    found: dict[str, dict[int, str]] = {}
    for entry in (git(folder, "ls-files", "-u", "-z", "--", path) or b"").split(b"\0"):
        facts, _, file = entry.decode("utf-8", "replace").partition("\t")
        if facts.startswith("100"):
            _, name, stage = facts.split(" ")
            found.setdefault(file, {})[int(stage)] = name
    return found


# --- where files went -----------------------------------------------------------------------------------------------


def removal(folder: Path, path: str, *, timeout_s: float) -> str | None:
    """Return the last commit of HEAD's history that took a file below ``folder`` away; None where none did."""
    output = git(
        folder, "log", "-1", "--diff-filter=D", "--no-renames", "--format=%H", "HEAD", "--", path, timeout_s=timeout_s
    )
    return (output or b"").decode().strip() or None


def renames(folder: Path, *commits: str, timeout_s: float) -> dict[str, str]:
    """
    Return the files below ``folder`` that were renamed from one commit to another, each with its new path.

    Args:
        commits: two of them; one for what was renamed since in the index and the working tree.
    """
    how = "--relative --no-ext-diff --no-textconv -M --diff-filter=R --name-status -z".split()
    output = git(folder, "diff", *how, *commits, "--", timeout_s=timeout_s)
    parts = (output or b"").decode("utf-8", "replace").split("\0")
    return {parts[n + 1]: parts[n + 2] for n in range(0, len(parts) - 2, 3)}


def differing(folder: Path, commit: str | None, *, timeout_s: float) -> tuple[Path, str, list[str]]:
    """
    Return the files of a repository that differ from a commit, those that git does not know among them.

    Args:
        folder: lies in the repository; all of it is looked at.
        commit: its full hash; HEAD where there is none.

    Returns:
        The folder that the paths are below, the full hash of the commit, and the paths; ignored files are left out.

    Raises:
        Unavailable: as ``git``, and where there is no such commit.
    """
    top, _, head = (output_of(folder, "rev-parse", "--show-toplevel", "HEAD") or "").rpartition("\n")
    if not top or not Path(os.path.realpath(folder)).is_relative_to(top):  # a configuration may name any folder
        raise Unavailable("git has no commit here")
    place, found = Path(top), list[bytes]()
    for arguments in (("diff-index", "--name-only", "-z", commit or head, "--"), OTHERS):
        found += (git(place, *arguments, timeout_s=timeout_s) or b"").split(b"\0")
    return place, commit or head, [os.fsdecode(path) for path in found if path]


def naming(folder: Path, word: str, *, timeout_s: float) -> list[str]:
    """Return the text files below ``folder`` that hold a word, ignored ones left out."""
    output = git(folder, "grep", "-l", "-z", "-I", "-w", "-F", "--untracked", "-e", word, "--", timeout_s=timeout_s)
    return [path for path in (output or b"").decode("utf-8", "replace").split("\0") if path]


def content_at(folder: Path, commit: str, path: str, *, most: int) -> bytes | None:
    """Return the content of a file below ``folder`` at a commit; None if it is missing or larger than ``most``."""
    name = output_of(folder, *MEANING, f"{commit}:./{path}")
    if name is None or output_of(folder, "cat-file", "-t", name) != "blob":
        return None
    return (
        git(folder, "cat-file", "blob", name) if int(output_of(folder, "cat-file", "-s", name) or 0) <= most else None
    )
