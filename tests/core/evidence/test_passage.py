"""What a symbol names in a file: the definition as Python's own parser sees it, and by its form in other languages."""

import ast
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmem
from graphmem.core.evidence.symbols import definition, mask, mentions
from graphmem.kernel.model.cite import Cite, digest
from tests.pace import patience

OWN = sorted(Path(graphmem.__file__).parent.rglob("*.py"))


def defined(text: str) -> dict[str, str]:
    """Return what a Python file defines, by qualified name, as the parser sees it."""
    found: dict[str, list[str]] = {}
    lines = text.split("\n")

    def walk(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, int, int]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(made.lineno for made in node.decorator_list)])
                yield f"{prefix}{node.name}", first - 1, node.end_lineno or node.lineno
                if isinstance(node, ast.ClassDef):
                    yield from walk(node.body, f"{prefix}{node.name}.")

    for name, start, end in walk(ast.parse(text).body, ""):
        found.setdefault(name, []).append(dedent("\n".join(lines[start:end])))
    return {name: "\n".join(parts) for name, parts in found.items()}


@pytest.mark.long
def test_the_definitions_of_this_package_are_those_of_the_parser() -> None:
    for path in OWN:
        text = path.read_text(encoding="utf-8")
        for name, expected in defined(text).items():
            assert (definition(text.encode(), "py", name) or b"").decode() == expected, (path, name)


STATEMENTS = (
    "x = 1", "pass", 'y = "("', "z = f('{')  # )", "# def f(): (", 'w = """\ndef g():\n(\n"""', "v = (\n1,\n)",
    "u = [\n    '''\n]\n''',\n]", "if x:\n    pass\nelse:\n    f()", "f(g, 'def f():')", '"""\nclass C:\n"""', "",
    "t = '\\'('", "s = x \\\n    + 1", "q = x + \\\ny", 'p = \\\n"""\n(\n"""', "r = lambda: f",
)  # fmt: skip
HEADS = ("def {}():", "async def {}(a, b=')'):", "class {}:", "def {}(\n    a,\n) -> int:", "@f\ndef {}():",
         "@f(\n    1,\n)\ndef {}(*, a: str = '#'):")  # fmt: skip


@st.composite
def bodies(draw: st.DrawFn, depth: int = 2) -> str:
    """Return statements and definitions, nested, each name defined anywhere and any number of times."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        if depth and draw(st.booleans()):
            head = draw(st.sampled_from(HEADS)).format(draw(st.sampled_from("fgC")))
            parts.append(f"{head}\n{inside(draw(bodies(depth - 1)))}")
        else:
            parts.append(draw(st.sampled_from(STATEMENTS)))
    return "\n".join([*parts, "end = 0"])


def inside(text: str) -> str:
    """Return statements indented; lines inside of a string or of brackets may stand anywhere, and stay."""
    lines, starts = text.split("\n"), {node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    starts |= {made.lineno for node in ast.walk(ast.parse(text)) for made in getattr(node, "decorator_list", ())}
    heads = ("class ", "def ", "async ", "else:", "#")
    return "\n".join(
        indent(line, "    ") if place in starts or line.startswith((*heads, " ", ")")) else line
        for place, line in enumerate(lines, 1)
    )


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


@given(bodies().filter(is_python))
def test_the_definitions_of_any_python_are_those_of_the_parser(text: str) -> None:
    tops = [getattr(node, "name", "") for node in ast.parse(text).body]
    for name, expected in defined(text).items():
        if tops.count(name.partition(".")[0]) > 1 and "." in name:
            continue  # of a name that is defined twice, not every definition has to have the member
        assert (definition(text.encode(), "py", name) or b"").decode() == expected, name


OTHERS = {
    "ts": """import {login} from "x";
export class Auth extends Base {
  private x = "}";
  async login(user: string): Promise<void> {
    if (login(user)) {
      return;
    } else {
      throw new Error(`a
} b`);
    }
  }

  other() { return this.login({ a: 1 }); }
}
export const go = async (x) => {
  return 1; // }
};
export function f<T>(
  a: T,
): T {
  return a;
}
const y = 2;
""",
    "cpp": """struct foo *bar(struct foo *x);
