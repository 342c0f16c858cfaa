"""What Python code defines, imports and calls, as far as its text tells; nothing of it runs."""

from textwrap import dedent

import pytest

from graphmem.features.extractors.python_code import MOST_STEPS, Line, PythonCode, module_names, parsed


def code(files: dict[str, str]) -> list[Line]:
    return list(PythonCode({path: parsed(dedent(text).encode()) for path, text in files.items()}).lines())


def edges(files: dict[str, str], kind: str) -> set[tuple[str, str]]:
    """Return the edges of a type, by the names of their ends."""
    return {
        (line["from"].split("/")[1], line["to"].split("/")[1])
        for line in code(files)
        if line["kind"] == "edge" and line["type"] == kind
    }


def calls(text: str, **others: str) -> set[tuple[str, str]]:
    """Return what the module ``m`` calls, without its name before each."""
    files = {"m.py": text} | {f"{name}.py": other for name, other in others.items()}
    return {(source.removeprefix("m."), target.removeprefix("m.")) for source, target in edges(files, "calls")}


def test_modules_classes_and_functions_have_their_place_their_head_and_their_first_sentence() -> None:
    text = '''
        """A shop.

        More of it.
        """
        class Cart(Base, metaclass=M):
            """What is bought."""
            class Line: ...
            async def pay(self, *, by: str = "card") -> int:
                """Pay it."""
        if True:
            def helper(a, b=1): ...
        else:
            def helper(): ...
        try:
            import fast
        except ImportError:
            def slow(): ...
    '''
    found = code({"shop/__init__.py": "", "shop/cart.py": text})
    assert {(line["type"], line["name"]): line["value"] for line in found if line["kind"] == "entity"} == {
        ("module", "shop"): "shop/__init__.py",
        ("module", "shop.cart"): "shop/cart.py\nA shop.",
        ("class", "shop.cart.Cart"): "shop/cart.py\nclass Cart(Base)\nWhat is bought.",
        ("class", "shop.cart.Cart.Line"): "shop/cart.py\nclass Line",
        ("function", "shop.cart.Cart.pay"): "shop/cart.py\nasync def pay(self, *, by: str='card')\nPay it.",
        ("function", "shop.cart.helper"): "shop/cart.py\ndef helper(a, b=1)",
        ("function", "shop.cart.slow"): "shop/cart.py\ndef slow()",
    }
    assert edges({"shop/__init__.py": "", "shop/cart.py": text}, "defines") == {
        ("shop.cart", "shop.cart.Cart"),
        ("shop.cart", "shop.cart.helper"),
        ("shop.cart", "shop.cart.slow"),
        ("shop.cart.Cart", "shop.cart.Cart.Line"),
        ("shop.cart.Cart", "shop.cart.Cart.pay"),
    }


def test_what_is_defined_in_a_function_is_its_own() -> None:
    names = [line["name"] for line in code({"m.py": "def f():\n def g(): ...\n class C: ..."}) if "name" in line]
    assert names == ["m", "m.f"]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/__init__.py", "a/b/__init__.py", "a/b/c.py"], ["a", "a.b", "a.b.c"]),
        (["src/a/__init__.py", "src/a/b.py", "src/c.py"], ["a", "a.b", "c"]),
        (["tools/run.py", "setup.py"], ["tools.run", "setup"]),
        (["a/__init__.py", "vendor/a/__init__.py", "vendor/a/x.py"], ["a", "vendor.a", "a.x"]),
        (["__init__.py", "x.py"], ["x"]),
    ],
)
def test_a_module_has_the_name_by_which_it_is_imported(paths: list[str], names: list[str]) -> None:
    found = module_names(paths)
    assert [found[path] for path in paths if path in found] == names


