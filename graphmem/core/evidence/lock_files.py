"""
Packages in lock files: what a project uses, in which versions. Files are parsed, nothing is run.

Lock files are read by patterns of their lines, which programs write: a TOML parser takes twenty times as long.
"""

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import partial

from graphmem.kernel.system import foreign
from graphmem.patterns import lazy_re

Packages = set[tuple[str, str]]  # name and version

OWN = r"(?!\nsource = \{ (?:editable|virtual|directory|workspace) )"  # a package that the project itself is
TOML_PACKAGE = lazy_re(rf'^\[\[packages?\]\]\nname = "([^"\n]+)"\nversion = "([^"\n]+)"{OWN}', re.M)
CARGO_PACKAGE = lazy_re(r'^\[\[package\]\]\nname = "([^"\n]+)"\nversion = "([^"\n]+)"\nsource = ', re.M)
REQUIREMENT = lazy_re(r"^[ \t]*([A-Za-z0-9][\w.-]*)(?:[ \t]*\[[^\]\n]*\])?[ \t]*===?[ \t]*([^\s;#,\\]+)", re.M)
PNPM_PACKAGE = lazy_re(r"""^  ['"]?/?((?:@[^/@\s'"]+/)?[^/@\s'"]+)[@/](\d[^:'"(\s_]*)""", re.M)
YARN_PACKAGE = lazy_re(r'^"?((?:@[^/@\s"]+/)?[^@\s"]+)@[^\n]*:\n  version:? "?([^"\s]+)', re.M)
GO_REQUIRED = lazy_re(r"^(?:require[ \t])?[ \t]*(\S+) (v\d\S*)", re.M)
GO_SUM = lazy_re(r"^(\S+) (v\d[^\s/]*) h1:", re.M)
GEM = lazy_re(r"^    ([\w.-]+) \(([^)\s-]+)(?:-[^)\n]*)?\)$", re.M)


def _by_pattern(pattern: re.Pattern[str], text: str) -> Packages:
    """Return the names and versions that a pattern finds."""
    found = {(name, version) for name, version, *_ in pattern.findall(text)}
    return {pair for pair in found if not pair[1].endswith("-use.local")}  # yarn's word for the project itself


def _npm_lock(text: str) -> Packages:
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
    "uv.lock": partial(_by_pattern, TOML_PACKAGE),
    "poetry.lock": partial(_by_pattern, TOML_PACKAGE),
    "pylock.toml": partial(_by_pattern, TOML_PACKAGE),
    "pylock.*.toml": partial(_by_pattern, TOML_PACKAGE),
    "requirements*.txt": partial(_by_pattern, REQUIREMENT),
    "package-lock.json": _npm_lock,
    "pnpm-lock.yaml": partial(_by_pattern, PNPM_PACKAGE),
    "yarn.lock": partial(_by_pattern, YARN_PACKAGE),
    "Cargo.lock": partial(_by_pattern, CARGO_PACKAGE),
    "go.mod": partial(_by_pattern, GO_REQUIRED),
    "go.sum": partial(_by_pattern, GO_SUM),
    "Gemfile.lock": partial(_by_pattern, GEM),
}


def locked(file: str, text: str) -> Packages:
    """
    Return the packages of a lock file with their versions.

    Args:
        file: its name, without folders.

    Raises:
        ValueError, AttributeError, TypeError: it is not what its name says.
    """
    return next((read(text) for name, read in LOCKS.items() if fnmatchcase(file, name)), set())
