r"""
Globs over relative paths, and whether two sets of them can match one path.

``*`` is any characters but ``/``, ``?`` one, ``[abc]``, ``[a-z]`` and ``[!a]`` one of a class; ``**`` as a part is any
number of parts, at the end at least one; ``{a,b}`` is written out first; ``\`` takes its meaning from what follows.

A set of globs is one automaton. Its states are as many as its characters, it moves by classes of characters as
intervals over all of Unicode, and it has no empty moves. ``meeting`` walks through pairs of states of two of them.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

GLOB_CHARACTERS = 300
MOST_ALTERNATIVES = 64  # of a glob whose braces are written out
MOST_STATES = 5_000  # of a set of globs, with the alternatives written out
MOST_PAIRS = 50_000  # of states, of two sets of globs that are compared; about half a second
TOO_MANY = "the globs are too many or too long to be compared; write fewer * and {}"
LAST = 0x10FFFF
NAMED, NO_PATH = 3, -1  # what is known of the part of a path; see ``_part_after``

Characters = tuple[tuple[int, int], ...]  # intervals of code points, in order and apart
Token = str | Characters  # ``*`` and ``/`` are themselves, as are the braces and commas before they are written out
Symbols = Iterator[tuple[str, bool]]

SLASH: Characters = ((47, 47),)
DOT: Characters = ((46, 46),)
NAME: Characters = ((1, 46), (48, LAST))
NEITHER: Characters = ((1, 45), (48, LAST))
EVERY: Characters = ((1, LAST),)
FIRST_SHOWN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


def as_globs(globs: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs, or raise ``ValueError`` with what would be right."""
    if sum(_automaton(glob)[1] for glob in globs) > MOST_STATES:
        raise ValueError(TOO_MANY)
    return globs


def matches(globs: Sequence[str], path: str) -> bool:
    """
    Return whether one of the globs matches a relative path; upper and lower case differ.

    Raises:
        ValueError: a text cannot be read as a glob.
    """
    states = frozenset(_starts(tuple(globs)))
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        return False
    for letter in path:
        states = _after(states, letter)
    return any(state.is_end for state in states)


def meeting(first: Sequence[str], second: Sequence[str]) -> str | None:
    """
    Return a shortest path that both sets of globs match; None where they have no path in common.

    Raises:
        ValueError: a text cannot be read as a glob, or comparing the two sets would take too long.
    """
    ones, others = _starts(tuple(first)), _starts(tuple(second))
    if len(ones) * len(others) > MOST_PAIRS:
        raise ValueError(TOO_MANY)
    queue = [(left, right, 0, "") for left in ones for right in others]
    seen = {pair[:3] for pair in queue}
    for left, right, part, path in queue:  # it grows
        if left.is_end and right.is_end and part == NAMED:
            return path
        if len(queue) > MOST_PAIRS:
            raise ValueError(TOO_MANY)
        for by_left, left_after in left.moves:
            for by_right, right_after in right.moves:
                for letter in _letters(by_left, by_right):
                    after = left_after, right_after, _part_after(part, letter)
                    if after[2] != NO_PATH and after not in seen:
                        seen.add(after)
                        queue.append((*after, path + letter))
    return None


def _part_after(part: int, letter: str) -> int:
    """
    Return what is known of a part of a path after one more character; ``NO_PATH`` where no path goes on so.

    It is 0 for an empty part, 1 for ``.``, 2 for ``..``, and ``NAMED`` for a name.
    """
    if letter == "/":
        return 0 if part == NAMED else NO_PATH
    return min(part + 1, NAMED) if letter == "." else NAMED


class _State:
    """A state of an automaton: by which characters it becomes which one, and whether what was read is matched."""

    __slots__ = ("is_end", "moves")

    def __init__(self) -> None:
        self.moves: list[tuple[Characters, _State]] = []
        self.is_end = False


@lru_cache(maxsize=256)
def _starts(globs: tuple[str, ...]) -> tuple[_State, ...]:
    """Return the states of a set of globs before a path."""
    return tuple(start for glob in globs for start in _automaton(glob)[0])


@lru_cache(maxsize=10_000)
def _after(states: frozenset[_State], letter: str) -> frozenset[_State]:
    """Return the states after one more character of a path."""
    code = ord(letter)
    return frozenset(
        after
        for state in states
        for characters, after in state.moves
        if any(low <= code <= high for low, high in characters)
    )


@lru_cache(maxsize=1024)
def _automaton(glob: str) -> tuple[list[_State], int]:
    """Return the states of a glob before a path, one for each of its alternatives, and how many it has in all."""
    starts, size = [], 0
    for parts in _written_out(glob):
        state = _State()
        starts.append(state)
        for number, part in enumerate(parts, 1):
            size += len(part) + 1
            if part == ("*", "*"):
                inside = _State()
                state.moves.append((NAME, inside))
                if number == len(parts):
                    inside.moves.append((EVERY, inside))
                    state = inside
                else:
                    inside.moves += [(NAME, inside), (SLASH, state)]
                continue
            for token in part if number == len(parts) else (*part, SLASH):
                following = state if isinstance(token, str) else _State()
                state.moves.append((NAME if isinstance(token, str) else token, following))
                state = following
        state.is_end = True
    return starts, size


# --- the text of a glob --------------------------------------------------------------------------------------------