struct foo {
  int a;
};
static int
login(struct foo *x, int (*cb)(int))
{
#ifdef A
  if (x) {
#else
  {
#endif
    return 1; /* } */
  }
}
void Store::open(int a) const
{
  login(a);
}
class K : public Z {
public:
  int m() { return 1; }
private:
  int n;
};
""",
    "rs": """impl<'a> Foo<'a> for Bar {
    #[inline]
    pub fn open(&'a self) -> Result<()>
    where
        T: X,
    {
        Ok(())
    }
}
pub(crate) struct Bar {
    a: u32,
}
pub fn long(
    a: u32,
) -> u32
where
    T: X,
{
    open(1)
}
fn next() {}
""",
    "go": """func (s *Store) Open(name string) error {
\tif Close() {
\t}
\treturn nil
}
type Store struct {
\ta int
}
var x = 1
""",
    "rb": """class Token < Base
  def login(user)
    puts "end"
  end

  LIMIT = 3
end
""",
}


@pytest.mark.parametrize(
    ("suffix", "symbol", "first", "last"),
    [
        ("ts", "Auth", "export class Auth extends Base {", "}"),
        ("ts", "Auth.login", "  async login(user: string): Promise<void> {", "  }"),
        ("ts", "other", "other() { return this.login({ a: 1 }); }", "other() { return this.login({ a: 1 }); }"),
        ("ts", "go", "export const go = async (x) => {", "};"),
        ("ts", "f", "export function f<T>(", "}"),
        ("ts", "y", "const y = 2;", "const y = 2;"),
        ("cpp", "foo", "struct foo {", "};"),
        ("cpp", "login", "login(struct foo *x, int (*cb)(int))", "}"),
        ("cpp", "Store::open", "void Store::open(int a) const", "}"),
        ("cpp", "K", "class K : public Z {", "};"),
        ("cpp", "K::m", "int m() { return 1; }", "int m() { return 1; }"),
        ("rs", "Bar", "impl<'a> Foo<'a> for Bar {", "}"),
        ("rs", "Bar::open", "#[inline]", "}"),
        ("rs", "long", "pub fn long(", "}"),
        ("rs", "next", "fn next() {}", "fn next() {}"),
        ("go", "Open", "func (s *Store) Open(name string) error {", "}"),
        ("go", "Store", "type Store struct {", "}"),
        ("go", "x", "var x = 1", "var x = 1"),
        ("rb", "Token", "class Token < Base", "end"),
        ("rb", "Token.login", "def login(user)", "end"),
        ("rb", "LIMIT", "LIMIT = 3", "LIMIT = 3"),
    ],
)
def test_a_definition_is_found_by_its_form(suffix: str, symbol: str, first: str, last: str) -> None:
    found = (definition(OTHERS[suffix].encode(), suffix, symbol) or b"").decode().split("\n")
    assert (found[0], found[-1]) == (first, last)


@pytest.mark.parametrize(("suffix", "symbol"), [("ts", "Error"), ("go", "Close"), ("cpp", "cb"), ("rs", "Ok")])
def test_a_use_is_no_definition(suffix: str, symbol: str) -> None:
    assert definition(OTHERS[suffix].encode(), suffix, symbol) is None
    assert mentions(OTHERS[suffix].encode(), symbol) is not None
    assert mentions(OTHERS[suffix].encode(), symbol[:-1]) is None  # only whole words


def test_a_definition_is_the_same_wherever_it_stands_and_whatever_its_line_ends_are() -> None:
    text = b"def f():\n    x = 1\n\n    return x\n"
    moved = b"import os\n\nclass C:\n" + indent(text.decode(), "    ").encode() + b"\n    y = 1\n"
    for other in (text, moved, text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + text, text.rstrip()):
        assert digest(definition(other, "py", "f") or b"") == digest(definition(text, "py", "f") or b"")
    assert definition(text.replace(b"1", b"2"), "py", "f") != definition(text, "py", "f")
    assert digest(b"a\r\nb\r\n") == digest(b"a\nb\n") != digest(b"a\nb")


@given(st.text(alphabet="\"'`#/*\\\n fa(", max_size=200), st.sampled_from(["py", "c", ""]))
def test_masking_keeps_every_line_where_it_is(text: str, suffix: str) -> None:
    masked = mask(text, suffix)
    assert len(masked) == len(text)
    assert [place for place, c in enumerate(masked) if c == "\n"] == [p for p, c in enumerate(text) if c == "\n"]


@given(st.binary(max_size=300), st.sampled_from(["py", "rs", "md"]), st.sampled_from(["f", "f.g", "a::b"]))
def test_any_bytes_have_a_passage_or_none(content: bytes, suffix: str, symbol: str) -> None:
    definition(content + b"\ndef f(", suffix, symbol)
    mentions(content, symbol)


@pytest.mark.parametrize(
    "unit",
    [
        "f(", "/*f", '"""f', "@f\n", ")\nf=(\n", "f x((a)(b)\n",
        *(pytest.param(unit, marks=pytest.mark.long) for unit in ("f\n", "f(\n", '\\"f', "'f", "f = \\\n")),
    ],
)  # fmt: skip
@pytest.mark.long
def test_a_file_that_was_made_to_be_slow_is_not(unit: str) -> None:
    content = (unit * 2**20)[: 2**20].encode()
    for suffix in ("py", "c"):
        start = time.process_time()
        definition(content, suffix, "f.f")
        assert time.process_time() - start < 1.5 * patience(time.process_time)


# --- cites ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cite"),
    [
        ("src/auth.py", Cite("src/auth.py")),
        ("src/auth.py:login", Cite("src/auth.py", "login")),
        ("a.rs:Store::open", Cite("a.rs", "Store::open")),
        ("a.py:C.f@v1.0", Cite("a.py", "C.f", "v1.0")),
        ("a.py@HEAD~2", Cite("a.py", None, "HEAD~2")),
        ("node_modules/@types/x.d.ts:f", Cite("node_modules/@types/x.d.ts", "f")),
        ("a b/c#.cs#0123456789abcdef", Cite("a b/c#.cs", None, None, "0123456789abcdef")),
        ("a.py:f@abc1234#0123456789abcdef", Cite("a.py", "f", "abc1234", "0123456789abcdef")),
        ("img@2x.png@HEAD", Cite("img@2x.png", None, "HEAD")),
    ],
)
def test_a_cite_is_read_and_written(text: str, cite: Cite) -> None:
    assert Cite.parse(text) == cite
    assert str(cite) == text


@pytest.mark.parametrize("text", ["", "/etc/passwd", "../x", "a/../b", "./a", "a//b", "a/", ":f", "a.py:", "a.py:12",
                                  "a.py:f g", "a\x1bb", "a\nb", "C:\\x", "a.py:f(", "."])  # fmt: skip
def test_what_is_no_place_in_a_project_is_no_cite(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Cite.parse(text)
