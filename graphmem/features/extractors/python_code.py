"""
The modules, classes and functions of Python code, and what they define, import and call, as far as the text tells.

Nothing is imported or run. A call is found through names alone: imported ones, those of the module, ``self``, ``cls``
and ``super()`` along the bases. What is called through a value is not found. Source: docs/guides/extractors.md.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphmem.kernel.model.field import ITEM_CHARACTERS
from graphmem.names import printable

Line = dict[str, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef
MOST_STEPS = 100  # from an imported name to what it is, and from a class to its bases
SIGNATURE_CHARACTERS = 500  # of the parameters of a function that are kept
SENTENCE_CHARACTERS = 500  # of the first line of a docstring
PACKAGE = "__init__.py"
SOURCES = "src"  # a folder whose name is in no name of a module


class Thing(NamedTuple):
    """A module, a class or a function, by its dotted name."""

    kind: str
    name: str

    @property
    def ref(self) -> str:
        return f"{self.kind}/{self.name}"


class ImportedName(NamedTuple):
    """What a name is bound to by an import: a module, or a name in one."""

    module: str
    name: str | None = None


@dataclass
class LexicalScope:
    """A module or a class: what its names are bound to, where it is, and what it inherits from."""

    thing: Thing
    module: str
    node: ast.Module | ast.ClassDef
    bindings: dict[str, Thing | ImportedName] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)  # modules of which every name is imported
    functions: list[tuple[Thing, Function]] = field(default_factory=list)


def parsed(data: bytes) -> ast.Module:
    """
    Return a file of Python code as a tree.

    Raises:
        ValueError: it cannot be read as Python code.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python has to say of the code
            return ast.parse(data)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno or 1}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(str(error) or "it is nested too deep") from None


def _joined(*parts: str) -> str:
    """Return a dotted name; parts that are empty are left out."""
    return ".".join(filter(None, parts))


def module_names(paths: Sequence[str]) -> dict[str, str]:
    """
    Return the dotted name of each file, as an import has it; where two have one, the second has that of its whole path.

    Args:
        paths: below the project, with ``/``.
    """
    known, names, taken = frozenset(paths), dict[str, str](), set[str]()
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        *folders, file = path.split("/")
        start = len(folders)
        while start and "/".join((*folders[:start], PACKAGE)) in known:
            start -= 1
        if start == len(folders):  # in no package: by its path
            start = int(folders[:1] == [SOURCES])
        own = [] if file == PACKAGE else [file.removesuffix(".py")]
        short, long = ".".join((*folders[start:], *own)), ".".join((*folders, *own))
        names[path] = long if not short or short in taken else short
        taken.add(names[path])
    return {path: name for path, name in names.items() if name}


