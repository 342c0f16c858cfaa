"""A token of a stage is valid for what it was made for, and nothing else that can be made of it is."""

import base64
import os
import stat
from typing import Any

import orjson
import pytest

from graphmem.errors import Damaged, Refused
from graphmem.features.governance import tokens
from graphmem.features.governance.tokens import TokenPayload, canonical, minted, payload_of, secret_of
from tests.features.governance.flow_project import FlowProject

SECRET, NOW = b"s" * 32, 1_000.0
PAYLOAD = TokenPayload(stage="write", cycle="code", work="work/feature-x", nonce="a" * 32, exp=2_000)
TOKEN = minted(PAYLOAD, SECRET)


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def changed(**values: Any) -> str:
    """Return the token with other values in its payload, and the signature that it had."""
    return f"{encoded(canonical({**PAYLOAD.model_dump(), **values}))}.{TOKEN.partition('.')[2]}"


def signed(text: bytes) -> str:
    """Return a text as a token that is signed with the secret."""
    import hmac

    return f"{encoded(text)}.{encoded(hmac.digest(SECRET, text, 'sha256'))}"


FORGERIES = {
    "of another stage": changed(stage="review"),
    "of another work": changed(work="work/other"),
    "of another cycle": changed(cycle="guide"),
    "with more time": changed(exp=9_999_999_999),
    "with another nonce": changed(nonce="b" * 32),
    "without a signature": f"{TOKEN.partition('.')[0]}.",
    "with half a signature": TOKEN[:-10],
    "of another clone": minted(PAYLOAD, b"t" * 32),
    "with padding": f"{TOKEN}=",
    "in another base64": TOKEN.replace("-", "+").replace("_", "/") + "\n",
    "with a second signature": f"{TOKEN}.{TOKEN.partition('.')[2]}",
    "of nothing": "",
    "of a payload that is none": signed(b"[]"),
    "with an unknown field": signed(canonical({**PAYLOAD.model_dump(), "role": "person"})),
    "with a time as text": signed(canonical({**PAYLOAD.model_dump(), "exp": "9999999999"})),
    "without white space that was": signed(orjson.dumps(PAYLOAD.model_dump(), option=orjson.OPT_INDENT_2)) + "x",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_says_no_more_than_that_its_signature_is_wrong(name: str) -> None:
    with pytest.raises(Refused) as caught:
        payload_of(FORGERIES[name], SECRET, NOW)
    assert caught.value.details == {"token": "signature"}
    assert str(caught.value) == "the token of the stage was not signed by this clone, or was changed"


def test_a_token_says_what_it_was_made_for_until_it_expires() -> None:
    assert payload_of(TOKEN, SECRET, NOW) == PAYLOAD
    assert payload_of(TOKEN, SECRET, 1_999.9) == PAYLOAD
    with pytest.raises(Refused, match="has expired"):
        payload_of(TOKEN, SECRET, 2_000)


def test_the_four_errors_are_different_ones() -> None:
    errors = [tokens.used(), tokens.other_stage()]
    for token, now in ((TOKEN[:-4], NOW), (TOKEN, 9_000.0)):
        with pytest.raises(Refused) as caught:
            payload_of(token, SECRET, now)
        errors.append(caught.value)
    assert {one.details["token"] for one in errors} == {"signature", "expired", "used", "stage"}
    assert len({str(one) for one in errors}) == 4


def test_a_secret_is_made_once_for_this_user_alone(project: FlowProject) -> None:
    client = project.memory.store.client
    secret = secret_of(client)
    path = client.layout.state / "secret"
    assert secret_of(client) == secret == path.read_bytes() and len(secret) == 32
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    path.write_bytes(b"short")
    with pytest.raises(Damaged, match="does not hold a secret"):
        secret_of(client)


def test_a_token_begins_its_stage_once(project: FlowProject) -> None:
    project.start()
    stages, works = project.memory.store.stages, project.memory.store.works
    first, second = works.next().token, works.next().token
    stages.begin(first)
    for token, which in ((first, "used"), (second, "stage")):
        with pytest.raises(Refused) as caught:
            stages.end(token) if which == "stage" else stages.begin(token)
        assert caught.value.details.get("token") == which
    project.write("src/app.py", "a = 1\n")
    stages.end(first)
    for token, which in ((first, "used"), (second, "stage")):
        with pytest.raises(Refused) as caught:
            stages.begin(token)
        assert caught.value.details["token"] == which


def test_a_used_token_is_known_after_a_restart(project: FlowProject) -> None:
    project.start()
    project.run("write", src__app_py="a = 1\n")
    with project.opened() as again, pytest.raises(Refused, match="was used before"):
        again.store.stages.begin(project.token)
