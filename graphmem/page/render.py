"""The page to look at the memory in a browser: put together from its parts, as a file that holds its data."""

import base64
import hashlib
import re
from importlib import resources

from graphmem.contract.view import PageData
from graphmem.names import inert

FILES = resources.files("graphmem") / "page"
SCRIPTS = {
    "graphology": "vendor/graphology.umd.min.js",
    "sigma": "vendor/sigma.min.js",
    "health": "health.js",
    "dag": "dag.js",
    "tree": "tree.js",
    "script": "page.js",
}
PLACE = re.compile(r"\{\{(\w+)\}\}")  # of a part in the page
MARK = b"<!doctype html>\n<!-- made by graphmem view -->\n"  # how each page begins
IN_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def page_of(data: PageData) -> str:
    """Return the page with its data; only the scripts and the style that are in it may run."""
    parts = {name: (FILES / path).read_text("utf-8") for name, path in SCRIPTS.items()}
    style = (FILES / "page.css").read_text("utf-8")
    scripts = " ".join(map(digest, parts.values()))
    parts["csp"] = (
        f"default-src 'none'; script-src {scripts}; style-src {digest(style)}; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )
    parts["style"] = style
    parts["data"] = inert(data.model_dump_json(by_alias=True)).translate(IN_HTML)
    return PLACE.sub(lambda found: parts[found[1]], (FILES / "page.html").read_text("utf-8"))


def digest(text: str) -> str:
    """Return the hash of a script or a style as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
