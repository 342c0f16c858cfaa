"""A model behind an address: what it gives is used, and whatever else it answers is one clear error."""

import json
import time
from collections.abc import Iterator

import numpy as np
import pytest

from graphmem.errors import Unavailable
from graphmem.kernel.embed import endpoint
from graphmem.kernel.embed.endpoint import EndpointEncoder, address_of, dimensions_of
from graphmem.kernel.embed.model import find_model
from tests.endpoint import DIMENSIONS, Bad, Endpoint, Handler, serving, vector_of
from tests.pace import within

KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with serving() as made:
        yield made


def encoder(server: Endpoint, *, dimensions: int = DIMENSIONS) -> EndpointEncoder:
    return EndpointEncoder(server.url, name="a-model", dimensions=dimensions)


def test_each_text_gets_its_own_vector_of_unit_length_in_the_order_of_the_texts(server: Endpoint) -> None:
    texts = [f"word{n} and more" for n in range(70)]
    found = encoder(server).encode_documents(texts)
    expected = np.array([vector_of(text) for text in texts])
    assert np.allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert found.dtype == np.float32
    assert [len(one["body"]["input"]) for one in server.asked] == [32, 32, 6]
    assert {one["path"] for one in server.asked} == {"/v1/embeddings"}
    assert {(one["body"]["model"], one["key"]) for one in server.asked} == {("a-model", None)}
    assert np.allclose(encoder(server).encode_query(texts[3]), found[3])
    assert encoder(server).encode_documents([]).shape == (0, DIMENSIONS)


def test_an_empty_text_is_sent_as_a_space_and_of_a_long_one_the_beginning(server: Endpoint) -> None:
    encoder(server).encode_documents(["", "a" * 100_000])
    assert server.asked[0]["body"]["input"] == [" ", "a" * 6_000]


def test_the_address_may_end_as_that_of_any_program_does() -> None:
    for given in ("http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/embeddings"):
        assert address_of(given) == "http://h:1/v1/embeddings"
    assert address_of("https://h/v1beta/openai/embeddings") == "https://h/v1beta/openai/embeddings"


def test_the_fingerprint_is_of_host_path_model_and_dimensions() -> None:
    def fingerprint(address: str, name: str = "m", dimensions: int = 8) -> str:
        return EndpointEncoder(address, name=name, dimensions=dimensions).fingerprint

    same = fingerprint("http://h:1")
    assert {fingerprint("http://H:1/v1/"), fingerprint("https://h:1")} == {same}
    others = {fingerprint("http://h:2"), fingerprint("http://h:1/x"), fingerprint("http://h:1", "n")}
    assert len({same, *others, fingerprint("http://h:1", dimensions=9)}) == 5


