"""
Diagnostics: what linters, type checkers and compilers report of a line of code (docs/concepts/harvest.md).

A diagnostic is found again by its tool, its rule, and its message without the names of the code that it is about: with
another name in it, a rule of a linter is still the same rule.
"""

import re
from typing import NamedTuple

LINE = 600  # characters of a line that are read
PLACE = re.compile(
    r"^(?:\S*\[\d+\]:? |\[[\w:.-]{1,40}\] )?(?:vet: |ERROR: |error: |[ew]: (?:file://)?)?"  # what runners put before
    r"(?P<file>(?:[A-Za-z]:[\\/])?[\w.@+~\\/-]{1,200}\.[A-Za-z]{1,8})"
    r"(?::(?P<line>\d{1,7})(?::(?P<column>\d{1,5}))?|:\[(?P<place>\d{1,7},\d{1,5})\]"
    r"|\((?P<row>\d{1,7})(?:,\d{1,5})?\))\s?(?::|-)?\s+(?P<rest>\S.*)$"
)
STYLISH = re.compile(
    r"^\s+\d{1,7}:\d{1,5}\s+(?:error|warning|✖|⚠)\s+(?P<message>\S.*?)\s{2,}"
    r"(?:(?P<rule>[@\w/.-]+)|\((?P<yaml>[a-z-]+)\))$"
)  # ESLint, yamllint
LONE = re.compile(  # the place is in another line
    r"^\s*\^-+\^? (?P<shell>SC\d{4}) \(\w+\): (?P<said>\S.*)$"  # ShellCheck
    r"|^\S*Dockerfile\S*:\d{1,7} (?P<docker>(?:DL|SC)\d{4}) \w+: (?P<text>\S.*)$"  # Hadolint
    r"|^\s+= (?:note: `-[DW] clippy::|help: for further \S+ visit \S+/rust-clippy/\S+#)(?P<clippy>[\w-]{3,60})\b"
)
HEADED = re.compile(  # Rust and newer linters: the place is in the next line
    r"^(?:error|warning)\[(?P<code>[A-Z]\d{3,5})\]: (?P<message>\S.*)$|^(?P<rule>[A-Z]{1,4}\d{3,4}) (?:\[\*\]"
    r" )?(?P<said>\S.*)$"
)
SEVERITY = re.compile(
    r"^\[?(?:error|warning|fatal error|info|note|style|convention)\]?(?:\s*:\s*|\s+(?=[A-Z]{1,5}\d{2,6}\b))",
    re.IGNORECASE,
)
CODE = re.compile(
    r"^(?P<code>[A-Z]{1,5}\d{2,6})\b(?: \((?:error|warning|info|style)\))?:? (?:\[\*\] )?(?P<message>\S.*)$"
)
OF_TOOL = re.compile(  # a tool that begins with its rule
    r"^[CWEFR]: (?:\[Correct(?:ed|able)\] )?(?P<rubocop>[A-Z]\w+(?:/\w+)+): (?P<a>\S.*)$"
    r"|^\([a-z]\w+\) (?P<checkstyle>[A-Z]\w+): (?P<b>\S.*)$"
    r"|^(?P<biome>(?:lint|assist)/\w+/\w+)(?: [A-Z]+)?(?: ━+)?$|^(?P<clippy>clippy::\w+)$"
)
NAMED_RULE = re.compile(r"^(?P<rule>[a-z][a-z\d]*(?:[-A-Z][A-Za-z\d]+)+): (?P<message>\S.*)$")
IN_BRACKETS = re.compile(r"\s+\[(?P<rule>(?:[-@\w]+/)*-?[A-Za-z][\w=+-]*)(?:\s*,[^\]]*)?\]$")
BRACKETED = {  # whose rules look so
    "cc": re.compile(r"-W.*"),
    "clang-tidy": re.compile(
        r"(?:bugprone|cert|clang-analyzer|concurrency|cppcoreguidelines|google|hicpp|llvm|misc|modernize|performance"
        r"|portability|readability)-.+"
    ),
    "mypy": re.compile(r"[a-z-]+"),
}
IN_PARENTHESES = re.compile(r"\s+\((?P<rule>[a-z][\w-]{2,40})\)$")
TOOLS = {  # by the end of a file's name: whose messages without a rule they are
    "go": "go", "rs": "rustc", "c": "cc", "h": "cc", "cc": "cc", "cpp": "cc", "hpp": "cc", "cxx": "cc", "m": "cc",
    "java": "javac", "kt": "kotlinc", "scala": "scalac", "swift": "swiftc", "ts": "tsc", "tsx": "tsc", "cs": "csc",
    "py": "python", "pyi": "python", "hs": "ghc", "zig": "zig", "vue": "tsc", "sh": "shellcheck",
}  # fmt: skip
NEVER = re.compile(r"^(?:in |at |note: |line |FAILED|PASSED|ok\b|INFO\b|DEBUG\b|WARN(?:ING)?\b)")
TEST_FILE = re.compile(r"(?:^|[\\/])(?:test_[^\\/]*|[^\\/]*(?:_test|[._]spec|\.test))\.\w+$")
COMPILERS = (frozenset(TOOLS.values()) | {"mypy", "pyright"}) - {"shellcheck"}
OF_CODE = {"TS": "tsc", "CS": "csc", "SC": "shellcheck", "DL": "hadolint", "MD": "markdownlint", "AL": "ansible"}

