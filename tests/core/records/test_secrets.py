"""What looks like a credential, and what does not (docs/guides/secrets.md). The samples are made; none is anybody's."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.core.records.secrets import (
    Exposed,
    Secret,
    apart,
    exposed,
    may_hold,
    new_secrets,
    redacted,
    refusal,
    secrets_in,
    without_secrets,
)
from tests.pace import examples, within
from tests.secret_samples import KINDS, Maker

SEEDS = 200
BY_CHANCE = ("bearer", "*_API_KEY=")  # without a mark or a form: one in some hundred has no digits and looks like words
SAMPLES = [KINDS[kind](Maker(seed)) for kind in KINDS for seed in range(3)]
MANY = 1_000_000  # characters of a text that somebody made to be slow

HARMLESS = [
    'password="changeme"', "password=<password>", "PASSWORD=${DB_PASSWORD}", "password: xxxxxxxx", "password = None",
    'password = os.environ["DB_PASSWORD"]', "password = getpass.getpass()", "password=%s", "password: str = field()",
    "password: required", "the password is required", "the password is wrong1", "the password for admin is not set",
    "Enter your password: ", "password=/run/secrets/db1", "password = user.password_1", "pwd=/home/ann/src2",
    'connect(password="hunter2")', "passwd=Test1234!", "password=........", "password: 12345678",
    "token=abc", "token = get_token_from_v2_api1()", "unexpected token: '}'", "token: Optional[str] = None",
    "token = tokens[0]", "the token is expired", "the token was issued at 2026-11-23T14:02:39Z by auth01",
    "token=android.os.BinderProxy@2bd79ce", "secret: my-service-v2-prod-east", "api_key: YOUR_API_KEY_HERE_12345",
    "secret_key = 'django-insecure-example-1a2b3c4d5e'", "private_key: /etc/ssl/private/server1/key2.pem",
    "access_key=etc/keys/v1/a2/b3/c4/d5e6", "TOKEN_EXPIRY=3600", "tokens: 128000", "--token TOKEN", "--password",
    "publicKeyToken=1fc8b3b9a1e18e3b",
    '"AWS::Config::AggregationAuthorization": "af318b77aaceeeaa"',
    "PrivateKey = rust_openssl.hpke.MLKEM768X25519PrivateKey",
    "git commit 17fc7154167b7d6d6490aa6508db554fd6d7af24", "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "ghp_123", "ghp_" + "x" * 36,
    "ghp_" + "1234567890abcdefghijklmnopqrstuvwxyz", "AKIA" + "IOSFODNN7EXAMPLE", "sk-ant-api03-...",
    "task-0123456789abcdef",
    "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "https://user:password@host/", "postgres://postgres:postgres@localhost/db", "redis://:${REDIS_PASSWORD}@cache:6379",
    "http://localhost:8080/a@b", "ssh://git:22@host", "https://example.org/a:b@c", "Authorization: Bearer <token>",
    "Authorization: Bearer token", "Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic bm9jb2xvbg==",
    "Authorization: Basic dXNlcjpw1", "curl -u user:password https://x", "curl -u $USER:$PASSWORD x",
    '"auth": "none"', '"auth": "dXNlcjpwYXNzd29yZA=="', '"auth": "basic-with-header"', "psk=WPA2-PSK",
    'psk="passphrase"',
    "key_mgmt=WPA-PSK", "patience.and.patterns", "pul-request", "dp.pt.token", "sk.eyJ", "PMAK-your-key",
    "figd_" + "x" * 40, "the bot MessageHandlerFactoryImpl.invoke.runInTheMainEventLoopOfTheBot", "fm2_example",
    "Private-Lines: 14", "Private-Lines: 2\nAAAA\n", "sbp_" + "0" * 40, "A3-SIZED-PAPER", "ops_eyJ...", "SSWS token",
    "pat-" + "a" * 14, "rubygems_api_key", "square EAAAAA", "sntrys_<token>", "nfp_netlify",
]  # fmt: skip

REAL = [
    ("password", "Server=db;Uid=app;Pwd=k9-Rwt!28xb;"), ("password", "export PGPASSWORD='zT4$kk20Lm'"),
    ("password", '"password": "vK3-29dfkW"'), ("password", "mysql --password vK329dfkW"),
    ("password", "DB_PASS=q8Zw2Lx0"),
    ("password", 'password: str = "vK3-29dfkW"'), ("password", "login with passphrase: correct!horse!9"),
    ("password", "the passphrase of the key is now: Zug-fährt-29-ab"), ("password", "password=!!grün-blau"),
    ("token", "secret: 3f2504e0-4f89-11d3-9a0c-0305e82c3301"), ("token", "auth_key := Zk3/9fQ1/8sW2/dL5t/mB7x"),
    ("token", "deploy --token 9f8a7b6c5d4e3f2a1b0c"), ("token", "the api key is 9f8a7b6c5d4e3f2a1b0c"),
    ("basic-auth", "Authorization: Basic YW5uOnFrOTh4YjI="), ("authorization", "authorization: 9f8a7b6c5d4e3f2a1b0c"),
    ("curl-password", "curl -s -u ann:qk98xb2z https://x"), ("url-password", "https://ann:wahlkreis@host.example/a"),
]  # fmt: skip


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, SEEDS), marks=pytest.mark.long)], ids=["40", "all"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_credential_is_found(kind: str, seeds: range) -> None:
    made = [KINDS[kind](Maker(seed)) for seed in seeds]
    missed = [text for text, secret in made if any(part in redacted(text) for part in secret.split())]
    assert len(missed) <= (len(seeds) * 0.01 if kind in BY_CHANCE else 0), missed


def test_at_least_100_kinds_of_credentials_are_tried() -> None:
    assert len(KINDS) >= 100


@pytest.mark.parametrize(("rule", "text"), REAL)
def test_what_is_called_a_secret_is_one(rule: str, text: str) -> None:
    assert [found.rule for found in secrets_in(text)] == [rule]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_placeholder_a_word_and_a_piece_of_code_are_no_secrets(text: str) -> None:
    assert secrets_in(text) == []


@pytest.mark.parametrize("text", [text for text, _ in SAMPLES])
def test_what_is_found_is_found_by_its_hint(text: str) -> None:
    assert may_hold(text.encode())


def test_places_are_counted_in_characters() -> None:
    key = KINDS["npm"](Maker(1))[1]
    text = f"Grüße 🚂 {key} und {key} für €"
    assert [text[found.start : found.end] for found in secrets_in(text)] == [key, key]
    assert redacted(text) == "Grüße 🚂 [redacted:npm-token] und [redacted:npm-token] für €"


def test_what_two_rules_find_is_one_secret_of_the_first_rule() -> None:
    _, secret = KINDS["npm"](Maker(1))
    assert [found.rule for found in secrets_in(f"NPM_TOKEN={secret}")] == ["npm-token"]
    first, second, third = Secret("a", 5, 9), Secret("b", 2, 6), Secret("c", 9, 10)
    assert apart([first, second, third]) == [Secret("a", 2, 9), third]
    assert apart([second, first]) == [Secret("b", 2, 9)]


def test_both_halves_of_an_aws_key_are_found_and_a_hash_beside_it_is_not() -> None:
    key, secret = Maker(4).aws().split()
    commit = "17fc7154167b7d6d6490aa6508db554fd6d7af24"
    assert redacted(f"{commit} {key}:{secret}") == f"{commit} [redacted:aws-access-key]:[redacted:aws-secret-key]"


PIECES = st.one_of(
    st.sampled_from([part for text, secret in SAMPLES for part in (text, secret, secret[:30], secret[30:])]),
    st.sampled_from([text for _, text in REAL] + HARMLESS),
    st.sampled_from([
        "password", "token", " is ", "=", ": ", "'", '"', "`", "\\", "\n", " ", "://", "@", "{", "]",
        "[redacted:token]", "ghp_", "é", "Bearer ", "-----BEGIN PRIVATE KEY-----", "--secret ", "\ud800",
    ]),
    st.text(max_size=8),
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=examples(400), deadline=None)
def test_after_a_redaction_nothing_is_found_and_without_a_secret_nothing_is_changed(text: str) -> None:
    found = secrets_in(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert secrets_in(redacted(text)) == []
    assert (redacted(text) == text) == (not found)


SLOW = [
    "password=", "token=token=", 'token="', "token='a token=\"", "password is ", "://a:", "a://b:c", "x://",
    "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----" + "A" * 30, "Bearer ", "curl -u a:",
    "AKIA" + "ABCDEFGHIJKLMNOP", "curl ", "--secret-", "secret for a b c ", "password for a of ", "passwordpassword",
    "a", " ", "abc123", "token=a1b2c3d4e5f6a7b8c9 ", "password=Zk39fQ18 ", "authorization: ", "token: a: a = ",
    "sk-" + "a" * 31 + "-", "password=[redacted:password]: ", "[redacted:token]=a1b2c3d4e5f6a7b8c9",
    "ghp_" + "aB3" * 12,
    "Cookie: ", "Cookie: a=b; ", "a=b; c=a1b2c3d4e5f6a7b8c9d0; ", "?sig=", "&signature=%", "machine a password ",
    "machine a login b ", "mysql ", "mysql -px ", "docker login ", "docker login -p a", "sshpass -p $a ", "://aaaaaaaaaaaaaaaa",
    "-----BEGIN PRIVATE KEY-----\nINFO " + "A" * 30, "-----BEGIN PRIVATE KEY-----\n x", "FERNET_KEY=", "A_KEY=PUBLIC_",
    "\x1b", "\x1b[31m", "\x1b[31mpassword=", "password=\x1b[31mZk39fQ18\x1b[0m ", "\x1b]8;;", "django-insecure-",
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("piece", SLOW)
def test_no_text_takes_longer_than_in_proportion_to_its_length(piece: str) -> None:
    text = piece * (MANY // len(piece))
    began = time.process_time()
    redacted(text)
    seconds = time.process_time() - began
    assert within(seconds, 3.0, time.process_time), seconds


def test_a_value_of_any_form_is_looked_at_with_its_keys() -> None:
    _, key = KINDS["npm"](Maker(1))
    value = {"a": ["x", {"b": key}], key: "x", "db": {"password": "vK3-29dfkW"}, "n": 3, "tags": ("ok", f"x {key}")}
    assert list(exposed(value)) == [
        Exposed("a[1].b", "npm-token", key),
        Exposed("[redacted:npm-token]", "npm-token", key),
        Exposed("db.password", "password", "vK3-29dfkW"),
        Exposed("tags[1]", "npm-token", key),
    ]
    clean = without_secrets(value)
    assert clean == {
        "a": ["x", {"b": "[redacted:npm-token]"}],
        "[redacted:npm-token]": "x",
        "db": {"password": "[redacted:password]"},
        "n": 3,
        "tags": ("ok", "x [redacted:npm-token]"),
    }
    assert list(exposed(clean)) == []


def test_what_a_row_holds_already_or_names_is_not_new_in_it() -> None:
    _, old = KINDS["npm"](Maker(1))
    _, new = KINDS["npm"](Maker(2))
    before = {"trigger": f"use {old}"}
    assert new_secrets({"trigger": "x", "alternates": [{"text": f"use {old}"}]}, before) == []
    assert [found.field for found in new_secrets({"trigger": f"use {old}", "fix": new}, before)] == ["fix"]
    assert new_secrets({"kind": "feedback", "ref": f"service/{old}"}, {}) == []


def test_the_error_says_where_the_secret_is_and_not_what() -> None:
    _, key = KINDS["npm"](Maker(1))
    error = refusal("failure", Exposed("fix", "npm-token", key))
    assert error.details == {"code": "secret", "field": "fix", "rule": "npm-token"}
    assert key not in f"{error.message}{error.hint}"
