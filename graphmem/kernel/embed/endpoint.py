"""A model behind an address, asked as OpenAI's are: ``POST …/v1/embeddings``, as Ollama and others answer it."""

import hashlib
import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from typing import Any, NoReturn
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

import numpy as np

from graphmem.constants import EMBEDDING_BATCH, ENDPOINT_BYTES, ENDPOINT_CHARS, ENDPOINT_TIMEOUT_S
from graphmem.errors import Unavailable
from graphmem.kernel.embed.encoder import Matrix, Vector
from graphmem.kernel.settings.config import KEY_VARIABLE, endpoint_key
from graphmem.kernel.system import foreign
from graphmem.names import visible

PATH = "/v1/embeddings"
PART = 64 * 1024  # bytes read at a time
SHOWN = 200  # characters of what the endpoint says in an error
RETRY_S = 1.0  # seconds to wait where an endpoint that has too much to do does not say how long
TOO_MUCH = (429, 503)  # statuses: ask again later
LOCAL = ("localhost", "127.0.0.1", "::1")  # no proxy is asked for these


class EndpointEncoder:
    """
    A model behind an OpenAI-compatible address.

    It has no state between two calls, so it may be shared between threads. It follows no redirect: the key and the
    texts go to the address that was named, and nowhere else.

    Args:
        endpoint: the address, with or without ``/v1`` at its end, or that of the very ``…/embeddings``.
        name: what the endpoint calls the model.
        dimensions: of its vectors; others are refused.
    """

    def __init__(self, endpoint: str, *, name: str, dimensions: int) -> None:
        self.endpoint = endpoint
        self.name = name
        self.dimensions = dimensions
        address = urlsplit(address_of(endpoint))
        identity = ["endpoint", address.netloc.lower(), address.path, name, dimensions]
        self.fingerprint = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """
        Return a vector for each text, in the order of ``texts``: float32, unit rows.

        Args:
            texts: may be empty, and so may each text; of a long one the beginning counts.

        Raises:
            Unavailable: the endpoint does not answer as it should; ``details["retry_after_s"]`` is there where it only
                has too much to do.
        """
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), EMBEDDING_BATCH):
            batch = texts[start : start + EMBEDDING_BATCH]
            found = _ask(self.endpoint, self.name, batch)
            if found.shape[1] != self.dimensions:
                raise Unavailable(
                    f"{self.endpoint!r} gives vectors of {found.shape[1]:,} dimensions for {self.name!r}, and"
                    f" embedding.dimensions is {self.dimensions:,}"
                )
            vectors[start : start + len(batch)] = found
        return vectors

    def encode_query(self, text: str) -> Vector:
        """Return the vector of one text: float32, unit length."""
        vector: Vector = self.encode_documents([text])[0]
        return vector


def _ask(endpoint: str, name: str, texts: Sequence[str]) -> Matrix:
    """
    Return the vectors of texts as an endpoint gives them, made unit length.

    Raises:
        Unavailable: it does not answer, or not with as many good vectors.
    """
    given = [text[:ENDPOINT_CHARS] or " " for text in texts]  # an empty one is refused by some
    body = json.dumps({"model": name, "input": given, "encoding_format": "float"}).encode()
    try:
        answer = foreign.json(_posted(endpoint, body).decode("utf-8-sig"), load=json.loads)
    except ValueError:
        _failed(endpoint, "answers with something else than JSON")
    return _unit_rows(endpoint, _rows_of(endpoint, answer, len(texts)))


def _posted(endpoint: str, body: bytes) -> bytes:
    """Return what an endpoint answers to a request, within bounds of time and size."""
    key = endpoint_key()
    request = Request(address_of(endpoint), body, {"Content-Type": "application/json", "User-Agent": "graphmem"})
    if key:
        request.add_unredirected_header("Authorization", f"Bearer {key}")
    try:
        with opener(endpoint).open(request, timeout=ENDPOINT_TIMEOUT_S) as response:
            data = read(endpoint, response)
            kind = response.headers.get_content_type()
    except HTTPError as error:
        with error:
            _refused(endpoint, error, key)
    except (TimeoutError, OSError, HTTPException, ValueError) as error:  # URLError is an OSError
        reason = getattr(error, "reason", None) or error
        why = getattr(reason, "strerror", None) or reason
        is_late = isinstance(reason, TimeoutError)
        _failed(
            endpoint, "does not answer" + (f" within {ENDPOINT_TIMEOUT_S:g} s" if is_late else f": {_said(why, key)}")
        )
    if kind == "text/html":
        _failed(endpoint, "answers with a page (HTML): is the address right?")
    return data


