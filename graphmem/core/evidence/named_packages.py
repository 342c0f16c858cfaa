"""Which packages a memory is about: those in paths of tracebacks, those named as code, those that are installed."""

import re
from collections.abc import Iterator, Mapping

from graphmem.constants import VERSIONS_TAKEN
from graphmem.kernel.versions import Used, by_name, comparable
from graphmem.patterns import lazy_re

# Paths of installed packages: Python and JavaScript without a version, Rust, Go and Ruby with it.
INSTALLED = lazy_re(
    r"(?:site|dist)-packages/(?P<python>\w+)|node_modules/(?P<node>(?:@[\w.-]+/)?[\w.-]+)(?!.*node_modules/)"
    r"|registry/src/[^/\s]+/(?P<crate>[\w-]+?)-(?P<crate_version>\d+\.[\w.+-]*)/"
    r"|pkg/mod/(?P<go>[\w./~!-]+?)@(?P<go_version>v[\w.+-]+)"
    r"|gems/(?P<gem>[\w-]+?)-(?P<gem_version>\d+\.[\w.]*)/"
)
# A name in code: imported, quoted as a module, in a path of modules, with its version, before a class or a call.
CODE = lazy_re(
    r"^[\s>]*(?:from\s+(?P<source>[A-Za-z][\w.]*)\s+import\b|import\s+(?P<imported>[A-Za-z][\w.]*)\s*(?:$|,|as\b))"
    r"|\b(?:require|import)\s*\(\s*[\"'](?P<required>@?[A-Za-z][\w.@/-]*)"
    r"|\b(?:import|from|module(?:\s+named)?|package|gem|crate|library)\s+[\"'`](?P<quoted>@?[A-Za-z][\w.@/-]*)"
    r"|(?<![\w./-])(?P<path>@[\w.-]+/[\w.-]+|[\w-]+(?:\.[\w-]+)+(?:/[\w.~-]+)+)"
    r"|(?<![\w./@-])(?P<versioned>[A-Za-z_][\w-]*)(?:[=~<>]=|@v?)(?P<version>\d+(?:\.\d+)+[\w.+-]*)"
    r"|(?<![\w./@-])(?P<member>[A-Za-z_][\w-]*)(?=(?:\.[a-z_]\w*)*\.(?:[A-Z]\w*|\w+\()|::[A-Za-z_])",
    re.M,
)
NAMED = ("source", "imported", "required", "quoted", "path", "versioned", "member")  # its groups of names
INSTALLER = lazy_re(
    r"\b(?:pip3?|pipx|uv|poetry|pdm|conda|mamba|npm|pnpm|yarn|bun|cargo|go|gem|bundle|composer)\s+(?:pip\s+)?"
    r"(?:install|i|add|get|require|update|upgrade)\s+(?:-\S+\s+)*[\"']?(?P<name>@?[A-Za-z][\w./-]*)"
)
# Packages that are imported by another name than they are installed by.
INSTALLED_AS = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "crypto": "pycryptodome",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "git": "gitpython",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "mysqldb": "mysqlclient",
    "openssl": "pyopenssl",
    "pil": "pillow",
    "serial": "pyserial",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def named_packages(trigger: str, advice: str, known: Mapping[str, Used]) -> dict[str, str | list[str]]:
    """
    Return the packages that a memory is about, with their versions, as a record has them; at most ``VERSIONS_TAKEN``.

    A word that is called like a package names none: ``build the docs first`` is not about the package ``build``.

    Args:
        trigger: what went wrong; the packages that it has as code count, and those in the paths of its tracebacks.
        advice: the other texts; of these only what is installed counts.
        known: what the project uses, by the comparable name of a package.
    """
    found: dict[str, set[tuple[str, str]]] = {}

    def take(spelled: str, version: str | None = None) -> None:
        name = comparable(spelled)
        name = name if name in known else INSTALLED_AS.get(name, name)
        used = known.get(name, Used(spelled, frozenset()))
        versions = {version} if version else used.versions
        if versions and name not in found and len(found) < VERSIONS_TAKEN:
            found[name] = {(used.name, one) for one in versions}

    for path in INSTALLED.finditer(trigger):
        kind = path.lastgroup or ""
        noun = kind.removesuffix("_version")
        take(path[noun], path[kind] if kind != noun else None)
    for code in CODE.finditer(trigger):
        name = next(code[noun] for noun in NAMED if code[noun])
        if code["version"] and comparable(name) in known:
            take(name, code["version"].rstrip(".-"))
        for prefix in _prefixes(name):
            take(prefix)
    for text in (trigger, advice):
        for command in INSTALLER.finditer(text):
            take(command["name"].rstrip("."))
    return by_name(pair for pairs in found.values() for pair in pairs)


def _prefixes(name: str) -> Iterator[str]:
    """
    Yield what a name in code may be a part of, the longest first: a path of modules begins with its package.

    What is before the first slash is not: of ``docs.example.com/page`` it is a host.
    """
    yield name
    for place in range(len(name) - 1, 0, -1):
        if name[place] in "./" and ("/" in name[:place] or "/" not in name):
            yield name[:place]
