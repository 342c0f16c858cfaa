"""Commands as an answer prints them: whatever a branch names its records and files, a shell takes each word as one."""

import shlex


def command(*words: str) -> str:
    """Return a command that can be typed into a shell, each word quoted where it has to be."""
    return shlex.join(words)
