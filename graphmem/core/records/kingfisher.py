"""
More rules for secrets, where the extra ``graphmem[secrets]`` is installed: those of Kingfisher, for many providers.

To load them takes 0.3 s, 3 s the first time on a machine, so only what looks at many rows asks them: a bulk addition,
``validate`` and ``doctor``. Nothing of Kingfisher that talks to a network is called.
"""

from functools import cache
from typing import Any

from graphmem.core.records.secrets import Finder, Secret, apart, in_characters, is_token, may_hold, secrets_in
from graphmem.kernel.settings.folders import private_folder


@cache
def scanner() -> Any:
    """Return Kingfisher's scanner; None where it is not installed."""
    try:
        import kingfisher_sdk  # noqa: PLC0415 - an extra, and slow to load
    except ImportError:
        return None
    return kingfisher_sdk.Scanner(kingfisher_sdk.Rules(cache_dir=str(private_folder() / "kingfisher")))


def finder() -> Finder:
    """Return what finds the secrets in a text, here and now."""
    return secrets_in if scanner() is None else find


def is_suspect(line: bytes) -> bool:
    """Return whether the row on a line is worth a look; most are not, unless Kingfisher is to see them."""
    return scanner() is not None or b"\\u" in line or b"\\/" in line or may_hold(line)


def find(text: str) -> list[Secret]:
    """Return what graphmem's own rules find in a text, and what Kingfisher's find beside that."""
    return apart([*secrets_in(text), *found_by_kingfisher(text)])


def found_by_kingfisher(text: str) -> list[Secret]:
    """Return what Kingfisher finds in a text, but for placeholders."""
    data = text.encode("utf-8", "surrogatepass")
    found = [
        Secret(one.rule_id.rpartition(".")[2], one.location["start_offset"], one.location["end_offset"])
        for one in scanner().scan(data)
        if one.visible and is_token(one.secret.encode())
    ]
    return in_characters(text, data, apart(found))
