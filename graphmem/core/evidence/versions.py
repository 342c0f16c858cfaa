"""Versions of packages: what the project uses now, from its own lock files and manifests, or from what is installed."""

import codecs
import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from fnmatch import translate
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from graphmem.constants import LOCK_BYTES, LOCK_FILES, PACKAGES_LISTED
from graphmem.core.evidence.citation_contract import VersionSource
from graphmem.core.evidence.citations import Unread, content_of
from graphmem.core.evidence.lock_files import LOCKS, locked
from graphmem.core.evidence.named_packages import named_packages
from graphmem.kernel.system import foreign
from graphmem.kernel.system.surroundings import variables
from graphmem.kernel.versions import Used, comparable
from graphmem.patterns import lazy_re

Known = Mapping[str, Used]  # by the comparable name of a package
TEXTS = ("trigger", "fix", "insight")  # of a memory: what went wrong, then what to do
LOCK_FILE = lazy_re("|".join(map(translate, LOCKS)))
DIST_INFO = lazy_re(r"(?P<name>.+?)-(?P<version>[^-]+)\.dist-info")


def packages_of(root: Path) -> Known | None:
    """Return what a project uses, None where no file of it says so; a file that cannot be read counts as empty."""
    return _read_packages(root, _stamps(root))


def _stamps(root: Path) -> tuple[tuple[str, int, int], ...]:
    """Return the lock files at the top of a project, each with its time and size."""
    found = []
    with contextlib.suppress(OSError):
        names = os.listdir(root)
        wanted = filter(LOCK_FILE.fullmatch, names)
        for name in sorted(wanted)[:LOCK_FILES]:
            stat = os.lstat(root / name)
            found.append((name, stat.st_mtime_ns, stat.st_size))
    return tuple(found)


@lru_cache(8)  # an answer asks for each record that has versions, a server for each answer
def _read_packages(root: Path, files: tuple[tuple[str, int, int], ...]) -> Known | None:
    """Read the lock files of a project; ``files`` says which state of them is meant."""
    found: dict[str, Used] = {}
    for name, *_ in files:
        with contextlib.suppress(Unread):
            text = _decoded(content_of(root, name, most=LOCK_BYTES) or b"")
            here: dict[str, set[str]] = {}
            for package, version in sorted(_parsed(locked, name, text)):
                here.setdefault(package, set()).add(version)
            for package, versions in here.items():
                before = found.get(comparable(package))
                if before is None:
                    found[comparable(package)] = Used(package, frozenset(versions))
                elif name != "go.sum":  # which has versions that go.mod did not choose
                    found[comparable(package)] = Used(before.name, before.versions | versions)
    return found or None


def _decoded(content: bytes) -> str:
    """Return the text of a file; pip's output in PowerShell is UTF-16."""
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = content.decode("utf-16" if is_wide else "utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n")


def _parsed(parse: Callable[[str, str], Any], name: str, text: str) -> Iterable[Any]:
    """Return what a file holds; nothing where it is not what its name says."""
    try:
        return parse(name, text)  # type: ignore[no-any-return]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return ()


def _installed(root: Path) -> Known:
    """Return what is installed in the project's own environment, and in that which is active; nothing is run."""
    active = variables().get("VIRTUAL_ENV")
    environments = [root / ".venv", root / "venv", *([Path(active)] if active else [])]
    found: dict[str, Used] = {}
    for folder in (path for made in environments for path in made.glob("lib/python3*/site-packages")):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in islice(entries, PACKAGES_LISTED):
                if made := DIST_INFO.fullmatch(entry.name):
                    found.setdefault(comparable(made["name"]), Used(made["name"], frozenset({made["version"]})))
    for file in islice((root / "node_modules").glob("*/package.json"), PACKAGES_LISTED):
        with contextlib.suppress(OSError, ValueError, AttributeError, Unread):
            row = foreign.json(_decoded(content_of(root, str(file.relative_to(root))) or b"{}"))
            if isinstance(row.get("version"), str):
                found.setdefault(comparable(file.parent.name), Used(file.parent.name, frozenset({row["version"]})))
    return found


def packages_in(fields: Mapping[str, Any], known: Known) -> dict[str, str | list[str]]:
    """Return the versions of the packages that a memory is about, as a record has them."""
    trigger, *advice = (text if isinstance(text := fields.get(name), str) else "" for name in TEXTS)
    return named_packages(trigger, "\n".join(advice), known)


def beside_given(found: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the versions that were found for a memory, and those that were given with it, which win."""
    named = {comparable(str(name)) for name in given}
    return {**{name: value for name, value in found.items() if name not in named}, **given}


def captured(root: Path, fields: Mapping[str, Any], source: VersionSource) -> dict[str, str | list[str]]:
    """Return the versions of the packages that a memory is about, by what the project or its environment has."""
    if source == "none":
        return {}
    used = {**(_installed(root) if source == "auto" else {}), **(packages_of(root) or {})}
    return packages_in(fields, used) if used else {}
