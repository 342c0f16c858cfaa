"""
Remove purged rows of graphmem's data files from the history of this git repository.

Written by `graphmem purge --history-script FILE`. It holds hashes of what was purged and nothing of the rows
themselves, and needs Python 3.11 and git alone; `git filter-repo` is used where it is installed.

    python3 FILE          shows how many rows it would remove, and changes nothing
    python3 FILE --yes    removes them

What --yes does:
1. It writes everything this clone has into a bundle in its git folder, and prints the path.
2. It rewrites all branches and tags: every version of a file below `.graphmem/data/` without the purged rows. Nothing
   else in any commit changes, but the hashes of the commits do, and signatures are lost.
3. It removes the old commits from this clone: reflogs, unreachable objects, graphmem's copies of past states.

To undo it, before the bundle is deleted:
    git fetch --update-head-ok BUNDLE '+refs/*:refs/*' && git reset --hard
When all is well, delete the bundle: it still holds the rows. Then push with --force; every other clone is to be cloned
again, and anyone who has one still has the rows. A secret that was pushed has been read: change it.
Texts that other rows quote are left; look for them with: git log --all -S TEXT
"""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PURGES: dict[str, dict[str, str]] = {}  # by salt: the hash of salt and key text, and when the row was purged
SYMMETRIC: list[str] = []  # relation types without a direction
NAMING = {"relation": ("from", "to"), "feedback": ("ref", "task"), "event": ("subject",), "task": ("campaign",)}
NOT_TAKEN = "the repository is as it was"


def main(arguments: list[str]) -> int:
    """Do what the command line says and return the exit status."""
    if arguments[:1] == ["--index"]:  # called by git filter-branch, once a commit
        return _filter_index(json.loads(Path(arguments[1]).read_bytes()))
    if arguments not in ([], ["--yes"]):
        print(__doc__)
        return 2
    os.chdir(git("rev-parse", "--show-toplevel"))
    rows, changed = _filtered_blobs(is_written=False)
    print(f"{rows} purged rows in {len(changed)} versions of data files")
    if not rows:
        return 0
    if not arguments:
        print(f"nothing was changed; remove them with: python3 {shlex.quote(sys.argv[0])} --yes")
        return 0
    refusal = _in_the_way()
    if refusal:
        print(f"error: {refusal}; {NOT_TAKEN}", file=sys.stderr)
        return 3
    return _rewrite()


def _in_the_way() -> str | None:
    """Return why this clone cannot be rewritten now."""
    if git("status", "--porcelain", "--untracked-files=no"):
        return "there are changes that are not committed: commit them first"
    if git("stash", "list"):
        return "there are stashes, which would be lost: apply or drop them first"
    if git("rev-parse", "--is-shallow-repository") == "true":
        return "the clone is shallow: git fetch --unshallow first"
    if subprocess.run(["git", "symbolic-ref", "--quiet", "HEAD"], capture_output=True, check=False).returncode:
        return "no branch is checked out: git switch to one first"
    if len(git("worktree", "list", "--porcelain").split("\n\n")) > 1:
        return "there are other working trees: git worktree remove them first"
    return None


def _rewrite() -> int:
    """Back up, rewrite, clean up, and report what is left to do."""
    folder = Path(git("rev-parse", "--absolute-git-dir"))
    bundle = folder / f"graphmem-before-purge-{time.strftime('%Y%m%dT%H%M%S')}.bundle"
    git("bundle", "create", "-q", str(bundle), "--all", "HEAD")
    print(f"backup: {bundle}")
    _, changed = _filtered_blobs(is_written=True)
    table = folder / "graphmem-purge.json"
    table.write_text(json.dumps(changed), encoding="utf-8")
    try:
        if subprocess.run(["git", "filter-repo", "--version"], capture_output=True, check=False).returncode == 0:
            _with_filter_repo(table)
        else:
            _with_filter_branch(table)
    except subprocess.CalledProcessError as error:
        print(f"error: {error}; undo it as the head of {sys.argv[0]} says", file=sys.stderr)
        return 1
    finally:
        table.unlink()
    git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    git("gc", "--quiet", "--prune=now")
    for past in Path().rglob(".graphmem/local/at"):
        if not past.is_symlink() and not past.parent.is_symlink():
            shutil.rmtree(past)
    rows, _ = _filtered_blobs(is_written=False)
    print(f"{rows} purged rows are left in the history")
    print(f"next: look at it, delete {bundle}, then git push --force --all && git push --force --tags")
    return 0 if rows == 0 else 1


