"""
The page to look at the memory in a browser: a file that holds its data, or one that the service gives it.

The policy of each names its scripts and its style by their hashes, so that nothing else runs in it.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from graphmem.kernel.answer import Answer
from graphmem.names import inert
from graphmem.patterns import lazy_re

FILES = resources.files("graphmem.core.page")
SCRIPTS = {
    "graphology": "vendor/graphology.umd.min.js",
    "sigma": "vendor/sigma.min.js",
    "health": "health.js",
    "dag": "dag.js",
    "tree": "tree.js",
    "paths": "paths.js",
    "script": "page.js",
}
PLACE = lazy_re(r"\{\{(\w+)\}\}")  # of a part in the page
MARK = b"<!doctype html>\n<!-- made by graphmem view -->\n"  # how each page begins
IN_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def page_of(data: Answer) -> str:
    """Return the page with its data, which asks nothing of any address."""
    return _filled(inert(data.model_dump_json(by_alias=True)).translate(IN_HTML), SCRIPTS)[0]


@cache  # the service answers with it for as long as it runs
def served_page() -> tuple[str, str]:
    """Return the page without data, which asks the service that it comes from and no other, and its policy."""
    return _filled("null", {**SCRIPTS, "live": "live.js"}, "connect-src 'self'; ")


def _filled(data: str, scripts: Mapping[str, str], more: str = "") -> tuple[str, str]:
    """Return the page with its parts, and its policy; ``more`` is what that allows too."""
    texts = [(FILES / path).read_text("utf-8") for path in scripts.values()]
    style = (FILES / "page.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_digest, texts))}; style-src {_digest(style)}; img-src data:;"
        f" {more}base-uri 'none'; form-action 'none'"
    )
    tags = "\n".join(f"<script>{text}</script>" for text in texts)
    parts = {"csp": policy, "style": style, "data": data, "scripts": tags}
    return PLACE.sub(lambda found: parts[found[1]], (FILES / "page.html").read_text("utf-8")), policy


def _digest(text: str) -> str:
    """Return the hash of a script or a style as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
