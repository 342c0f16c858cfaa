"""
What the extractor for Python code finds in Django, beside the code graph of the public sets (``codegraph``).

That set has no calls through ``super()``, so calls are compared with and without them.

usage: python -m tests.bench.python_code --data FOLDER --django FOLDER
"""

import argparse
import ast
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from graphmem.features.extractors.python_code import (
    Function,
    ImportedName,
    LexicalScope,
    PythonCode,
    Thing,
    dotted,
    parsed,
)
from graphmem.kernel.system.source_files import source_files
from tests.public_sets import read

LEFT_OUT = {"tests", "locale", "migrations"}  # folders that the set leaves out
SAME = {"defines": "contains", "imports": "imports", "calls": "calls"}  # our relation types, by their names in the set
MOST_BYTES = 2**20


class WithoutSuper(PythonCode):
    """The same without what is called through ``super()``."""

    def called(
        self, scope: LexicalScope, node: Function, func: ast.expr, local: Mapping[str, ImportedName], shadows: set[str]
    ) -> Thing | None:
        above = func.value if isinstance(func, ast.Attribute) else None
        if isinstance(above, ast.Call) and dotted(above.func) == ["super"]:
            return None
        return super().called(scope, node, func, local, shadows)


def main() -> None:
    """Print how the two compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the public sets")
    parser.add_argument("--django", type=Path, required=True, help="the folder that holds `django`, of 5.2.19")
    given = parser.parse_args()
    begin = time.process_time()
    trees = {
        path: parsed(data)
        for path, data in source_files(given.django, ".py", MOST_BYTES)
        if path.startswith("django/") and not LEFT_OUT & set(path.split("/")) and isinstance(data, bytes)
        if "-tpl" not in path and not path.startswith("django/conf/app_template")
    }
    read_s = time.process_time() - begin
    lines = list(PythonCode(trees).lines())
    print(f"{len(trees)} files, {len(lines):,} lines; read {read_s:.1f} s, {time.process_time() - begin:.1f} s in all")
    known = {kind: set[object]() for kind in ("module", "class", "function", *SAME.values())}
    for row in read(given.data / "codegraph", "memories"):
        known[row["kind"]].add(row["id"])
    for row in read(given.data / "codegraph", "relations"):
        known.setdefault(row["type"], set()).add((row["src"], row["dst"]))
    for kind in ("module", "class", "function"):
        compare(kind, {line["name"] for line in lines if line["type"] == kind}, known[kind])
    for kind, same in SAME.items():
        compare(kind, edges(lines, kind), known[same])
    compare("calls but super()", edges(list(WithoutSuper(trees).lines()), "calls"), known["calls"])


def edges(lines: Collection[dict[str, str]], kind: str) -> set[tuple[str, str]]:
    """Return the edges of a type, by the names of their ends."""
    found = [line for line in lines if line["kind"] == "edge" and line["type"] == kind]
    return {(line["from"].partition("/")[2], line["to"].partition("/")[2]) for line in found}


def compare(what: str, ours: Collection[object], known: Collection[object]) -> None:
    """Print one line: how many each has, and how far they agree."""
    both = len({*ours} & {*known})
    print(f"| {what} | {len(ours):,} | {len(known):,} | {both / len(ours):.4f} | {both / len(known):.4f} |")


if __name__ == "__main__":
    main()
