"""Texts as people read them."""

WIDTH = 96  # characters of a text that is on one line


def one_line(text: str | None, width: int = WIDTH) -> str:
    """Return a text on one line, cut at a word where it is too long to read."""
    line = " ".join((text or "").split())
    if len(line) <= width:
        return line
    cut = line[: width - 1]
    at_word = cut if line[width - 1] == " " else cut.rpartition(" ")[0]
    return (at_word if len(at_word) > width // 2 else cut).rstrip() + "…"  # a path may be one long word


def count(number: int, noun: str) -> str:
    """Return how many of something there are: ``1 row``, ``2 rows``, ``2 passes``."""
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('s') else 's'}"