class PythonCode:
    """
    The code of a project, each name with what it is bound to.

    Args:
        trees: by path below the project; they are looked at in this order.
    """

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self.scopes: dict[Thing, LexicalScope] = {}
        self.values: dict[Thing, str] = {}
        self.parents: dict[Thing, Thing] = {}
        names = module_names(list(trees))
        self.paths = {name: path for path, name in names.items()}
        self.packages = {
            ".".join(name.split(".")[:end]) for name in self.paths for end in range(1, name.count(".") + 2)
        }
        for path, name in names.items():
            self.add_module(path, name, trees[path])

    # --- what is defined ----------------------------------------------------------------------------------------

    def add_module(self, path: str, name: str, tree: ast.Module) -> None:
        """Take in a module with all that it defines and imports."""
        scope = LexicalScope(Thing("module", name), name, tree)
        self.scopes[scope.thing] = scope
        self.values[scope.thing] = described(path, "", tree)
        pending = [scope]
        while pending:
            inner = pending.pop()
            for node in _statements(inner.node.body):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self.bind(inner, node)
                elif isinstance(node, ast.ClassDef | Function) and inner.bindings.get(node.name) not in self.values:
                    thing = self.define(inner, path, node)
                    if isinstance(node, ast.ClassDef):
                        self.scopes[thing] = LexicalScope(thing, name, node)
                        pending.append(self.scopes[thing])
                if isinstance(node, Function):  # also one that is defined again, such as the setter of a property
                    inner.functions.append((Thing("function", f"{inner.thing.name}.{node.name}"), node))

    def define(self, scope: LexicalScope, path: str, node: ast.ClassDef | Function) -> Thing:
        """Take in a class or a function of a scope."""
        is_class = isinstance(node, ast.ClassDef)
        thing = Thing("class" if is_class else "function", f"{scope.thing.name}.{node.name}")
        scope.bindings[node.name] = thing
        self.values[thing] = described(path, _heading(node), node)
        self.parents[thing] = scope.thing
        return thing

    def bind(self, scope: LexicalScope, node: ast.Import | ast.ImportFrom) -> None:
        """Take in an import: which names it binds in a scope."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                named = ImportedName(self.absolute(scope.module, alias.name if alias.asname else top))
                scope.bindings[alias.asname or top] = named
            return
        module = self.source_of(scope.module, node)
        for alias in node.names:
            if alias.name == "*":
                scope.stars.append(module)
            else:
                scope.bindings[alias.asname or alias.name] = ImportedName(module, alias.name)

    def source_of(self, module: str, node: ast.ImportFrom) -> str:
        """Return the module that ``from … import`` names; empty where it leads out of the project."""
        if not node.level:
            return self.absolute(module, node.module or "")
        is_package = self.paths[module].endswith(PACKAGE)
        parts = module.split(".")
        kept = len(parts) - node.level + is_package
        above = parts[: max(kept, 0)]  # none left: the project's folder is itself a package
        return _joined(*above, node.module or "") if kept >= 0 else ""

    def absolute(self, module: str, name: str) -> str:
        """Return the whole name of a module: a script that is in no package imports its neighbour by the last part."""
        folder = module.rpartition(".")[0]
        is_script = folder not in self.paths and name not in self.packages
        return f"{folder}.{name}" if is_script and f"{folder}.{name}" in self.packages else name

    # --- what a name is -----------------------------------------------------------------------------------------

    def bound(self, scope: LexicalScope, name: str, seen: set[tuple[Thing, str]]) -> Thing | None:
        """Return what a name of a module or a class is; of a class also what it inherits."""
        pending = [scope]
        while pending and len(seen) < MOST_STEPS:
            inner = pending.pop()
            if (inner.thing, name) in seen:
                continue
            seen.add((inner.thing, name))
            found = inner.bindings.get(name)
            if isinstance(found, Thing):
                return found
            if isinstance(found, ImportedName):
                return self.imported(found, seen)
            modules = [Thing("module", star) for star in inner.stars]
            above = self.bases(inner) if isinstance(inner.node, ast.ClassDef) else modules
            pending += [self.scopes[thing] for thing in reversed(above) if thing in self.scopes]
        submodule = f"{scope.thing.name}.{name}"
        is_module = scope.thing.kind == "module" and submodule in self.packages
        return Thing("module", submodule) if is_module else None

    def imported(self, found: ImportedName, seen: set[tuple[Thing, str]]) -> Thing | None:
        """Return what an import binds; None where it is not of this project."""
        module = Thing("module", found.module)
        if found.name is None:
            return module if found.module in self.packages else None
        if module in self.scopes:
            return self.bound(self.scopes[module], found.name, seen)
        submodule = _joined(found.module, found.name)
        return Thing("module", submodule) if submodule in self.packages else None

    def bases(self, scope: LexicalScope) -> list[Thing]:
        """Return the classes of this project that a class inherits from directly."""
        assert isinstance(scope.node, ast.ClassDef)
        module = self.scopes[Thing("module", scope.module)]
        found = (self.named(module, dotted(base)) for base in scope.node.bases)
        return [thing for thing in found if thing is not None and thing.kind == "class" and thing != scope.thing]

    def named(
        self, scope: LexicalScope, parts: Sequence[str], local: Mapping[str, ImportedName] | None = None
    ) -> Thing | None:
        """Return what a dotted name in a scope is; ``local`` are imports of the function that it is used in."""
        if not parts:
            return None
        first = (local or {}).get(parts[0])
        found = self.imported(first, set()) if first else self.bound(scope, parts[0], set())
        for part in parts[1:]:
            if found is None:
                return None
            submodule = Thing("module", f"{found.name}.{part}")
            inner = self.scopes.get(found)
            if inner is not None:
                found = self.bound(inner, part, set())
            else:
                found = submodule if found.kind == "module" and submodule.name in self.packages else None
        return found

    # --- the edges ----------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[Line]:
        """Yield entities, then edges, each once."""
        self.values = {
            thing: value
            for thing, value in self.values.items()
            if printable(thing.name) and len(thing.name) <= ITEM_CHARACTERS
        }
        for thing, value in self.values.items():
            yield {"kind": "entity", "type": thing.kind, "name": thing.name, "value": value}
        found = {("defines", source, thing) for thing, source in self.parents.items()}
        found |= set(self.imports()) | set(self.calls())
        for kind, source, target in sorted(found):
            if source != target and source in self.values and target in self.values:
                yield {"kind": "edge", "from": source.ref, "type": kind, "to": target.ref}

    def imports(self) -> Iterator[tuple[str, Thing, Thing]]:
        """Yield which module imports which, also within functions."""
        for thing in [thing for thing in self.scopes if thing.kind == "module"]:
            for node in ast.walk(self.scopes[thing].node):
                if isinstance(node, ast.Import):
                    for alias in node.names:
                        yield "imports", thing, Thing("module", self.absolute(thing.name, alias.name))
                elif isinstance(node, ast.ImportFrom):
                    module = self.source_of(thing.name, node)
                    for alias in node.names:
                        submodule = Thing("module", _joined(module, alias.name))
                        yield "imports", thing, submodule if submodule in self.values else Thing("module", module)

    def calls(self) -> Iterator[tuple[str, Thing, Thing]]:
        """Yield which function calls which function, or makes an object of which class."""
        for scope in self.scopes.values():
            for thing, node in scope.functions:
                local, shadows = self.locals_of(scope, node)
                for called in (one for one in _inside(node.body) if isinstance(one, ast.Call)):
                    found = self.called(scope, node, called.func, local, shadows)
                    if found is not None and found.kind != "module":
                        yield "calls", thing, found

    def locals_of(self, scope: LexicalScope, node: Function) -> tuple[dict[str, ImportedName], set[str]]:
        """Return what a function imports for itself, and the other names that are its own."""
        inner = LexicalScope(Thing("function", ""), scope.module, ast.Module([], []))
        shadows = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        for one in _inside(node.body):
            if isinstance(one, ast.Import | ast.ImportFrom):
                self.bind(inner, one)
            elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                shadows.add(one.id)
            elif isinstance(one, ast.ClassDef | Function):
                shadows.add(one.name)
            elif isinstance(one, ast.arg):
                shadows.add(one.arg)
        return {name: one for name, one in inner.bindings.items() if isinstance(one, ImportedName)}, shadows

    def called(
        self, scope: LexicalScope, node: Function, func: ast.expr, local: Mapping[str, ImportedName], shadows: set[str]
    ) -> Thing | None:
        """Return what an expression in a function calls, if its names tell."""
        is_method = isinstance(scope.node, ast.ClassDef) and "staticmethod" not in _decorators(node)
        if is_method and isinstance(func, ast.Attribute):
            first = [*node.args.posonlyargs, *node.args.args][:1]
            if first and isinstance(func.value, ast.Name) and func.value.id == first[0].arg:
                return self.bound(scope, func.attr, set())
            if isinstance(func.value, ast.Call) and dotted(func.value.func) == ["super"]:
                above = (self.scopes[base] for base in self.bases(scope))
                return next(filter(None, (self.bound(base, func.attr, set()) for base in above)), None)
        parts = dotted(func)
        if not parts or (parts[0] in shadows and parts[0] not in local):
            return None
        return self.named(self.scopes[Thing("module", scope.module)], parts, local)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a scope, also those under a condition, in their order."""
    pending = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.ClassDef | Function):
            inner = [one for name in ("body", "handlers", "orelse", "finalbody") for one in getattr(node, name, ())]
            pending += reversed(inner)