def _with_filter_repo(table: Path) -> None:
    """Rewrite with `git filter-repo`: the contents of the blobs, and nothing else."""
    body = (
        "global changed\n"
        "try:\n  changed\n"
        f"except NameError:\n  import json\n  changed = json.load(open({str(table)!r}))\n"
        "name = changed.get(blob.original_id.decode())\n"
        "if name is not None:\n"
        "  import subprocess\n"
        "  blob.data = subprocess.run(['git', 'cat-file', 'blob', name], capture_output=True, check=True).stdout\n"
    )
    options = ["--force", "--partial", "--prune-empty", "never", "--prune-degenerate", "never"]
    # Not --quiet: what it says of references it leaves alone is worth reading.
    subprocess.run(
        ["git", "filter-repo", *options, "--replace-refs", "delete-no-add", "--blob-callback", body],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    git("reset", "--hard", "--quiet")


def _with_filter_branch(table: Path) -> None:
    """Rewrite with `git filter-branch`: the blobs in the index of each commit, and nothing else."""
    call = shlex.join([sys.executable, os.path.abspath(sys.argv[0]), "--index", str(table)])
    subprocess.run(
        ["git", "filter-branch", "--force", "--index-filter", call, "--tag-name-filter", "cat", "--", "--all"],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "FILTER_BRANCH_SQUELCH_WARNING": "1"},
    )
    for name in git("for-each-ref", "--format=%(refname)", "refs/original/").split():
        git("update-ref", "-d", name)


def _filter_index(changed: dict[str, str]) -> int:
    """Put the filtered blobs into the index of the commit that is being rewritten."""
    entries = []
    for entry in git("ls-files", "-s", "-z").split("\0"):
        head, _, path = entry.partition("\t")
        mode, blob, stage = head.split(" ") if head else ("", "", "")
        if blob in changed:
            entries.append(f"{mode} {changed[blob]} {stage}\t{path}\0")
    git("update-index", "-z", "--index-info", given="".join(entries).encode("utf-8", "surrogateescape"))
    return 0


def _filtered_blobs(*, is_written: bool) -> tuple[int, dict[str, str]]:
    """Return how many purged rows all versions of the data files hold, and the blob without them by the blob with."""
    rows, changed = 0, {}
    for blob in _data_blobs():
        data = _git_bytes("cat-file", "blob", blob)
        kept = [line for line in data.splitlines(keepends=True) if not is_purged(line)]
        removed = data.count(b"\n") - b"".join(kept).count(b"\n")
        if b"".join(kept) != data:
            rows += max(removed, 1)
            write = ["-w"] if is_written else []
            changed[blob] = _git_bytes("hash-object", *write, "--stdin", given=b"".join(kept)).decode().strip()
    return rows, changed


def _data_blobs() -> list[str]:
    """Return every version of every data file in the history."""
    found = set()
    for line in git("rev-list", "--all", "--objects", "HEAD").split("\n"):
        blob, _, path = line.partition(" ")
        if path.endswith(".ndjson") and "/.graphmem/data/" in f"/{path}":
            found.add(blob)
    return sorted(found)


def is_purged(line: bytes) -> bool:
    """Return whether a line of a data file is a row that was purged."""
    try:
        row = json.loads(line)
        return row["kind"] != "purge" and any(at and created_at(row) <= at for at in _purge_times(row))
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _purge_times(row: dict[str, Any]) -> list[str]:
    """Return when a row, or a record that it depends on, was purged."""
    named = [row.get(field) for field in NAMING.get(row["kind"], ())]
    keys = [_key_text(row), *(ref for ref in named if isinstance(ref, str))]
    if row["kind"] == "feedback" and row.get("task"):
        keys.append(f"task/{row['task']}")
    hashed = [
        (hashes, hashlib.sha256(f"{salt}{key}".encode()).hexdigest()) for salt, hashes in PURGES.items() for key in keys
    ]
    return [hashes[name] for hashes, name in hashed if name in hashes]


def _key_text(row: dict[str, Any]) -> str:
    """Return what identifies a row for ever (docs/format.md, "Canonical form")."""
    kind = row["kind"]
    if kind == "relation":
        source, target = row["from"], row["to"]
        if row["type"] in SYMMETRIC and target < source:
            source, target = target, source
        return f"{source}\t{row['type']}\t{target}"
    if kind in ("run", "event"):
        return str(row["run" if kind == "run" else "id"])
    if kind == "feedback":
        return f"{row['task']}\t{row['ref']}" if row.get("task") else str(row["id"])
    record_type = row["type"] if kind == "entity" else kind
    return f"{record_type}/{row.get('key') or row['name']}"


def created_at(row: dict[str, Any]) -> str:
    """Return when a row was created, in UTC; in this form the order of texts is that of times."""
    moment = datetime.fromisoformat(str(row.get("created_at") or row["at"])).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def git(*arguments: str, given: bytes | None = None) -> str:
    """Run git and return what it prints."""
    return _git_bytes(*arguments, given=given).decode("utf-8", "surrogateescape").strip()


def _git_bytes(*arguments: str, given: bytes | None = None) -> bytes:
    """Run git and return what it prints, byte for byte."""
    return subprocess.run(["git", *arguments], input=given, stdout=subprocess.PIPE, check=True).stdout


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (subprocess.CalledProcessError, FileNotFoundError) as failure:
        sys.exit(f"error: {failure}")  # git has reported why
