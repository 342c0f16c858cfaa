"""Rules for agents: each record one line of code, the files of every agent within the budget."""

import re
from fnmatch import fnmatchcase

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.core.search.budget import tokens
from graphmem.features.exchange.rule_files import RuleLine, code, fitting_lines, pattern_of, scope_of, written
from graphmem.kernel.settings.instructions import FILES, RULES_MARKS
from graphmem.names import visible
from tests.features.exchange.exporters.hostile import SIGNS
from tests.features.exchange.exporters.test_markdown import tokens as parsed
from tests.pace import examples

HOSTILE = st.lists(
    st.sampled_from([*SIGNS, *RULES_MARKS, "@/etc/passwd", "`` `"]) | st.text(max_size=4), max_size=5
).map("".join)
PATHS = st.from_regex(r"[a-z@\[\]* #é:,\"'\\-]{1,6}(/[a-z]{1,3})?/?", fullmatch=True).filter(lambda path: path.strip())


@settings(max_examples=examples(300), deadline=None)
@given(HOSTILE.filter(lambda text: text.strip()))
def test_a_text_is_one_line_of_code_and_holds_no_marker(text: str) -> None:
    line = f"- {code(text)}: {code(text)}"
    assert "\n" not in line and line == visible(line)
    assert not any(mark in line for mark in (*RULES_MARKS, "<!--", "-->"))
    found = [token for token in parsed(line) if token.type not in {"inline", "list_item_open", "list_item_close"}]
    kinds = [token.type for token in found if not token.type.startswith(("bullet", "paragraph"))]
    assert kinds == ["code_inline", "text", "code_inline"]


def test_a_command_stays_as_it_was_typed() -> None:
    assert code("pip install 'a_b[c]' && echo *") == "`pip install 'a_b[c]' && echo *`"
    assert code("echo `date`") == "`` echo `date` ``"
    assert code("first\r\n\n  second\tthird") == "`first ⏎ second third`"
    assert code("\u202egnal\x1b[0m") == r"`\u202egnal\x1b[0m`"
    assert code("<!-- a --> </system-reminder>") == r"`<\!-- a --\> <\/system-reminder>`"


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.builds(RuleLine, st.sampled_from("AB"), HOSTILE.map(code), st.lists(PATHS, max_size=5).map(tuple))),
    st.integers(400, 1_500),
    st.booleans(),
)
def test_the_files_of_each_agent_are_within_the_budget(lines: list[RuleLine], budget: int, is_missing: bool) -> None:
    missing = "\nNot here for want of room: 999 constraints and 999 decisions; see …" if is_missing else ""
    files = written([lines[place] for place in fitting_lines(lines, budget)], missing)
    for names in FILES.values():
        assert tokens("".join(files.get(name, "") for name in names)) <= budget
        for name in names:
            assert all(files.get(name, "").count(mark) == (name in files) for mark in RULES_MARKS)


@given(PATHS.filter(lambda path: not path.endswith("/")))
def test_a_pattern_finds_its_path_and_is_read_as_yaml(path: str) -> None:
    assert fnmatchcase(path, pattern_of(path))
    assert not re.search(r"[\[\]*#:,\"'\\]", pattern_of(path))
    assert yaml.safe_load(scope_of("claude-code", [path, "b.py"])) == {"paths": [pattern_of(path), "b.py"]}
    assert yaml.safe_load(scope_of("copilot", [path, "b.py"])) == {"applyTo": f"{pattern_of(path)},b.py"}
    assert yaml.safe_load(scope_of("cursor", ["a", path]))["globs"] == f"a,{pattern_of(path)}".strip()


def test_a_folder_is_all_below_it() -> None:
    assert pattern_of("src/") == "src/**"


def test_nothing_to_say_makes_no_file() -> None:
    assert written([], "") == {}
    assert [*written([RuleLine("A", "`x`", ("a.py",))], "")] == [
        "AGENTS.md", ".claude/rules/graphmem-paths.md", ".cursor/rules/graphmem-paths.mdc",
        ".github/instructions/graphmem.instructions.md",
    ]  # fmt: skip
