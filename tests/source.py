"""The source of the package as Python parses it: each module once in a process, for all tests that read it."""

import ast
from functools import cache
from pathlib import Path

import graphmem
from graphmem.kernel.system.collector import collector_paused

PACKAGE = Path(graphmem.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@cache
def text_of(file: str) -> str:
    """Return the text of a module, whose path in the package is given."""
    return (PACKAGE / file).read_text("utf-8")


@cache
def tree_of(file: str) -> ast.Module:
    """Return a module as Python parses it."""
    with collector_paused():
        return ast.parse(text_of(file))


@cache
def nodes(file: str) -> list[ast.AST]:
    """Return everything in a module."""
    with collector_paused():
        return list(ast.walk(tree_of(file)))