def test_imports_lead_to_modules_of_the_project_also_within_functions() -> None:
    files = {
        "pkg/__init__.py": "from . import a\nfrom .b import thing\nimport os, pkg.c as c",
        "pkg/a.py": "def f():\n from .sub import deep\n from .. import nothing\n import json",
        "pkg/b.py": "from pkg import *\nfrom ..outside import x\nfrom pkg.a import f",
        "pkg/c.py": "",
        "pkg/json.py": "",
        "pkg/sub/__init__.py": "from .deep import x\nfrom ..b import y",
        "pkg/sub/deep.py": "",
        "tools/one.py": "import two\nimport pkg.sub.deep",
        "tools/two.py": "import pkg.missing",
    }
    assert edges(files, "imports") == {
        ("pkg", "pkg.a"), ("pkg", "pkg.b"), ("pkg", "pkg.c"),
        ("pkg.a", "pkg.sub.deep"), ("pkg.b", "pkg"), ("pkg.b", "pkg.a"),
        ("pkg.sub", "pkg.sub.deep"), ("pkg.sub", "pkg.b"),
        ("tools.one", "tools.two"), ("tools.one", "pkg.sub.deep"),
    }  # fmt: skip


def test_a_folder_that_is_itself_a_package_has_relative_imports() -> None:
    files = {
        "__init__.py": "",
        "a.py": "from .b import x\nfrom . import c\nfrom ..d import y\ndef f():\n x()\n c.z()",
        "b.py": "def x(): ...",
        "c.py": "def z(): ...",
        "d.py": "",
    }
    assert edges(files, "imports") == {("a", "b"), ("a", "c")}
    assert edges(files, "calls") == {("a.f", "b.x"), ("a.f", "c.z")}


