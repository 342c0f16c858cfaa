"""Markdown for a comment: nothing that a memory or a log holds is markup in it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Memory
from graphmem.constants import COMMENT_CHARS
from graphmem.doors.cli.app import run
from graphmem.kernel.markdown import code
from tests.core.history.test_operations import HOSTILE, without_code
from tests.sample import open_memory
from tests.secret_samples import KINDS, Maker

OURS = r"|\*\*Memory:\*\* (no|\d+) known failures? in the log|Errors that the memory [a-z ]+:|(  )?- |- and \d+ more"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    return open_memory(tmp_path)


def matched(capsys: pytest.CaptureFixture[str], log: str, form: str = "markdown") -> str:
    Path("log").write_text(log, encoding="utf-8")
    assert run(["match", "log", "--format", form]) == 0
    return capsys.readouterr().out


@given(st.text(st.sampled_from("`@a \n<\\>[]()#\x1b\u202e-"), max_size=30))
def test_whatever_a_text_holds_all_of_it_is_code(text: str) -> None:
    assert without_code(f"- {code(text)} ") == "-  "


def test_a_log_is_told_in_markdown_with_fix_and_track_record(store: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    with store as memory:
        memory.failures.add("KeyError: no price for a cart", name="no-price", fix="Load the price list first")
        memory.feedback("no-price", helped=True)
    log = "KeyError: no price for a cart\nValueError: the list is empty\n"
    assert matched(capsys, log) == (
        "**Memory:** 1 known failure in the log\n"
        "\n"
        "- `failure/no-price line 1 [the same line] helped 1 of 1`\n"
        "  - `> KeyError: no price for a cart`\n"
        "  - `fix: Load the price list first`\n"
        "\n"
        "Errors that the memory does not know:\n"
        "\n"
        "- `ValueError: the list is empty`\n"
    )
    assert matched(capsys, "all is well\n") == "**Memory:** no known failure in the log\n"


def test_the_same_rule_for_other_names_is_listed_apart_and_not_counted(
    store: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    with store as memory:
        memory.failures.add("ModuleNotFoundError: No module named 'yaml'", name="module", fix="pip install pyyaml")
    assert matched(capsys, "ModuleNotFoundError: No module named 'zod'\n").startswith(
        "**Memory:** no known failure in the log\n"
        "\n"
        "Like a known failure, and not the same:\n"
        "\n"
        "- `failure/module line 1 [the same message with other names"
    )


def test_no_line_of_a_log_stands_in_two_lists(store: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    yaml, zod = (f"ModuleNotFoundError: No module named '{name}'" for name in ("yaml", "zod"))
    with store as memory:
        memory.failures.add(yaml, name="module", fix="pip install pyyaml")
    printed = matched(capsys, f"{zod}\nValueError: the list is empty\n")
    known, alike, unknown = printed.partition("Like a known")[0], *printed.split(":\n\n")[1:]
    assert known == "**Memory:** no known failure in the log\n\n"
    assert zod in alike and zod not in unknown
    assert "the list is empty" in unknown and "the list is empty" not in alike
    assert printed.count("No module named 'zod'") == 1
    answer = json.loads(matched(capsys, f"{zod}\nValueError: the list is empty\n", "json"))
    assert (answer["unknown"], answer["unlike"]) == (
        [zod, "ValueError: the list is empty"], ["ValueError: the list is empty"],
    )  # fmt: skip


def test_a_line_that_is_known_is_not_listed_as_like_another(store: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    yaml, zod = (f"ModuleNotFoundError: No module named '{name}'" for name in ("yaml", "zod"))
    with store as memory:
        memory.failures.add(yaml, name="yaml", fix="pip install pyyaml")
        memory.failures.add("the build of zod", name="zod", fix="pip install zod", match="No module named 'zod'")
    printed = matched(capsys, f"{zod}\n")
    assert printed.startswith("**Memory:** 1 known failure in the log\n\n- `failure/zod line 1")
    assert "Like a known failure" not in printed and "failure/yaml" not in printed


def test_text_and_json_are_as_without_and_two_forms_at_once_are_refused(
    store: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    with store as memory:
        memory.failures.add("boom 7", name="boom")
    assert matched(capsys, "boom 7\n", "text") == "failure/boom  line 1  [the same line]\n    > boom 7\n"
    assert matched(capsys, "boom 7\n", "json").startswith('{"results":[{"ref":"failure/boom"')
    assert run(["match", "log", "--format", "markdown", "--json"]) == 2
    assert "two forms" in capsys.readouterr().err


def test_nothing_of_a_log_or_a_record_is_markup(store: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = [*HOSTILE, "@everyone see #1 and https://evil.example", "``` \n</details><script>", "/close"]
    with store as memory:
        for number, text in enumerate(hostile):
            memory.failures.add(f"boom {number} {text}", name=f"f{number}", fix=f"{text}.", match=f"boom {number}\\b")
    log = "".join(f"boom {number} {text}\nValueError: {text} {number}\n" for number, text in enumerate(hostile))
    printed = matched(capsys, log)
    assert printed.startswith(f"**Memory:** {len(hostile)} known failures")
    for line in printed.splitlines():
        assert re.fullmatch(OURS, without_code(line)), line


def test_a_comment_has_a_bounded_length(store: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    with store as memory:
        for number in range(120):
            memory.failures.add(f"boom {number}", name=f"f{number}", fix="x " * 200, dedup=False)
    printed = matched(capsys, "".join(f"boom {number}\n" for number in range(120)))
    assert len(printed) < COMMENT_CHARS + 200
    assert re.search(r"\n- and \d+ more$", printed.rstrip())


def test_a_credential_in_a_log_is_not_in_the_comment(store: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    with store as memory:
        memory.failures.add("login failed", name="login", match="login failed")
    for kind in ("github classic", "gitlab", "anthropic"):
        _, secret = KINDS[kind](Maker(1))
        printed = matched(capsys, f"login failed with {secret}\nValueError: bad {secret}\n")
        assert secret not in printed and "login failed with" in printed
        assert secret[:12] not in printed
