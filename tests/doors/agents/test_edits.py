"""Lines between markers: what is outside of them stays byte for byte, and what was there comes back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.doors.agents.edits import marked_edit

BEGIN, END = "<!-- begin -->", "<!-- end -->"
BOM = b"\xef\xbb\xbf"
TEXTS = st.lists(st.sampled_from(["\n", "\r\n", "\r", " ", "a", "# é", "---", "\u2028", "<!--"])).map("".join)
FILES = st.builds(lambda mark, text: mark + text.encode(), st.sampled_from([b"", BOM]), TEXTS)
FRONT = "---\npaths:\n---\n"


def put(lines: str | None, before: bytes | None, front: str | None = None) -> bytes | None:
    return marked_edit(lines, BEGIN, END, front=front)(before)


@given(FILES)
@example(b"")
@example(b"no line end")
@example(b"\n")
@example(b"a\r\nb\n")
def test_lines_go_in_twice_and_come_out_to_the_same_bytes(before: bytes) -> None:
    made = put("x\ny", before)
    assert made is not None and made.startswith(before)
    assert put("x\ny", made) == made
    changed = put("z", made)
    assert changed is not None and changed.startswith(before) and b"y" not in changed[len(before) :]
    assert put(None, changed) == put(None, made) == before
    assert put(None, before) == before


@given(FILES, TEXTS)
def test_what_is_written_around_a_block_later_stays(before: bytes, after: str) -> None:
    """Also where a person took out the blank line before it: the line above loses nothing."""
    made = put("x", before if before.endswith(b"\n") else before + b"\n")
    assert made is not None
    around = [made + after.encode(), made.replace(b"\n\n<", b"\n<").replace(b"\r\n\r\n<", b"\r\n<")]
    for text in around:
        changed = put("y", text)
        assert changed is not None and changed.replace(b"y", b"x") == text.replace(b"y", b"x")
    assert put(None, b"a\n" + f"{BEGIN}\nx\n{END}\n".encode() + b"b") == b"a\nb"


@pytest.mark.parametrize("front", [None, "", FRONT])
def test_a_file_that_only_we_made_goes(front: str | None) -> None:
    made = put("x", None, front)
    assert made == f"{front or ''}{BEGIN}\nx\n{END}\n".encode()
    assert put("x", made, front) == made
    assert put(None, made, FRONT if front else front) is None
    assert put(None, None, front) is None


def test_the_front_matter_of_a_file_of_ours_is_replaced_and_a_text_below_it_stays() -> None:
    made = put("x", None, FRONT)
    assert made is not None
    other = put("x", made + b"mine", "---\nglobs: a\n---\n")
    assert other == f"---\nglobs: a\n---\n{BEGIN}\nx\n{END}\nmine".encode()
    assert put(None, other, FRONT) == b"---\nglobs: a\n---\nmine"


@pytest.mark.parametrize("front", ["", FRONT])
def test_a_file_of_others_is_not_made_ours(front: str) -> None:
    with pytest.raises(ValueError, match="was not written by graphmem"):
        put("x", b"---\npaths:\n---\nmine\n", front)
    assert put(None, b"mine\n", front) == b"mine\n"


@pytest.mark.parametrize(
    "lines",
    [
        [BEGIN], [END], [END, "x", BEGIN], [BEGIN, BEGIN, END], [BEGIN, END, BEGIN, END], [BEGIN, "x", END, END],
        [f"- {BEGIN}", "x", END], [BEGIN, "x", f"{END} more"], [f"{BEGIN} {END}"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("given_lines", ["x", None])
def test_a_broken_or_doubled_marker_is_refused(lines: list[str], given_lines: str | None) -> None:
    for line_end in ("\n", "\r\n"):
        with pytest.raises(ValueError, match="are not a pair of lines"):
            put(given_lines, line_end.join(["# a", *lines, ""]).encode())


@pytest.mark.parametrize("text", [b"caf\xe9", "a".encode("utf-16")])
def test_what_is_not_utf_8_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="is not UTF-8 from byte"):
        put("x", text)
