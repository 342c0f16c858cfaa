"""What git says of the messages of commits, of what one commit changed, and of the lines that a commit holds."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from graphmem.kernel.git.commands import LAST_SECOND, git
from graphmem.kernel.model.candidate import CandidateEdit
from graphmem.kernel.model.commit import CommitMessage

MOST_COMMITS = 20_000  # whose messages are returned, the newest
MOST_FOUND = 5_000  # lines that a search returns
DIFF_BYTES = 2**21  # of what one commit changed
FORMAT = "%x00%H%x00%P%x00%ct%x00%B%x00%ae%x00"  # no part of it can hold a NUL


def commits_with(folder: Path, patterns: Sequence[str], span: Sequence[str]) -> list[CommitMessage]:
    """
    Return the commits below ``folder`` whose message has one of some expressions, newest first.

    Args:
        patterns: extended regular expressions, without case.
        span: the commits to look at, as git names them: full hashes, such as one to begin at and one to leave out.
    """
    wanted = (f"--grep={pattern}" for pattern in patterns)
    how = ("-i", "-E", "--encoding=UTF-8", "--no-patch", f"--max-count={MOST_COMMITS}", f"--format={FORMAT}")
    output = git(folder, "log", *how, *wanted, *span, "--", ".")
    parts = (output or b"").decode("utf-8", "replace").split("\0")[1:]
    found = list[CommitMessage]()
    for start in range(0, len(parts) - 4, 6):
        name, parents, at, message, author = parts[start : start + 5]
        moment = datetime.fromtimestamp(min(int(at), LAST_SECOND), UTC)
        found.append(
            CommitMessage(name, tuple(parents.split()), moment.strftime("%Y-%m-%dT%H:%M:%SZ"), message, author)
        )
    return found


def count(folder: Path, span: Sequence[str]) -> int:
    """Return how many commits below ``folder`` there are; ``span`` is as for ``commits_with``."""
    return int(git(folder, "rev-list", "--count", *span, "--", ".") or b"0")


def changes_of(folder: Path, commit: str) -> Iterator[CandidateEdit]:
    """
    Yield what a commit, given by its full hash, changed in the text files below ``folder``.

    Raises:
        Unavailable: as ``git``, and where it changed more than ``DIFF_BYTES``.
    """
    how = "--root -p -U0 -r --relative --no-commit-id --no-color --no-ext-diff --no-textconv --no-renames".split()
    output = git(folder, "diff-tree", *how, commit, "--", ".", most=DIFF_BYTES)
    file, removed, added = "", list[str](), list[str]()
    left = [0, 0]  # lines of this part of the difference that are still to come: removed, added
    for line in (output or b"").decode("utf-8", "replace").split("\n"):
        if line.startswith("-") and left[0] > 0:
            removed.append(line[1:])
            left[0] -= 1
        elif line.startswith("+") and left[1] > 0:
            added.append(line[1:])
            left[1] -= 1
        elif line.startswith("@@ "):
            left = [int((f"{span},1").split(",")[1]) for span in line.split(" ")[1:3]]
        elif line.startswith("diff --git "):
            if removed or added:
                yield CandidateEdit(file=file, removed="\n".join(removed), added="\n".join(added))
            file, removed, added = "", [], []
        elif line.startswith(("--- a/", "+++ b/")):
            file = line[6:].removesuffix("\t")
    if removed or added:
        yield CandidateEdit(file=file, removed="\n".join(removed), added="\n".join(added))


def lines_with(folder: Path, commit: str, pattern: str) -> dict[str, list[int]]:
    """
    Return the lines of text files below ``folder`` at a commit that have an expression, by file, counted from 1.

    Args:
        pattern: an extended regular expression, without case.
    """
    output = git(folder, "grep", "-z", "-n", "-I", "-i", "-E", "--no-color", "-e", pattern, commit, "--", ".")
    found: dict[str, list[int]] = {}
    for number, line in enumerate((output or b"").decode("utf-8", "replace").split("\n")):
        place, _, rest = line.partition("\0")
        where, _, _ = rest.partition("\0")
        if where.isdigit() and place.startswith(f"{commit}:"):
            found.setdefault(place.removeprefix(f"{commit}:"), []).append(int(where))
        if number >= MOST_FOUND:
            break
    return found


def commits_of(folder: Path, file: str, since: str, most: int) -> list[str]:
    """Return the commits since a time that changed a file, by its path below ``folder``: full hashes, newest first."""
    output = git(folder, "log", "--format=%H", f"--since={since}", f"--max-count={most}", "HEAD", "--", file)
    return (output or b"").decode().split()
