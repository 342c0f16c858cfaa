"""
The token of a stage: what says that a call is of a stage that routing asked for.

A token is the base64url of a payload in canonical JSON, a point, and the base64url of its HMAC-SHA256 with the secret
of the clone. It is valid once, until a time, for one stage of one cycle of one work.
"""

import base64
import hashlib
import hmac
import os

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from graphmem.errors import Damaged, Refused
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files

SECRET_BYTES = 32
TOKEN_S = 3600  # seconds for which a token is valid, and a stage holds its clone
TOKEN_CHARACTERS = 4096
VARIABLE = "GRAPHMEM_STAGE_TOKEN"


class TokenPayload(BaseModel):
    """What a token is for; ``exp`` is in seconds since 1970."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    stage: str
    cycle: str
    work: str  # reference by key
    nonce: str
    exp: int


def minted(payload: TokenPayload, secret: bytes) -> str:
    """Return the token of a payload."""
    text = canonical(payload.model_dump())
    return f"{_encoded(text)}.{_encoded(hmac.digest(secret, text, 'sha256'))}"


def payload_of(token: str, secret: bytes, now: float) -> TokenPayload:
    """
    Return what a token is for.

    Raises:
        Refused: it was not signed with this secret, or it has expired; the two say no more than which.
    """
    text, signature = _decoded(token)
    if not hmac.compare_digest(signature, hmac.digest(secret, text, "sha256")):
        raise _refusal("signature", "the token of the stage was not signed by this clone, or was changed")
    try:
        payload = TokenPayload.model_validate_json(text)
    except ValidationError:
        raise _refusal("signature", "the token of the stage was not signed by this clone, or was changed") from None
    if payload.exp <= now:
        raise _refusal("expired", "the token of the stage has expired")
    return payload


def used() -> Refused:
    """Return the error for a token that was used before."""
    return _refusal("used", "the token of the stage was used before")


def other_stage() -> Refused:
    """Return the error for a token of another stage, cycle or work than the one that is next or active."""
    return _refusal("stage", "the token is of another stage than the one that may run now")


def _refusal(which: str, message: str) -> Refused:
    return Refused(message, hint="graphmem work next NAME gives the token of the next stage", details={"token": which})


def canonical(value: object) -> bytes:
    """Return a value as canonical JSON: sorted keys, no white space, UTF-8."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(token: str) -> tuple[bytes, bytes]:
    """Return the payload and the signature of a token; a token in another writing than ours has no signature."""
    text, _, signature = token.partition(".")
    try:
        parts = [base64.b64decode(f"{one}{'=' * (-len(one) % 4)}", b"-_", validate=True) for one in (text, signature)]
    except ValueError:
        return b"", b""
    is_ours = len(token) <= TOKEN_CHARACTERS and token == f"{_encoded(parts[0])}.{_encoded(parts[1])}"
    return (parts[0], parts[1]) if is_ours else (b"", b"")


def secret_of(client: Client) -> bytes:
    """
    Return the secret of a clone, made when it is first asked for.

    Raises:
        Damaged: the file does not hold a secret.
    """
    path = client.layout.state / "secret"
    if not safe_files.is_file(path):
        with client.state.changing():  # of two that make one at once, one is kept
            if not safe_files.is_file(path):
                safe_files.put(path, os.urandom(SECRET_BYTES), is_flushed=True)
    found = safe_files.read(path, most=SECRET_BYTES + 1)
    if len(found) != SECRET_BYTES:
        raise Damaged(f"{path} does not hold a secret of {SECRET_BYTES} bytes", hint="remove it; open stages are lost")
    return found


def key_id(secret: bytes) -> str:
    """Return what names a secret and does not tell it."""
    return hashlib.sha256(secret).hexdigest()[:16]
