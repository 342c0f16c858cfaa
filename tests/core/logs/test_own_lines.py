"""An output without what graphmem showed in it of the user's own store."""

import json

import pytest

from graphmem.core.logs.own_lines import OwnLines, own_text

KEPT = [
    "E   ValueError: boom",
    "    at line 3",
    "",
    "failure/boom  [the same error]",
    "    > ValueError: boom",
    "1 failed",
]
QUOKKA = "    > ValueError: quokka"
SHOWN = {
    "a test": ["user:failure/quokka  [the same error]", QUOKKA, "    fix: quokka", "        more"],
    "helped": ["graphmem: recorded as having helped: user:failure/quokka"],
    "a block of context": ["- `user:failure/quokka` (critical; score 0.8)", "  > when: quokka", "  > do: quokka"],
    "an entry in an entry": ["    - user:pattern/quokka: insight", "      > quokka"],
    "a step of a job": ["2026-11-20T10:02:13Z user:failure/quokka  [near]", "2026-11-20T10:02:13Z     fix: quokka"],
    "JSON": ['{"results":[{"store":"user","ref":"failure/quokka"}]}', '{"store": "user", "fix": "quokka"}'],
    "colours": ["\x1b[1m\x1b[36muser:failure/quokka\x1b[0m  [the same]", "\x1b[2m    fix: quokka\x1b[0m"],
    "JSON in JSON": [r'{"text":"{\"results\": [{\"store\": \"user\", \"fix\": \"quokka\"}]}"}'],
    "a value of Python": ["[{'ref': 'failure/quokka', 'store': 'user', 'fix': 'quokka'}]"],
    "a quotation": ["> user:failure/quokka", ">     fix: quokka"],
    "a type of one's own": ["* \"user:room_2/quokka\"", "\tquokka"],
}  # fmt: skip


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("place", range(len(KEPT) + 1))
def test_what_is_of_the_user_is_left_out_wherever_it_is(shown: list[str], place: int) -> None:
    follows = KEPT[place : place + 1]
    if follows and follows[0].startswith("  "):  # it would belong to the block
        return
    lines = [*KEPT[:place], *shown, *KEPT[place:]]
    assert own_text("\n".join(lines)).splitlines() == KEPT
    kept = [*KEPT[:place], *[""] * len(shown), *KEPT[place:]]
    for size in (1, 2, len(lines)):  # however it comes in pieces
        own = OwnLines()
        pieces = (lines[start : start + size] for start in range(0, len(lines), size))
        found = [text.decode() for piece in pieces for text in own.of([line.encode() for line in piece])]
        assert found == kept


def test_the_number_of_a_line_may_have_a_digit_more_than_the_one_before() -> None:
    assert own_text("9:user:failure/quokka\n10-    fix: quokka\n11-boom\n") == "11-boom\n"


ANSWER = {
    "results": [
        {"ref": "failure/quokka", "store": "user", "record": {"fix": "quokka\nquokka"}, "fixes": [{"text": "quokka"}]},
        {"ref": "failure/boom", "store": "project", "record": {"fix": "boom"}},
    ]
}
YAML = """\
results:
  - ref: failure/quokka
    record:
      fix: quokka
    store: user
  - ref: failure/boom
"""


@pytest.mark.parametrize(
    "text",
    [
        YAML,
        *(json.dumps(ANSWER, indent=how, sort_keys=is_sorted) for how in (1, 4, "\t") for is_sorted in (True, False)),
    ],
)
def test_an_answer_with_a_line_for_each_field_is_left_out_as_a_whole(text: str) -> None:
    found = own_text(f"before\n{text}\nafter")
    assert found.replace("ref: failure/quokka", "").count("quokka") == 0
    assert found.startswith("before\n")
    assert "failure/boom" in found
    assert found.endswith("after")


@pytest.mark.parametrize(
    "text",
    [
        "store: user",
        "the store of a user",
        "postgres://user:pass@db/x",
        "chown: invalid user: root/x",
        "superuser:failure/x",
        "user:x",
        "the user: a/b",
        "a\r\nb",
    ],
)
def test_any_other_text_is_kept(text: str) -> None:
    assert own_text(text) == text


ASKING = (
    "graphmem get 'user:failure/x'",
    'graphmem get "user:failure/x"',
    "graphmem get failure/y,user:failure/x",
    "graphmem list '--user'",
    "graphmem \\\n  --user list",
    "flag=--user; graphmem list $flag",
    "for one in user:failure/x; do graphmem get $one; done",
    "cd ~/.local/share/graphmem && graphmem list",
    "cat ~/.local/share/graphmem/.graphmem/data/failure.ndjson",
)


def test_nothing_is_kept_of_a_command_that_asks_the_store_of_the_user() -> None:
    for command in (
        "graphmem --user list",
        "cd x && graphmem get user:failure/x; make",
        "graphmem query x --user",
        *ASKING,
    ):
        assert own_text("boom", command) == ""
    for command in ("graphmem list", "make --user", "graphmem query 'the user'"):
        assert own_text("boom", command) == "boom"
