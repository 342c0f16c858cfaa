"""
The attestation of finished work: what the message of its commit says of it, in a form that can be checked.

It is canonical JSON (keys in order, no white space, UTF-8), its SHA-256, and its seal: the id of the clone's secret and
an HMAC-SHA256 with it, or the signature that git makes of the whole commit.
"""

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from pydantic import JsonValue

from graphmem.features.governance.tokens import canonical, key_id
from graphmem.kernel.answer import Part
from graphmem.patterns import lazy_re

BEGIN, END = (f"-----{word} GRAPHMEM ATTESTATION-----" for word in ("BEGIN", "END"))
BY_GIT = "git"  # in the place of a seal: the commit is signed
BLOCK = lazy_re(
    rf"(?:\A|\n){BEGIN}\n(?P<facts>\{{[^\n]*\}})\nsha256: (?P<digest>[0-9a-f]{{64}})\n"
    rf"seal: (?:{BY_GIT}|hmac-sha256 (?P<key>[0-9a-f]{{16}}) (?P<mac>[0-9a-f]{{64}}))\n{END}\n*\Z"
)
ABSENT = object()

Facts = Mapping[str, Any]
Seal = Literal["valid", "wrong", "of another clone", "git"]


@dataclass(frozen=True)
class Attestation:
    """
    An attestation as a message has it.

    Args:
        facts: the JSON; ``text`` as it is in the message.
        digest: the SHA-256 that is there.
        key: the id of the secret of the seal, and ``mac`` the seal; None where git signs.
    """

    facts: Facts
    text: bytes
    digest: str
    key: str | None
    mac: str | None


class Mismatch(Part):
    """Where an attestation differs from what is found: the path in it, and the two values; null for no value."""

    path: str
    attested: JsonValue = None
    found: JsonValue = None


def seal_of(text: bytes, secret: bytes) -> str:
    """Return the seal of an attestation by a secret."""
    return hmac.new(secret, text, hashlib.sha256).hexdigest()


def attested(message: str, facts: Facts, secret: bytes | None) -> str:
    """
    Return the message of a commit with an attestation at its end.

    Args:
        secret: of the clone; None where git signs the commit.
    """
    text = canonical(facts)
    seal = BY_GIT if secret is None else f"hmac-sha256 {key_id(secret)} {seal_of(text, secret)}"
    digest = hashlib.sha256(text).hexdigest()
    # No line of the message can end the block that follows, or begin one.
    body = re.sub(r"^-----", "- ----", message.strip(), flags=re.MULTILINE)
    return f"{body}\n\n{BEGIN}\n{text.decode()}\nsha256: {digest}\nseal: {seal}\n{END}\n"


def parse(message: str) -> Attestation | None:
    """Return the attestation at the end of a message; None where it has no whole one."""
    found = BLOCK.search(message)
    if found is None:
        return None
    try:
        text = found["facts"].encode()
        facts = orjson.loads(text)
    except ValueError:  # half a character is one too
        return None
    return Attestation(facts, text, found["digest"], found["key"], found["mac"])


def first_mismatch(attestation: Attestation, found: Facts) -> Mismatch | None:
    """
    Return the first thing in which an attestation differs from what is found, or from itself.

    Facts come first, in the order of their names, then the text, which has to be canonical, and its SHA-256.
    """
    for one in _mismatches(attestation.facts, found, ""):
        return one
    text = canonical(attestation.facts)
    if attestation.text != text:
        return Mismatch(path="attestation", attested="JSON in another writing", found="canonical JSON")
    digest = hashlib.sha256(text).hexdigest()
    if not hmac.compare_digest(attestation.digest, digest):
        return Mismatch(path="sha256", attested=attestation.digest, found=digest)
    return None


def _mismatches(attested: Any, found: Any, path: str) -> Iterator[Mismatch]:
    """Yield where two values of JSON differ, in the order of the names and places in them."""
    if isinstance(attested, Mapping) and isinstance(found, Mapping):
        names = sorted({*attested, *found})
        parts = [(name, attested.get(name, ABSENT), found.get(name, ABSENT)) for name in names]
    elif isinstance(attested, list) and isinstance(found, list):
        most = max(len(attested), len(found))
        longer = ([*one, *[ABSENT] * (most - len(one))] for one in (attested, found))
        parts = [(str(place), *pair) for place, pair in enumerate(zip(*longer, strict=True))]
    else:
        if type(attested) is not type(found) or attested != found:
            values = (None if one is ABSENT else one for one in (attested, found))
            yield Mismatch(path=path, **dict(zip(("attested", "found"), values, strict=True)))
        return
    for name, one, other in parts:
        # Where one side lacks an object, the first thing in that is named.
        first, second = _filled(one, other), _filled(other, one)
        yield from _mismatches(first, second, f"{path}.{name}" if path else name)


def _filled(side: object, other: object) -> object:
    """Return one side of a comparison; an empty object where it lacks one that the other side has."""
    return {} if side is ABSENT and other and isinstance(other, Mapping) else side


def seal_state(attestation: Attestation, secret: bytes) -> Seal:
    """Return what the secret of this clone says of the seal of an attestation."""
    if attestation.mac is None:
        return "git"
    if attestation.key != key_id(secret):
        return "of another clone"
    is_right = hmac.compare_digest(attestation.mac, seal_of(attestation.text, secret))
    return "valid" if is_right else "wrong"
