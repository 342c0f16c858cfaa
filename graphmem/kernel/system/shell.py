"""Commands as an answer prints them: whatever a branch names its records and files, a shell takes each word as one."""

import shlex


def command(*words: str) -> str:
    """Return a command that can be typed into a shell, each word quoted where necessary."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """
    Return one word of a command.

    A text with a ``'`` in it, as an error has, is between ``"`` where a shell takes every character there as it is: so
    it can be read and edited.
    """
    is_plain = "'" in word and not set(word) & set('"$`\\!\n')
    return f'"{word}"' if is_plain else shlex.quote(word)