QUOTED = re.compile(r"`[^`]{0,200}`|'[^']{0,200}'|\"[^\"]{0,200}\"|‘[^’]{0,200}’|“[^”]{0,200}”")
SIGNATURE = re.compile(r"\bsig: .*$")
PARENTHESIS = re.compile(r"\([^()]{0,300}\)")
CODE_WORD = re.compile(r"[a-z\d][A-Z]|\d|[\w)\]}][./\\:_$#@<>{}\[\]*&|-]+[\w*]|[_$#@<>{}\[\]*&\\/]|^[A-Z]{2,}$")
COMMON = re.compile(r"[a-z]+(?:-[a-z]+)+|e\.g|i\.e|and/or")  # words of prose with a sign in them
EDGES = ",;:.!?()'"
SYMBOL = re.compile(r"^\s+symbol:\s+(\S.*)$")  # of javac: what it cannot find is in a line of its own
WITHOUT_SYMBOL = "cannot find symbol"
LAST_NAME = re.compile(r"(?<=: )[\w$]+$")  # "undefined: time"
GAPS = re.compile(r"_(?: _)+")


class Diagnostic(NamedTuple):
    """
    What a tool says of one place in the code.

    Attributes:
        tool: the name of the linter, type checker or compiler, as far as the line says so.
        rule: its rule or code; empty where it names none.
        message: what it says.
        file: where, as the tool writes it; empty where another line says so.
        text: the line without the place, as the trigger of a failure.
    """

    tool: str
    rule: str
    message: str
    file: str
    text: str

    @property
    def is_rule(self) -> bool:
        """Return whether it is a rule of a linter: a rule is kept or broken, whatever the names in the code are."""
        return bool(self.rule) and self.tool not in COMPILERS

    @property
    def key(self) -> str:
        """What two diagnostics share that ask for the same change."""
        return f"{self.tool} {self.rule}: {nameless(self.message)}".casefold()


def nameless(message: str) -> str:
    """Return a message without the names and numbers of the code that it is about."""
    text = PARENTHESIS.sub("", SIGNATURE.sub("", message[:LINE]))
    text = LAST_NAME.sub("_", QUOTED.sub("_", text).rstrip())
    words = (word.strip(EDGES) for word in text.split())
    kept = ("_" if CODE_WORD.search(word) and not COMMON.fullmatch(word) else word for word in words if word)
    return GAPS.sub("_", " ".join(kept))