CALLS = {
    "a name of the module": ("def f(): g()\ndef g(): ...", {("f", "g")}),
    "an object of a class": ("def f(): C()\nclass C: ...", {("f", "C")}),
    "a method of a class": ("def f(): C.make()\nclass C:\n def make(cls): ...", {("f", "C.make")}),
    "its own methods": ("class C:\n def a(this): this.b()\n def b(self): ...", {("C.a", "C.b")}),
    "those of its class": ("class C:\n @classmethod\n def a(cls): cls.b()\n def b(self): ...", {("C.a", "C.b")}),
    "none by a static method": ("class C:\n @staticmethod\n def a(x): x.b()\n def b(self): ...", set()),
    "none without a parameter": ("class C:\n def a(): self.b()\n def b(self): ...", set()),
    "those of a base": ("class B:\n def b(self): ...\nclass C(B):\n def a(self): self.b()", {("C.a", "B.b")}),
    "those of a base of a base": (
        "class A:\n def x(self): ...\nclass B(A): ...\nclass C(unknown.Z, B):\n def a(self): self.x()",
        {("C.a", "A.x")},
    ),
    "the first of two bases": (
        "class A:\n def x(self): ...\nclass B:\n def x(self): ...\nclass C(A, B):\n def a(self): self.x()",
        {("C.a", "A.x")},
    ),
    "what super has": ("class B:\n def a(self): ...\nclass C(B):\n def a(self): super().a()", {("C.a", "B.a")}),
    "nothing of super": ("class B: ...\nclass C(B):\n def a(self): super().a()", set()),
    "nothing of another call": ("class C:\n def a(self): other().a()\n def b(self): ...", set()),
    "a base that goes in a circle": ("class A(B): ...\nclass B(A):\n def a(self): self.x()", set()),
    "a base that is made by a call": ("class A(make()):\n def a(self): self.x()", set()),
    "itself as a base": ("class A(A):\n def a(self): self.x()", set()),
    "no parameter of the same name": ("def f(g): g()\ndef g(): ...", set()),
    "no variable of the same name": ("def f():\n g = 1\n g()\ndef g(): ...", set()),
    "no inner function of the same name": ("def f():\n def g(): ...\n g()\ndef g(): ...", set()),
    "no parameter of an inner one": ("def f(): return lambda g: g()\ndef g(): ...", set()),
    "what an inner function calls": ("def f():\n def i(): g()\ndef g(): ...", {("f", "g")}),
    "not what an inner class calls": ("def f():\n class I:\n  x = g()\ndef g(): ...", set()),
    "through a value": ("def f(x): x.g(); (lambda: 1)(); a[0]()\ndef g(): ...", set()),
    "an attribute of no module": ("def f(): g.h.i()\ndef g(): ...", set()),
    "each once": ("def f(): g(); g()\ndef g(): ...", {("f", "g")}),
    "not itself": ("def f(): f()", set()),
    "no module": ("import n\ndef f(): n()", set()),
    "imported": ("from n import g as h\ndef f(): h()", {("f", "n.g")}),
    "of an imported module": ("import n as k\ndef f(): k.g(); k.missing(); k.g.x()", {("f", "n.g")}),
    "imported by the function": ("def f():\n from n import g\n g()", {("f", "n.g")}),
    "all of a module": ("from n import *\ndef f(): g()", {("f", "n.g")}),
    "handed on": ("from p import g\ndef f(): g()", {("f", "n.g")}),
    "not of this project": ("from os import path\nimport sys\ndef f(): path(); sys.exit(); os.x()", set()),
    "a definition before an import": ("from n import g\ndef g(): ...\ndef f(): g()", {("f", "g")}),
    "a property that is set": (
        "class C:\n @property\n def x(self): ...\n @x.setter\n def x(self, v): self.y()\n def y(self): ...",
        {("C.x", "C.y")},
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_a_call_is_found_through_names(case: str) -> None:
    text, found = CALLS[case]
    assert calls(text, n="def g(): ...", p="from n import g") == found


def test_calls_lead_through_packages() -> None:
    files = {
        "pkg/__init__.py": "from .api import get",
        "pkg/api.py": "def get(): ...",
        "use.py": "import pkg\nimport pkg.api\nfrom pkg import api\nimport names.inner\n"
        "def one(): pkg.get()\ndef two(): pkg.api.get()\ndef three(): api.get()\n"
        "def four(): names.inner.f()\ndef five(): names.nothing.f()\ndef six(): pkg.api()",
        "names/inner.py": "def f(): ...",
        "more.py": "from names import inner, other\ndef seven(): inner.f(); other()",
    }
    assert edges(files, "calls") == {
        ("use.one", "pkg.api.get"), ("use.two", "pkg.api.get"), ("use.three", "pkg.api.get"),
        ("use.four", "names.inner.f"), ("more.seven", "names.inner.f"),
    }  # fmt: skip


def test_a_long_chain_of_imports_is_not_followed_for_ever() -> None:
    files = {f"m{number}.py": f"from m{number + 1} import f" for number in range(MOST_STEPS + 5)}
    files["m0.py"] += "\ndef g(): f()"
    files[f"m{MOST_STEPS + 5}.py"] = "def f(): ..."
    assert edges(files, "calls") == set()
    assert edges({"a.py": "from b import f\ndef g(): f()", "b.py": "from a import f"}, "calls") == set()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"def f(:\n", "line 1: invalid syntax"),
        (b"x = '\xff'\n", "line 1: (unicode error)"),
        (b"a\0b", "source code string cannot contain null bytes"),
        (b"(" * 1_000, "line 1: too many nested parentheses"),
        (b"-" * 100_000 + b"1", ""),
        (b"x" + b".a" * 100_000, ""),
    ],
)
def test_what_is_no_code_says_why(data: bytes, reason: str) -> None:
    try:
        tree = parsed(data)
    except ValueError as error:
        assert reason in str(error)
    else:
        assert next(iter(PythonCode({"m.py": tree}).lines()))["name"] == "m"


def test_code_in_another_encoding_is_read_and_a_warning_of_it_is_not_shown() -> None:
    assert code({"m.py": ""})
    tree = parsed("# coding: latin-1\ndef größe(): '\\d'\n".encode("latin-1"))
    assert [line["name"] for line in PythonCode({"m.py": tree}).lines() if "name" in line] == ["m", "m.größe"]


def test_a_name_that_no_entity_can_have_is_left_out_with_its_edges() -> None:
    long = "f" * 300
    assert [line.get("name") for line in code({"m.py": f"def {long}(): ...\ndef g(): {long}()"})] == ["m", "m.g", None]


def test_half_a_character_in_a_docstring_does_no_harm() -> None:
    assert code({"m.py": 'def f(): "\\ud800 x"'})[1]["value"] == "m.py\ndef f()\n? x"


def test_parameters_that_are_nested_too_deep_to_be_shown_are_left_out() -> None:
    assert code({"m.py": f"def f(a=x{'.a' * 500}): ..."})[1]["value"] == "m.py\nf"
