"""Messages, help and docstrings use plain words: what the program tells its users is the product."""

import ast
import re
from collections.abc import Iterator

from tests.source import MODULES, nodes

# What a newcomer has to read twice, and what to write instead: docs/contributing.md, "Words".
AVOIDED = re.compile(
    r"(?<!there )\b(is no|are no|be no|was no) (?!longer|more\b)[a-z]"
    r"|\b(anew|nobody|somebody|whoever|whom|aright|mends?|mended|thereby|stands?|stood)\b"
    r"|\b(is|are|was|were) (said|told|none)\b|\btells? of\b|\bhas to be\b",
    re.IGNORECASE,
)


def texts(file: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of every literal of a module that is not a docstring."""
    docstrings = {
        id(node.body[0].value)
        for node in nodes(file)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and not is_command(file, node)
    }
    for node in nodes(file):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def first_lines(file: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the first line of every docstring of a module, without the code that it quotes."""
    for node in nodes(file):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            yield getattr(node, "lineno", 1), re.sub(r"``[^`]*``", "", docstring.partition("\n")[0])


def is_command(file: str, node: ast.AST) -> bool:
    """Return whether the docstring of a node is the help of a command."""
    return (
        file.startswith("doors/cli/")
        and isinstance(node, ast.FunctionDef)
        and ([arg.arg for arg in node.args.args[:1]] == ["ctx"] or any(map(passes, node.decorator_list)))
    )


def passes(decorator: ast.expr) -> bool:
    """Return whether a decorator makes a command of a function."""
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "passes"


def test_messages_and_help_use_plain_words() -> None:
    """The English stop words are a list of words, not prose."""
    found = [
        f"{file}:{line}: {text!r}"
        for file in MODULES
        for line, text in texts(file)
        if AVOIDED.search(text) and not text.startswith("a about above")
    ]
    assert found == []


def test_the_first_lines_of_docstrings_use_plain_words() -> None:
    found = [f"{file}:{line}: {text!r}" for file in MODULES for line, text in first_lines(file) if AVOIDED.search(text)]
    assert found == []
