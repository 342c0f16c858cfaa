"""The telling lines of a log: its errors first, then what it says least often; nothing else changes."""

from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.constants import LOG_LINES, TELLING_CHARS
from graphmem.core.logs.log_excerpt import telling

NOISE = [f"INFO task {number} of the pool is done, the next one begins" for number in range(300)]


@given(st.text(max_size=200), st.integers(0, LOG_LINES - 1))
def test_a_text_that_is_no_log_stays_as_it_is(line: str, times: int) -> None:
    text = "\n".join([line.replace("\n", "")] * times)
    assert telling(text) == text


def test_the_errors_of_a_log_come_first_wherever_they_stand() -> None:
    for place in (0, 150, 300):
        error = "error: the next task of the pool is done"  # in the words of the log
        odd = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}" * 20 for number in range(100)]
        lines = telling("\n".join([*NOISE[:place], error, *NOISE[place:], *odd])).splitlines()
        assert lines[0] == error
        assert set(lines[1:]) < set(odd)


def test_then_come_the_lines_with_the_rarest_words_in_their_order() -> None:
    odd = ["the printer ran out of blue ink", "somebody unplugged the coffee machine"]
    found = telling("\n".join([*NOISE[:100], odd[0], *NOISE[100:200], odd[1], *NOISE[200:]])).splitlines()
    assert [line for line in found if line not in NOISE] == odd
    assert found == sorted(found, key=[*NOISE[:100], odd[0], *NOISE[100:200], odd[1], *NOISE[200:]].index)


@example(["\x85", "Error: " + "x" * 2 * TELLING_CHARS])
@given(st.lists(st.text(max_size=30) | st.just("Error: " + "x" * 2 * TELLING_CHARS), max_size=20))
def test_no_more_is_kept_than_an_embedding_holds(lines: list[str]) -> None:
    text = "\n".join([*NOISE, *lines])
    found = telling(text)
    assert found
    assert len(found) <= TELLING_CHARS
    assert set(found.split("\n")) <= {line[:TELLING_CHARS] for line in text.split("\n")}
