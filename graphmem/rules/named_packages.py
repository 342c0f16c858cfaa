"""Which packages a text is about: those in its tracebacks' paths, those it has as code, those it names in words."""

import re
from collections.abc import Collection, Mapping

from graphmem.constants import VERSIONS_TAKEN
from graphmem.versions import Used, by_name, comparable

# Paths of installed packages: Python and JavaScript without a version, Rust, Go and Ruby with it.
INSTALLED = re.compile(
    r"(?:site|dist)-packages/(?P<python>\w+)|node_modules/(?P<node>(?:@[\w.-]+/)?[\w.-]+)(?!.*node_modules/)"
    r"|registry/src/[^/\s]+/(?P<crate>[\w-]+?)-(?P<crate_version>\d+\.[\w.+-]*)/"
    r"|pkg/mod/(?P<go>[\w./~!-]+?)@(?P<go_version>v[\w.+-]+)"
    r"|gems/(?P<gem>[\w-]+?)-(?P<gem_version>\d+\.[\w.]*)/"
)
# A name in code: imported, quoted, before a dot or a version, of several parts.
CODE = re.compile(
    r"(?:\b(?:import|from|require|use|gem|crate|package|module|library)\s+[\"'(]*|[\"'`])(@?[A-Za-z][\w.@/-]*)"
    r"|(?<![\w./-])(@[\w.-]+/[\w.-]+|[\w-]+(?:\.[\w-]+)+(?:/[\w.~-]+)+)"
    r"|(?<![\w./@-])([A-Za-z_][\w-]*)(?=\.[A-Za-z_]|::[A-Za-z_]|[=~<>]=|@v?\d|\s+v?\d+\.\d)"
)
WORD = re.compile(r"(?<![\w./@-])[A-Za-z][\w-]*(?![\w/@-])")
# Packages whose names are everyday words of error texts: these have to appear as code, whoever asks for them.
EVERYDAY = frozenset(
    "assert async attrs base64 black bottle buffer bytes cache chain chalk check click color colors commander config"
    " connect cookie cors crypto debug deep-equal diff environ envs errno error events express-session extend fetch"
    " flow form global glob got helmet http https image inject inquirer jobs json keyring lock log memory merge mime"
    " mock morgan ms nest next node nose once open packaging passport path pipe plan pool process progress promise"
    " prompt proxy queue rand random ready record redirect regex request requests rest retry rich ring rust schedule"
    " schema select serve server session setup shell short sleep socket spawn split stream string style sync tar task"
    " test tests thread through time timeout tower toolz tree type types upgrade url user util utils uuid validator"
    " watch wheel which window workers wrap".split()
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
        name = code[1] or code[2] or code[3]
        for part in (name, name.partition(".")[0], name.partition("/")[0]):
            take(part)
    for word in WORD.findall(text):
        if comparable(word) in direct and comparable(word) not in EVERYDAY:
            take(word)
    return by_name(pair for pairs in found.values() for pair in pairs)