def _written_out(glob: str) -> Iterator[list[tuple[Token, ...]]]:
    """Yield the parts of a glob, once for each of its alternatives."""
    if len(glob) > GLOB_CHARACTERS:
        raise ValueError(f"the glob {glob[:40]!r}… has {len(glob):,} characters; at most {GLOB_CHARACTERS} are read")
    for tokens in _alternatives(glob):
        parts: list[tuple[Token, ...]] = [()]
        for token in tokens:
            if token == "/":
                parts.append(())
            else:
                parts[-1] += (token,)
        for part in parts:
            if not part:
                raise _bad(glob, "an empty part", "a path from the project's root, with one / between two parts")
            if part in ((DOT,), (DOT, DOT)):
                raise _bad(glob, "a part . or ..", "a path from the project's root")
            if ("*", "*") in pairwise(part) and len(part) > len("**"):
                raise _bad(glob, "** beside other characters", "** as a part of its own, or one *")
        yield parts


def _alternatives(glob: str) -> list[tuple[Token, ...]]:
    """Return a glob without its braces, as often as they offer something else."""
    open_braces: list[tuple[list[tuple[Token, ...]], list[tuple[Token, ...]]]] = []  # what is before and in each
    now: list[tuple[Token, ...]] = [()]
    for token in _tokens(glob):
        if token == "{":
            open_braces.append((now, []))
            now = [()]
        elif token in (",", "}") and open_braces:
            before, inside = open_braces[-1]
            inside += now
            now = [()]
            if token == "}":
                if len(before) * len(inside) > MOST_ALTERNATIVES:
                    raise _bad(glob, f"more than {MOST_ALTERNATIVES} alternatives", "several globs instead")
                now = [(*one, *other) for one in before for other in inside]
                open_braces.pop()
        else:
            now = [(*one, _only(token) if token in (",", "}") else token) for one in now]
    if open_braces:
        raise _bad(glob, "a { without a }", r"{a,b}, or \{ for the character")
    return now


def _tokens(glob: str) -> Iterator[Token]:
    """Yield what a glob consists of."""
    symbols = _symbols(glob)
    for letter, is_escaped in symbols:
        if letter == "/" or (letter in "*{,}" and not is_escaped):
            yield letter
        elif letter == "?" and not is_escaped:
            yield NAME
        elif letter == "[" and not is_escaped:
            yield _class(glob, symbols)
        else:
            yield _only(letter)


def _symbols(glob: str) -> Symbols:
    r"""Yield the characters of a glob, each with whether a ``\`` is before it."""
    letters = iter(glob)
    for letter in letters:
        following = next(letters, None) if letter == "\\" else letter
        if following is None:
            raise _bad(glob, r"a \ at its end", r"\\ for the character")
        yield following, letter == "\\"


def _class(glob: str, symbols: Symbols) -> Characters:
    """Return the characters of a class, whose ``[`` has been read."""
    inside = []
    for symbol in symbols:
        if symbol == ("]", False):
            break
        inside.append(symbol)
    else:
        raise _bad(glob, "a [ without a ]", r"[abc], or \[ for the character")
    if inside[:1] == [("^", False)]:
        raise _bad(glob, "a class that begins with ^", r"[!abc] for all others, or [\^] for the character")
    is_without = inside[:1] == [("!", False)]
    intervals, place = [], int(is_without)
    while place < len(inside):
        is_range = inside[place + 1 : place + 2] == [("-", False)] and place + 2 < len(inside)
        low, high = inside[place][0], inside[place + 2 if is_range else place][0]
        if low > high:
            raise _bad(glob, f"the range {low}-{high}", f"{high}-{low}")
        intervals.append((ord(low), ord(high)))
        place += 3 if is_range else 1
    found = _others([*(intervals if is_without else _others(intervals)), *SLASH])
    if not intervals or not found:
        raise _bad(glob, "a class without characters", r"[abc], where \] is the character; / is in none")
    return found


def _bad(glob: str, what: str, right: str) -> ValueError:
    """Return the error for a text that cannot be read as a glob."""
    return ValueError(f"the glob {glob!r} has {what}; right is {right}")


# --- characters ----------------------------------------------------------------------------------------------------


def _only(letter: str) -> Characters:
    return ((ord(letter), ord(letter)),)


def _others(intervals: Sequence[tuple[int, int]]) -> Characters:
    """Return all characters that are in none of these intervals; a path has none of code 0."""
    gaps, following = [], 1
    for low, high in sorted(intervals):
        if low > following:
            gaps.append((following, low - 1))
        following = max(following, high + 1)
    return (*gaps, (following, LAST)) if following <= LAST else tuple(gaps)


def _both(first: Characters, second: Characters) -> Characters:
    """Return the characters that are in both."""
    return _others([*_others(first), *_others(second)])


@lru_cache(maxsize=4096)
def _letters(first: Characters, second: Characters) -> tuple[str, ...]:
    """Return a character that is in both for each way in which a path goes on: a name, ``.`` and ``/``."""
    both = _both(first, second)
    return tuple(_shown(found) for sort in (NEITHER, DOT, SLASH) if (found := _both(both, sort)))


def _shown(characters: Characters) -> str:
    """Return one of these characters, a printable one if any is."""
    for letter in FIRST_SHOWN:
        if _both(characters, _only(letter)):
            return letter
    return chr((_both(characters, _printable()) or characters)[0][0])


@cache
def _printable() -> Characters:
    """Return the printable characters; looking at each takes a moment, and is rarely needed."""
    return _others([(code, code) for code in range(LAST + 1) if not chr(code).isprintable()])
