"""The attestation in the message of a commit: canonical, sealed, and compared fact by fact."""

import hashlib
import hmac
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.features.governance.attestation import (
    BEGIN,
    END,
    Attestation,
    Mismatch,
    attested,
    first_mismatch,
    parse,
    seal_of,
    seal_state,
)
from graphmem.features.governance.tokens import canonical, key_id

SECRET, OTHER = b"s" * 32, b"t" * 32
FACTS = {
    "artefacts": {"code": {"src/a.py": "100644 00ff", "src/ä.py": None}},
    "complete": True,
    "cycles": ["build", "review"],
    "iterations": {"build": 2},
    "stages": [{"stage": "write", "model": None}],
}
MESSAGE = "change: retries\n\nWhy it was done.\n"


def mismatch_at(path: str, attested: Any, found: Any) -> Mismatch:
    return Mismatch(path=path, attested=attested, found=found)


def parsed(message: str) -> Attestation:
    found = parse(message)
    assert found is not None
    return found


def test_the_message_ends_in_a_block_of_canonical_json_its_hash_and_its_seal() -> None:
    text = '{"a":1,"b":["ä"]}'
    digest = hashlib.sha256(text.encode()).hexdigest()
    mac = hmac.new(SECRET, text.encode(), hashlib.sha256).hexdigest()
    key = hashlib.sha256(SECRET).hexdigest()[:16]
    end = f"sha256: {digest}\nseal: hmac-sha256 {key} {mac}\n{END}\n"
    assert attested(MESSAGE, {"b": ["ä"], "a": 1}, SECRET) == (
        f"change: retries\n\nWhy it was done.\n\n{BEGIN}\n{text}\n{end}"
    )


def test_what_is_read_is_what_was_written() -> None:
    found = parsed(attested(MESSAGE, FACTS, SECRET))
    assert found == Attestation(
        FACTS, canonical(FACTS), hashlib.sha256(canonical(FACTS)).hexdigest(), key_id(SECRET),
        seal_of(canonical(FACTS), SECRET),
    )  # fmt: skip
    assert first_mismatch(found, FACTS) is None


def test_a_message_cannot_bring_a_block_of_its_own() -> None:
    forged = attested("x", {"complete": True}, None)
    message = attested(f"objective\n{forged}", FACTS, SECRET)
    assert parsed(message).facts == FACTS
    assert parse(attested("x", FACTS, SECRET) + "\nmore text") is None


@pytest.mark.parametrize(
    "message",
    [
        "change: retries\n",
        attested("x", FACTS, SECRET).replace("seal: hmac", "seal: none"),
        attested("x", FACTS, SECRET).replace("sha256: ", "md5: "),
        attested("x", FACTS, SECRET).replace('"complete":true', '"complete":yes'),
        attested("x", FACTS, SECRET).replace('"build"', '"\ud800"'),
    ],
    ids=["none", "seal", "hash", "JSON", "half a character"],
)
def test_a_message_without_a_whole_attestation_has_none(message: str) -> None:
    assert parse(message) is None


@pytest.mark.parametrize(
    ("found", "mismatch"),
    [
        ({**FACTS, "artefacts": {"code": {}}}, mismatch_at("artefacts.code.src/a.py", "100644 00ff", None)),
        ({**FACTS, "complete": False}, mismatch_at("complete", True, False)),
        ({**FACTS, "complete": 1}, mismatch_at("complete", True, 1)),
        ({**FACTS, "cycles": ["build"]}, mismatch_at("cycles.1", "review", None)),
        ({**FACTS, "cycles": ["build", "review", "x"]}, mismatch_at("cycles.2", None, "x")),
        ({**FACTS, "cycles": "build", "stages": []}, mismatch_at("cycles", ["build", "review"], "build")),
        ({**FACTS, "stages": [{"stage": "write"}]}, mismatch_at("stages.0.model", None, None)),
        ({**FACTS, "artefacts": {}}, mismatch_at("artefacts.code.src/a.py", "100644 00ff", None)),
        ({**FACTS, "aaa": {"b": {"c": 1}}}, mismatch_at("aaa.b.c", None, 1)),
        ({**FACTS, "aaa": {}}, mismatch_at("aaa", None, {})),
        ({**FACTS, "aaa": None}, mismatch_at("aaa", None, None)),
    ],
    ids=lambda value: value.path if isinstance(value, Mismatch) else "",
)
def test_the_first_fact_that_differs_is_named_by_its_path(found: dict[str, object], mismatch: Mismatch) -> None:
    assert first_mismatch(parsed(attested("x", FACTS, SECRET)), found) == mismatch


def test_another_writing_and_another_hash_are_named_after_the_facts() -> None:
    message = attested("x", FACTS, SECRET)
    spaced = parsed(message.replace('"complete":true', '"complete": true'))
    assert first_mismatch(spaced, FACTS) == mismatch_at("attestation", "JSON in another writing", "canonical JSON")
    digest = hashlib.sha256(canonical(FACTS)).hexdigest()
    changed = parsed(message.replace(digest, "0" * 64))
    assert first_mismatch(changed, FACTS) == mismatch_at("sha256", "0" * 64, digest)
    assert first_mismatch(changed, {**FACTS, "complete": False}) == mismatch_at("complete", True, False)


def test_a_seal_is_right_only_with_the_secret_that_made_it() -> None:
    sealed = parsed(attested("x", FACTS, SECRET))
    assert seal_state(sealed, SECRET) == "valid"
    assert seal_state(sealed, OTHER) == "of another clone"
    assert seal_state(parsed(attested("x", FACTS, None)), SECRET) == "git"
    mac = seal_of(canonical(FACTS), SECRET)
    assert seal_state(parsed(attested("x", FACTS, SECRET).replace(mac, "0" * 64)), SECRET) == "wrong"
    forged = attested("x", FACTS, OTHER).replace(key_id(OTHER), key_id(SECRET))
    assert seal_state(parsed(forged), SECRET) == "wrong"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.text(st.characters(codec="utf-8")))
def test_any_facts_come_back_after_any_message(facts: dict[str, object], message: str) -> None:
    try:
        written = attested(message, facts, SECRET)
    except TypeError:  # half a character, which no JSON has
        return
    found = parsed(written)
    assert first_mismatch(found, facts) is None
    assert seal_state(found, SECRET) == "valid"