def _inside(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield everything in the body of a function, but what is in a class that it defines."""
    pending = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.ClassDef):
            pending += ast.iter_child_nodes(node)


def dotted(node: ast.expr) -> list[str]:
    """Return the parts of a dotted name; nothing for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def _decorators(node: Function) -> set[str]:
    """Return the names of the decorators of a function."""
    return {".".join(dotted(one)) for one in node.decorator_list}


def _heading(node: ast.ClassDef | Function) -> str:
    """Return how a class or a function is begun, without its decorators."""
    try:
        if isinstance(node, ast.ClassDef):
            inner = ", ".join(map(ast.unparse, node.bases))
            return f"class {node.name}({inner[:SIGNATURE_CHARACTERS]})" if inner else f"class {node.name}"
        word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        return f"{word} {node.name}({ast.unparse(node.args)[:SIGNATURE_CHARACTERS]})"
    except RecursionError:
        return node.name


def described(path: str, begun: str, node: ast.Module | ast.ClassDef | Function) -> str:
    """Return what an entity says: where it is, how it is begun, and the first line of its docstring."""
    says = (ast.get_docstring(node) or "").partition("\n")[0]
    text = "\n".join(filter(None, (path, begun, says[:SENTENCE_CHARACTERS])))
    return text.encode("utf-8", "replace").decode()  # an escape may make half a character