def diagnostic_of(line: str) -> Diagnostic | None:
    """Return what a line of an output reports of a place in the code; None for any other line."""
    line = line[:LINE].rstrip()
    if found := STYLISH.match(line):
        tool, rule, shown = ("eslint", found["rule"], found["rule"])
        if found["yaml"]:
            tool, rule, shown = ("yamllint", found["yaml"], f"({found['yaml']})")
        return Diagnostic(tool, rule, found["message"], "", f"{found['message']}  {shown}")
    if found := LONE.match(line):
        return lone(found)
    if found := HEADED.match(line):
        rule = found["code"] or found["rule"]
        return Diagnostic("rustc" if found["code"] else "", rule, found["message"] or found["said"], "", line)
    place = PLACE.match(line)
    if place is None or NEVER.match(place["rest"]):
        return None
    file, rest = place["file"], place["rest"]
    is_marked = SEVERITY.match(rest) is not None
    tool, rule, message = parts_of(SEVERITY.sub("", rest, count=1))
    if not rule:
        if TEST_FILE.search(file) and not place["column"]:
            return None  # where an assertion failed
        if not (is_marked or place["column"] or place["place"]):
            return None
    end = file.rpartition(".")[2].lower()
    if tool == "typecheck":  # what golangci-lint calls the compiler
        tool, rule = "", ""
    return Diagnostic(tool or ("" if rule else TOOLS.get(end, end)), rule, message, file, rest.rstrip(" ━"))


def lone(found: re.Match[str]) -> Diagnostic:
    """Return a diagnostic whose line names no place."""
    if found["clippy"]:
        rule = f"clippy::{found['clippy'].replace('-', '_')}"
        return Diagnostic("clippy", rule, "", "", rule)
    tool, rule = ("shellcheck", found["shell"]) if found["shell"] else ("hadolint", found["docker"])
    said = found["said"] or found["text"]
    return Diagnostic(tool, rule, said, "", f"{rule}: {said}")


def rule_in(trigger: str) -> Diagnostic | None:
    """Return the rule of a linter that the trigger of a failure names, with or without a place; None if none."""
    line = trigger.strip()[:LINE]
    found = diagnostic_of(line) or diagnostic_of(f"  0:0  error  {line}")
    if found is None:
        found = Diagnostic(*parts_of(SEVERITY.sub("", line, count=1)), "", line)
    return found if found.is_rule else None


def parts_of(rest: str) -> tuple[str, str, str]:
    """Return the tool, the rule and the message in what follows a place; tool and rule are empty where not named."""
    tool, rule = "", ""
    if found := OF_TOOL.match(rest):
        tool = next(name for name in ("rubocop", "checkstyle", "biome", "clippy") if found[name])
        return tool, found[tool], found["a"] or found["b"] or ""
    if found := IN_BRACKETS.search(rest):  # mypy, gcc, ESLint in another format
        rule, rest = found["rule"].removeprefix("Error/").removeprefix("Warning/"), rest[: found.start()]
        tool = next((name for name, form in BRACKETED.items() if form.fullmatch(rule)), "")
    elif found := IN_PARENTHESES.search(rest):  # golangci-lint names the linter, Pyright and Pylint their rule
        tool, rest = found["rule"], rest[: found.start()]
        if tool.startswith("report"):
            tool, rule = "pyright", tool
        elif "-" in tool:
            tool, rule = "pylint", tool
    if found := CODE.match(rest):
        code, rest = found["code"], found["message"]
        tool = tool or OF_CODE.get(re.sub(r"\d+", "", code), "")
        rule = rule or code
    elif tool and not rule and (found := NAMED_RULE.match(rest)):
        rule, rest = found["rule"], found["message"]
    elif tool and not rule and tool not in COMPILERS:
        rule = tool
    return tool, rule, rest