def test_the_key_is_sent_and_never_shown(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_KEY", KEY)
    message = json.dumps({"error": {"message": f"Incorrect key:\n{KEY} \x1b[2J" + "x" * 500}}).encode()
    server.bad = [lambda to: to.send(message, 400), lambda to: to.send(message, 401)]
    with pytest.raises(Unavailable, match=r"answers 400: Incorrect key: … \\x1b") as wrong:
        encoder(server).encode_query("a")
    with pytest.raises(Unavailable, match="refuses the key in GRAPHMEM_EMBEDDING_KEY") as refused:
        encoder(server).encode_query("a")
    assert {one["key"] for one in server.asked} == {f"Bearer {KEY}"}
    for error in (wrong.value, refused.value):
        assert KEY not in f"{error!r} {error.message} {error.details} {error.hint}"
        assert len(error.message) < 300
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_KEY", f"{KEY}\nX-Other: 1")
    with pytest.raises(Unavailable, match="GRAPHMEM_EMBEDDING_KEY has characters that no key has") as odd:
        encoder(server).encode_query("a")
    assert KEY not in str(odd.value)
    monkeypatch.delenv("GRAPHMEM_EMBEDDING_KEY")
    server.bad = [lambda to: to.send(b"", 403)]
    with pytest.raises(Unavailable, match="needs a key: set GRAPHMEM_EMBEDDING_KEY"):
        encoder(server).encode_query("a")


def test_a_redirect_is_not_followed(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_KEY", KEY)
    with serving() as other:
        for status in (301, 302, 303, 307, 308):
            server.bad = [lambda to, status=status: to.send(b"", status, Location=f"{other.url}/v1/embeddings")]  # type: ignore[misc]
            with pytest.raises(Unavailable, match=f"answers {status}: it leads elsewhere, which is not followed"):
                encoder(server).encode_query("a")
        assert other.asked == []


BAD: dict[str, tuple[Bad, str]] = {
    "too few": (lambda to: to.give([vector_of("a")]), "gives 1 vectors for 2 texts"),
    "too many": (lambda to: to.give([vector_of("a")] * 3), "gives 3 vectors for 2 texts"),
    "other dimensions": (lambda to: to.give([[1.0] * 9] * 2), "gives vectors of 9 dimensions for 'a-model'"),
    "several lengths": (lambda to: to.give([[1.0], [1.0, 2.0]]), "gives vectors of several lengths"),
    "no numbers": (lambda to: to.give([["1"] * 8, ["2"] * 8]), "not lists of numbers"),
    "huge numbers": (lambda to: to.give([[10**400] * 8] * 2), "not lists of numbers"),
    "no lists": (lambda to: to.give([{}, 1]), "not lists of numbers"),
    "empty": (lambda to: to.give([[], []]), "not lists of numbers"),
    "NaN": (lambda to: to.give([[float("nan")] * 8] * 2), "with NaN or infinity"),
    "infinity": (lambda to: to.give([[float("inf")] * 8] * 2), "with NaN or infinity"),
    "beyond": (lambda to: to.give([[1e300] * 8] * 2), "with NaN or infinity"),
    "zeros": (lambda to: to.give([[0] * 8] * 2), "a vector of length 0"),
    "same place": (lambda to: to.send(json.dumps({"data": [{"index": 0, "embedding": [1]}] * 2}).encode()), "numbers"),
    "odd place": (
        lambda to: to.send(json.dumps({"data": [{"index": [], "embedding": [1]}] * 2}).encode()), "numbers its vectors",
    ),
    "no data": (lambda to: to.send(b'{"embeddings": []}'), r"without data\[\].embedding"),
    "a list": (lambda to: to.send(b"[1, 2]"), r"without data\[\].embedding"),
    "broken JSON": (lambda to: to.send(b'{"data": ['), "something else than JSON"),
    "deep JSON": (lambda to: to.send(b"[" * 200_000), "something else than JSON"),
    "no text": (lambda to: to.send(b"\xff\xfe\x00"), "something else than JSON"),
    "nothing": (lambda to: to.send(b""), "something else than JSON"),
    "a page": (lambda to: to.send(b"<html>hello</html>", kind="text/html"), r"a page \(HTML\): is the address right\?"),
    "cut off": (lambda to: to.send(b'{"data": []}', cut=2), "the answer is cut off"),
    "cut chunk": (lambda to: to.send(b"ff\r\nabc", Transfer_Encoding="chunked"), "does not answer: IncompleteRead"),
    "endless": (lambda to: to.send(b" " * (17 * 2**20)), "answers with more than 16,777,216 bytes"),
    "gone": (lambda to: to.connection.close(), "does not answer"),
    "not found": (lambda to: to.send(b'{"error": "model \'x\' not found"}', 404), "answers 404: model 'x' not found"),
    "its fault": (lambda to: to.send(b"<html>", 500, kind="text/html"), "answers 500: Internal Server Error"),
    "no HTTP": (lambda to: to.wfile.write(b"SSH-2.0\r\n"), "does not answer"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_an_answer_that_is_none_is_one_clear_error(server: Endpoint, name: str) -> None:
    answer, message = BAD[name]
    server.bad = [answer]
    with pytest.raises(Unavailable, match=message) as error:
        encoder(server).encode_documents(["a", "b"])
    assert server.url in error.value.message
    assert "retry_after_s" not in error.value.details
    assert encoder(server).encode_documents(["a", "b"]).shape == (2, DIMENSIONS)  # the next one is well


def test_an_endpoint_that_does_not_answer_is_given_up_after_a_time(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(to: Handler) -> None:
        time.sleep(0.5)

    def drips(to: Handler) -> None:
        to.send(b"x" * 50, cut=50)
        for _ in range(50):
            to.wfile.write(b"x")
            to.wfile.flush()
            time.sleep(0.02)

    monkeypatch.setattr(endpoint, "ENDPOINT_TIMEOUT_S", 0.1)
    for answer in (slow, drips):
        server.bad = [answer]
        start = time.monotonic()
        with pytest.raises(Unavailable, match=r"does not answer within 0.1 s"):
            encoder(server).encode_query("a")
        assert within(time.monotonic() - start, 0.4)


def test_nobody_there_is_an_error() -> None:
    with pytest.raises(Unavailable, match=r"'http://127.0.0.1:9' does not answer: Connection refused"):
        EndpointEncoder("http://127.0.0.1:9", name="m", dimensions=3).encode_query("a")


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("7", 7, 7), ("0", 1, 1), ("soon", 1, 1), ("-3", 1, 1), ("9" * 50, 999_999_999, 999_999_999),
     ("Fri, 01 Jan 2100 00:00:00 GMT", 10**9, 10**10), ("Fri, 01 Jan 1999 00:00:00 GMT", 1, 1)],
)  # fmt: skip
def test_an_endpoint_with_too_much_to_do_says_when_to_ask_again(
    server: Endpoint, header: str, least: float, most: float
) -> None:
    for status in (429, 503):
        server.bad = [lambda to, status=status: to.send(b"{}", status, Retry_After=header)]  # type: ignore[misc]
        with pytest.raises(Unavailable, match=f"answers {status}: ") as error:
            encoder(server).encode_query("a")
        pause = error.value.details["retry_after_s"]
        assert isinstance(pause, float)
        assert least <= pause <= most


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert encoder(server).encode_query("a").shape == (DIMENSIONS,)


def test_the_dimensions_are_found_out_and_a_model_without_them_is_none(server: Endpoint) -> None:
    assert dimensions_of(server.url, "a-model") == DIMENSIONS
    found = find_model("a-model", cache_folder=None, endpoint=server.url)
    assert found.embedder is None
    assert found.warnings == (
        f"embedding.dimensions is not set for {server.url!r}; it is found out by:"
        f" graphmem embed change a-model --endpoint {server.url}",
    )
    assert find_model("none", cache_folder=None, endpoint=server.url).embedder is None
