"""Which packages a text is about: those in its tracebacks' paths, those it has as code, those it names in words."""

import re
from collections.abc import Collection, Iterator, Mapping

from graphmem.constants import VERSIONS_TAKEN
from graphmem.versions import Used, by_name, comparable

# Paths of installed packages: Python and JavaScript without a version, Rust, Go and Ruby with it.
INSTALLED = re.compile(
    r"(?:site|dist)-packages/(?P<python>\w+)|node_modules/(?P<node>(?:@[\w.-]+/)?[\w.-]+)(?!.*node_modules/)"
    r"|registry/src/[^/\s]+/(?P<crate>[\w-]+?)-(?P<crate_version>\d+\.[\w.+-]*)/"
    r"|pkg/mod/(?P<go>[\w./~!-]+?)@(?P<go_version>v[\w.+-]+)"
    r"|gems/(?P<gem>[\w-]+?)-(?P<gem_version>\d+\.[\w.]*)/"
)
# A name in code: imported, quoted as a module or in backquotes, in a path of modules, before a member or a version.
FILE_ENDS = (
    "bat|c|cfg|conf|cpp|css|csv|dll|env|exe|go|h|html|ini|ipynb|jar|java|js|json|jsx|lock|log|md|php|png|py|pyc|rb|rs|rst"
    "|sh|so|sock|sql|svg|toml|ts|tsx|txt|xml|yaml|yml|zip"
)
CODE = re.compile(
    r"^[\s>]*(?:import|from)\s+[\"']?(?P<imported>@?[A-Za-z][\w.@/-]*)"
    r"|\b(?:require|import)\s*\(\s*[\"'](?P<required>@?[A-Za-z][\w.@/-]*)"
    r"|\b(?:import|from|module(?:\s+named)?|package|gem|crate|library)\s+[\"'`](?P<quoted>@?[A-Za-z][\w.@/-]*)"
    r"|`(?P<marked>@?[A-Za-z][\w.@/-]*)`"
    r"|(?<![\w./-])(?P<path>@[\w.-]+/[\w.-]+|[\w-]+(?:\.[\w-]+)+(?:/[\w.~-]+)+)"
    r"|(?<![\w./@-])(?P<versioned>[A-Za-z_][\w-]*)(?:(?:[=~<>]=|@v?|\s+v?)(?P<version>\d+(?:\.\d+)+[\w.+-]*))"
    rf"|(?<![\w./@-])(?P<member>[A-Za-z_][\w-]*)(?=\.(?!(?:{FILE_ENDS})\b)[A-Za-z_]|::[A-Za-z_])",
    re.M,
)
NAMED = ("imported", "required", "quoted", "marked", "path", "versioned", "member")  # its groups of names
WORD = re.compile(r"(?<![\w./@-])[A-Za-z][\w-]*(?![\w/@-])")
# Packages whose names are everyday words of error texts: these have to appear as code, whoever asks for them.
EVERYDAY = frozenset(
    "assert async attrs base64 behave black bottle buffer bytes cache chain chalk check click color colors"
    " commander config connect cookie cors coverage crypto debug deep-equal diff docker environ envs errno error"
    " events expect express-session extend fetch flow form future glob global got helmet html http https image"
    " inject inquirer invoke jobs json keyring lock log memory merge methods mime mock morgan ms nest next node nose"
    " npm once open packaging passport path pipe plan pool process progress promise prompt proxy queue rand random"
    " react ready record records redirect regex request requests resolve rest retry rich ring rust schedule schema"
    " select send serve server session setup shell short six sleep socket spawn split stream string style sync table"
    " tables tar target task test tests thread through time timeout toolz tower tree type types upgrade url user"
    " util utils uuid validator watch wheel which window workers wrap".split()
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


def named_packages(text: str, known: Mapping[str, Used], direct: Collection[str]) -> dict[str, str | list[str]]:
    """
    Return the packages that a text is about, with their versions, as a record has them; at most ``VERSIONS_TAKEN``.

    A word such as ``werkzeug`` names a package only where the project itself asks for that; a package of a package has
    to appear as code, or in the path of a traceback, and so has one that is called like an everyday word.

    Args:
        known: what the project uses, by the comparable name of a package.
        direct: comparable names of the packages that the project itself asks for.
    """
    found: dict[str, set[tuple[str, str]]] = {}

    def take(spelled: str, version: str | None = None) -> None:
        name = comparable(spelled)
        name = name if name in known else INSTALLED_AS.get(name, name)
        used = known.get(name, Used(spelled, frozenset()))
        versions = {version} if version else used.versions
        if versions and name not in found and len(found) < VERSIONS_TAKEN:
            found[name] = {(used.name, one) for one in versions}

    for path in INSTALLED.finditer(text):
        kind = path.lastgroup or ""
        noun = kind.removesuffix("_version")
        take(path[noun], path[kind] if kind != noun else None)
    for code in CODE.finditer(text):
        name = next(code[noun] for noun in NAMED if code[noun])
        if code["version"] and comparable(name) in known:
            take(name, code["version"].rstrip(".-"))
        for prefix in prefixes(name):
            take(prefix)
    called = {name.rpartition("/")[2]: name for name in sorted(direct)}  # Go names a package by the end of its path
    for word in map(comparable, WORD.findall(text)):
        if word in called and word not in EVERYDAY:
            take(called[word])
    return by_name(pair for pairs in found.values() for pair in pairs)


def prefixes(name: str) -> Iterator[str]:
    """Yield what a name in code may be a part of, the longest first: a path of modules begins with its package."""
    yield name
    for place in range(len(name) - 1, 0, -1):
        if name[place] in "./":
            yield name[:place]
