"""
Packages in lock files and manifests: what a project uses, in which versions. Files are parsed, nothing is run.

Lock files are read by patterns of their lines, which programs write: a TOML parser takes twenty times as long.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from graphmem.system import foreign

Packages = set[tuple[str, str]]  # name and version

OWN = r"(?!\nsource = \{ (?:editable|virtual|directory|workspace) )"  # a package that the project itself is
TOML_PACKAGE = re.compile(rf'^\[\[packages?\]\]\nname = "([^"\n]+)"\nversion = "([^"\n]+)"{OWN}', re.M)
CARGO_PACKAGE = re.compile(r'^\[\[package\]\]\nname = "([^"\n]+)"\nversion = "([^"\n]+)"\nsource = ', re.M)
REQUIREMENT = re.compile(r"^[ \t]*([A-Za-z0-9][\w.-]*)(?:[ \t]*\[[^\]\n]*\])?[ \t]*===?[ \t]*([^\s;#,\\]+)", re.M)
PNPM_PACKAGE = re.compile(r"""^  ['"]?/?((?:@[^/@\s'"]+/)?[^/@\s'"]+)[@/](\d[^:'"(\s_]*)""", re.M)
YARN_PACKAGE = re.compile(r'^"?((?:@[^/@\s"]+/)?[^@\s"]+)@[^\n]*:\n  version:? "?([^"\s]+)', re.M)
GO_REQUIRED = re.compile(r"^(?:require[ \t])?[ \t]*(\S+) (v\d\S*)(?P<indirect>[ \t]*//[ \t]*indirect)?", re.M)
GO_SUM = re.compile(r"^(\S+) (v\d[^\s/]*) h1:", re.M)
GEM = re.compile(r"^    ([\w.-]+) \(([^)\s-]+)(?:-[^)\n]*)?\)$", re.M)
GEM_DEPENDENCY = re.compile(r"^  ([\w.-]+)", re.M)
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def by_pattern(pattern: re.Pattern[str], text: str) -> Packages:
    """Return the names and versions that a pattern finds."""
    found = {(name, version) for name, version, *_ in pattern.findall(text)}
    return {pair for pair in found if not pair[1].endswith("-use.local")}  # yarn's word for the project itself


def npm_lock(text: str) -> Packages:
    """Return the packages of an npm lock file that the project itself sees; nested ones are left out."""
    row = foreign.json(text)
    packages = row.get("packages") or {}
    flat = {
        path.removeprefix("node_modules/"): found for path, found in packages.items() if path[:13] == "node_modules/"
    }
    listed = flat if packages else row.get("dependencies") or {}
    return {
        (name, found["version"])
        for name, found in listed.items()
        if name and "node_modules/" not in name and isinstance(found.get("version"), str)
    }


LOCKS: Mapping[str, Callable[[str], Packages]] = {
    "uv.lock": partial(by_pattern, TOML_PACKAGE),
    "poetry.lock": partial(by_pattern, TOML_PACKAGE),
    "pylock.toml": partial(by_pattern, TOML_PACKAGE),
    "pylock.*.toml": partial(by_pattern, TOML_PACKAGE),
    "requirements*.txt": partial(by_pattern, REQUIREMENT),
    "package-lock.json": npm_lock,
    "pnpm-lock.yaml": partial(by_pattern, PNPM_PACKAGE),
    "yarn.lock": partial(by_pattern, YARN_PACKAGE),
    "Cargo.lock": partial(by_pattern, CARGO_PACKAGE),
    "go.mod": partial(by_pattern, GO_REQUIRED),
    "go.sum": partial(by_pattern, GO_SUM),
    "Gemfile.lock": partial(by_pattern, GEM),
}


def requirements(found: object) -> Iterator[str]:
    """Yield the names of a list of requirements, or the keys of a table of them."""
    for text in found if isinstance(found, list | dict) else ():
        if isinstance(text, str) and (name := NAME.match(text)):
            yield name[0]


def python_manifest(text: str) -> Iterator[str]:
    """Yield what a ``pyproject.toml`` asks for."""
    row = foreign.toml(text)
    project, poetry = row.get("project", {}), row.get("tool", {}).get("poetry", {})
    yield from requirements(project.get("dependencies"))
    groups = (*project.get("optional-dependencies", {}).values(), *row.get("dependency-groups", {}).values())
    for group in groups:
        yield from requirements(group)
    for table in (poetry, *poetry.get("group", {}).values()):
        yield from requirements(table.get("dependencies"))


def tables(load: Callable[[str], Any], names: Iterable[str], text: str) -> Iterator[str]:
    """Yield the keys of some tables of a manifest; a name in npm may begin with ``@``."""
    row = load(text)
    for name in names:
        yield from row.get(name) or {}


MANIFESTS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "pyproject.toml": python_manifest,
    "requirements*.txt": lambda text: (name for name, _ in by_pattern(REQUIREMENT, text)),
    "package.json": partial(
        tables, foreign.json, ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    ),
    "Cargo.toml": partial(tables, foreign.toml, ("dependencies", "dev-dependencies", "build-dependencies")),
    "go.mod": lambda text: (found[1] for found in GO_REQUIRED.finditer(text) if not found["indirect"]),
    "Gemfile.lock": lambda text: GEM_DEPENDENCY.findall(text.partition("\nDEPENDENCIES\n")[2].partition("\n\n")[0]),
}


def patterns() -> list[str]:
    """Return the names of the files that are read, some with ``*``."""
    return list(dict.fromkeys([*LOCKS, *MANIFESTS]))


def is_lock(file: str) -> bool:
    """Return whether a file of this name is a lock file, which is read by patterns, and not a manifest alone."""
    return any(fnmatchcase(file, name) for name in LOCKS)


def locked(file: str, text: str) -> Packages:
    """
    Return the packages of a lock file with their versions.

    Args:
        file: its name, without folders.

    Raises:
        ValueError, AttributeError, TypeError: it is not what its name says.
    """
    return next((read(text) for name, read in LOCKS.items() if fnmatchcase(file, name)), set())


def direct(file: str, text: str) -> set[str]:
    """
    Return the packages that a manifest asks for itself.

    Args:
        file: its name, without folders.

    Raises:
        ValueError, AttributeError, TypeError: it is not what its name says.
    """
    return next((set(read(text)) for name, read in MANIFESTS.items() if fnmatchcase(file, name)), set())
