"""
Another repository that has the ref of a memory: what it has, and what it is given.

Git runs in a git directory of ours that borrows the objects of the repository, so that nothing the repository
configures counts: no helper, no program for a connection, no other address. What the user configures counts, in files
and in the environment.
"""

import hashlib
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from graphmem.errors import Refused, Unavailable, Usage
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import top_of
from graphmem.kernel.git.ref import MemoryRef
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.surroundings import variables
from graphmem.names import visible
from graphmem.patterns import lazy_re

NETWORK_S = 600.0  # that one exchange may take
SETTINGS = ("core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false", "core.fsync=committed,loose-object")
ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_CONFIG_NOSYSTEM": "0",
}
OF_USER = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_PROXY_COMMAND")
LAST = "refs/graphmem/last"  # in our git directory: what the other repository had last
ABSENT = b"couldn't find remote ref"
# What git says where somebody else was faster.
OVERTAKEN = lazy_re(
    r"stale info|fetch first|non-fast-forward|cannot lock ref|failed to update ref|incorrect old value|already exists"
    r"|updated since"
)
WEB_OR_HOST = lazy_re(r"(?!file:)[a-z][a-z0-9+.-]*://.*|[^/]*:(?!:).*", 0)


def address_of(root: Path, named: str | None) -> tuple[str, str, bool]:
    """
    Return what a remote is called, its address, and whether that is a folder which the repository names.

    Git runs there what such a folder configures. The repository may be a stranger's, so the user has to name it once.

    Args:
        named: a remote of the repository, or an address; None for ``origin``.

    Raises:
        Unavailable: there is no such remote.
        Refused: its address is a folder in the project, which a branch can bring, with hooks.
    """
    name = named or "origin"
    found = commands.output_of(root, "config", "--get", f"remote.{name}.url") if "\n" not in name else None
    address = found or named
    if address is None:
        raise Unavailable("there is no remote 'origin'", hint="name one: graphmem sync REMOTE")
    if address.startswith("-") or not address.isprintable():
        raise Usage(f"{visible(address)!r} is not an address", hint="a remote, an address of git, or a folder")
    if not WEB_OR_HOST.fullmatch(address):
        path = Path(os.path.realpath(root / address.removeprefix("file://")))
        if found is None and not path.exists():
            raise Unavailable(f"{visible(name)!r} is neither a remote nor a folder", hint="see: git remote -v")
        if path.is_relative_to(top_of(root) or root):
            raise Refused(f"{str(path)!r} is in the project itself: its hooks would run", hint="move it out of it")
        return visible(name), str(path), found is not None
    return visible(name), address, False


class Remote:
    """
    Another repository.

    Args:
        ref: the ref of the memory, which is called so there too.
        name, address: as ``address_of`` returns them.
        folder: where git directories of ours can be.
    """

    def __init__(self, ref: MemoryRef, name: str, address: str, folder: Path) -> None:
        self.ref, self.name, self.address = ref, name, address
        self.place = folder / f"{hashlib.sha256(address.encode()).hexdigest()[:16]}.git"

    @property
    def is_known(self) -> bool:
        """Whether this clone has been in touch with it."""
        return (self.place / "HEAD").exists()

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """The variables for git: the user's own, and where the objects are."""
        given = {name: value for name, value in variables().items() if name in OF_USER}
        return {**given, **ENVIRONMENT, "GIT_OBJECT_DIRECTORY": str(self.ref.places[0] / "objects")}

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run git in our git directory and return its status, what it prints and what it complains."""
        if not self.is_known:
            form = commands.output_of(self.ref.root, "rev-parse", "--show-object-format") or "sha1"
            with safe_files.folder(self.place.parent, make=True):
                commands.git(
                    self.ref.root, "init", "-q", "--bare", "--template=", f"--object-format={form}", str(self.place)
                )
        status, printed, complaint = commands.run(
            self.ref.root, f"--git-dir={self.place}", *arguments,
            timeout_s=NETWORK_S, settings=SETTINGS, environment=self.environment,
        )  # fmt: skip
        return status, printed.decode("utf-8", "replace"), complaint.decode("utf-8", "replace")

    def last(self) -> str | None:
        """Return the commit that the other repository had last."""
        return self.run(*commands.MEANING, LAST)[1].strip() or None

    def fetch(self) -> str | None:
        """
        Return the commit that the other repository has now, with all that belongs to it; None where it has none.

        Raises:
            Unavailable: it cannot be reached.
        """
        how = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        status, _, complaint = self.run("fetch", *how, "--", self.address, f"+{self.ref.name}:refs/graphmem/fetched")
        if status and ABSENT.decode() in complaint:
            return None
        if status:
            raise self._unreachable(complaint)
        return self.run(*commands.MEANING, "refs/graphmem/fetched")[1].strip()

    def push(self, commit: str, old: str | None) -> bool:
        """
        Let the ref there name a commit in the place of ``old``; return False where it names another one.

        Raises:
            Refused: the host does not take it.
            Unavailable: it cannot be reached.
        """
        how = ("--porcelain", "--quiet", "--no-verify", "--recurse-submodules=no", "--no-follow-tags", "--no-signed")
        lease = f"--force-with-lease={self.ref.name}:{old or ''}"
        status, printed, complaint = self.run("push", *how, lease, "--", self.address, f"{commit}:{self.ref.name}")
        if not status:
            self.note(commit)
            return True
        refusal = next((line.split("\t")[-1] for line in printed.splitlines() if line.startswith("!")), None)
        if refusal is None:
            raise self._unreachable(complaint)
        if OVERTAKEN.search(refusal):
            return False
        words = " ".join(line.removeprefix("remote: ").strip() for line in complaint.splitlines() if "remote:" in line)
        raise Refused(
            f"{self.name} refuses {self.ref.name}: {visible(refusal)}{f' - {visible(words)}' if words else ''}",
            hint="the rows are kept here; ask who runs the host to allow that ref",
        )

    def note(self, commit: str) -> None:
        """Note what the other repository has now."""
        self.run("update-ref", LAST, commit)

    def _unreachable(self, complaint: str) -> Unavailable:
        """Return the error for a repository that does not answer."""
        lines = [line.strip() for line in complaint.splitlines() if line.strip()]
        words = next((line for line in lines if line.startswith(("fatal:", "error:"))), "".join(lines[:1]))
        return Unavailable(f"{self.name} cannot be reached: {visible(words)}", hint="later: graphmem sync")