def read(endpoint: str, response: HTTPResponse) -> bytes:
    """Return the body of an answer."""
    parts, size, end = list[bytes](), 0, time.monotonic() + ENDPOINT_TIMEOUT_S
    while part := response.read1(PART):
        parts.append(part)
        size += len(part)
        if size > ENDPOINT_BYTES:
            _failed(endpoint, f"answers with more than {ENDPOINT_BYTES:,} bytes")
        if time.monotonic() > end:
            raise TimeoutError
    if response.length:
        _failed(endpoint, "answers with less than it announced: the answer is cut off")
    return b"".join(parts)


def _refused(endpoint: str, error: HTTPError, key: str) -> NoReturn:
    """Raise the error for an answer without vectors, by its status."""
    if error.code in (401, 403):
        _failed(endpoint, f"refuses the key in {KEY_VARIABLE}" if key else f"needs a key: set {KEY_VARIABLE}")
    if 300 <= error.code < 400:
        _failed(endpoint, f"answers {error.code}: it leads elsewhere, which is not followed")
    try:
        body = error.fp.read1(PART) if isinstance(error.fp, HTTPResponse) else b""  # what has come: none is waited for
        answer = foreign.json(body.decode())
        reason = answer["error"]["message"] if isinstance(answer["error"], dict) else answer["error"]
    except (ValueError, KeyError, TypeError, OSError, HTTPException):
        reason = error.reason
    pause = {"retry_after_s": _retry_after(error.headers)} if error.code in TOO_MUCH else {}
    _failed(endpoint, f"answers {error.code}: {_said(reason, key)}", **pause)


def _retry_after(headers: Message) -> float:
    """Return the seconds after which an endpoint wants to be asked again: a number, or a date, at least one."""
    text = (headers.get("Retry-After") or "").strip()
    try:
        if text.isascii() and text.isdigit():
            pause = float(text[:9])
        else:
            pause = (parsedate_to_datetime(text).astimezone(UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        pause = RETRY_S
    return max(pause, RETRY_S)


def _rows_of(endpoint: str, answer: Any, number: int) -> list[Any]:
    """Return the vectors in an answer, in the order of the texts."""
    try:
        found = [(row.get("index", place), row["embedding"]) for place, row in enumerate(answer["data"])]
    except (AttributeError, KeyError, TypeError):
        _failed(endpoint, "answers without data[].embedding: it is not an OpenAI-compatible endpoint")
    if len(found) != number:
        _failed(endpoint, f"gives {len(found):,} vectors for {number:,} texts")
    rows = {place: row for place, row in found if type(place) is int}
    if rows.keys() != set(range(number)):
        _failed(endpoint, "numbers its vectors otherwise than the texts")
    return [rows[place] for place in range(number)]


def _unit_rows(endpoint: str, rows: list[Any]) -> Matrix:
    """Return vectors made unit length."""
    try:
        found = np.array(rows)
    except ValueError:
        _failed(endpoint, "gives vectors of several lengths")
    if found.ndim != 2 or found.dtype.kind not in "iuf" or not found.shape[1]:
        _failed(endpoint, "gives vectors that are not lists of numbers")
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        if not np.isfinite(norms).all():
            _failed(endpoint, "gives vectors with NaN or infinity in them")
        if not norms.all():
            _failed(endpoint, "gives a vector of length 0")
        made: Matrix = (found / norms).astype(np.float32)
    return made


def dimensions_of(endpoint: str, name: str) -> int:
    """Return how many dimensions the vectors of a model behind an address have: it is asked for one."""
    return int(_ask(endpoint, name, ["dimensions"]).shape[1])


def address_of(endpoint: str) -> str:
    """Return the address that is asked."""
    endpoint = endpoint.rstrip("/")
    return endpoint if endpoint.endswith("/embeddings") else endpoint.removesuffix("/v1") + PATH


def opener(endpoint: str) -> OpenerDirector:
    """Return what opens the address: through the proxy that the environment names, unless it is of this machine."""
    is_local = urlsplit(endpoint).hostname in LOCAL
    return build_opener(NoRedirect, *([ProxyHandler({})] if is_local else []))


class NoRedirect(HTTPRedirectHandler):
    """Makes an error of an answer that leads elsewhere."""

    def redirect_request(self, *_: object) -> None:
        """Follow nothing."""


def _said(reason: object, key: str) -> str:
    """Return what an endpoint or the system gives as the reason, short, on one line, and without the key."""
    text = " ".join(str(reason).split())
    return visible((text.replace(key, "…") if key else text)[:SHOWN])


def _failed(endpoint: str, what: str, **details: object) -> NoReturn:
    """Raise the error for an endpoint that does not answer as it should."""
    raise Unavailable(f"the endpoint {endpoint!r} {what}", details=details) from None
