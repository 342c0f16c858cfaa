"""
What looks like a credential in a text: which rule says so, and where (docs/guides/secrets.md).

A rule is a pattern that RE2 finds in time linear in the text, and a judge of the value that it captured: a placeholder,
a word or a piece of code is no secret. RE2 is loaded only for a text that holds a hint of some rule.
"""

import binascii
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from graphmem.core.logs.line import ESCAPES
from graphmem.errors import Refused


class Secret(NamedTuple):
    """A part of a text that looks like a credential: which rule says so, its first character and the one behind it."""

    rule: str
    start: int
    end: int


class Exposed(NamedTuple):
    """A secret in a value: the field, as in ``tags[2]``, the rule, and the secret itself, which is never shown."""

    field: str
    rule: str
    text: str


Finder = Callable[[str], list[Secret]]


class Rule(NamedTuple):
    """How a kind of credential is written. One of the groups of the pattern is the secret."""

    name: str
    hints: tuple[bytes, ...]  # a text without any of them, in any case, holds none
    pattern: bytes
    is_real: Callable[[bytes], bool]
    is_code: bool = False  # brackets behind the value make it an expression of a programming language
    unless: bytes = b""  # a pattern: names in front of the value that say that it is no secret


# --- judges ----------------------------------------------------------------------------------------------------------

# Words of which placeholders are made, with the digits and signs between them.
TRIVIAL = (
    rb"(?i)p[a4@][s$5][s$5]w[o0]rd[!?.]*|(?i)(?:a|an|and|the|my|your|our|some|any|new|old|is|in|of|for|to|here|not|no|set|use|this|that|it|db|dev|prod|"
    rb"local|host|localhost|test|tests|testing|tester|demo|dummy|fake|mock|sample|example|user|username|name|admin|"
    rb"administrator|root|guest|owner|default|pass|passwd|password|passphrase|pwd|pw|secret|"
    rb"secrets|s3cr3t|secure|super|strong|token|tokens|key|keys|api|auth|access|private|public|client|server|service|"
    rb"account|value|string|text|str|bytes|none|null|nil|undefined|true|false|empty|missing|required|invalid|wrong|"
    rb"valid|correct|change|changeme|me|todo|tbd|placeholder|redacted|removed|hidden|masked|foo|bar|baz|qux|hello|world|"
    rb"qwerty|letmein|hunter2|welcome|abc|abcd|xyz|postgres|postgresql|mysql|mariadb|mongo|mongodb|redis|rabbit|rabbitmq|minio|"
    rb"minioadmin|app|web|env|config|base64|encoded|hash|hashed|sha1|sha256|sha512|md5|utf8|bcrypt|argon2|argon2id|"
    rb"pbkdf2|oauth2|jwt|bearer|basic|x|[0-9_.!@#$%*?+/-])+"
)
# What an example holds, and no secret.
FILLERS = (
    b"xxxx", b"****", b"...", b"000000", b"111111", b"12345", b"abcdef", b"example", b"placeholder", b"redacted",
    b"changeme", b"change-me", b"change_me", b"your-", b"your_", b"dummy", b"insert", b"replace", b"environ", b"getenv",
    b"process.env", b"deadbeef",
)  # fmt: skip
EXPANDED = (b"$", b"%", b"~", b".", b"<", b"@", b"{")  # what a variable, a path or a gap begins with
FEW = 5  # different characters; a value with fewer is a filler
LONG = 16  # characters from which a value may be a key that nobody chose
LONG_HEX = 20  # the same, of hexadecimal digits
LONG_SHUFFLED = 30  # the same, of a value that has hardly any digits
FEW_ALONE = 2  # small letters between two capitals, from which such a value looks random
CHANGES = 3  # from a letter to a digit or back, from which it looks random
SIGNS = frozenset(b"!@#$%^*?~+&")
DIGITS = frozenset(b"0123456789")
AWS_LENGTH = 40
UUID_LENGTH, UUID_SIGNS = 36, (8, 13, 18, 23)


def is_token(value: bytes) -> bool:
    """Return whether a value is more than a filler, such as the place of a secret in an example."""
    low = value.lower()
    if len(set(low)) < FEW or low.startswith(EXPANDED) or any(filler in low for filler in FILLERS):
        return False
    return _compiled(TRIVIAL).fullmatch(value) is None


def _is_password(value: bytes) -> bool:
    """Return whether a value that is called a password is one, and no word."""
    bare = value.rstrip(b"!?.")
    if bare.startswith(b"/"):  # a path
        return False
    digits, signs = sum(byte in DIGITS for byte in bare), sum(byte in SIGNS for byte in bare)
    return _has_letter(bare) and (digits > 0 or signs > 1) and is_token(value)


def _is_given(value: bytes) -> bool:
    """Return whether what an option of a program or a file gives as a password is one; a single word is prose."""
    is_word = value.isalpha() and (value.islower() or value.isupper() or value.istitle())
    return _has_letter(value) and not is_word and not value.startswith((b"-", b"/")) and is_token(value)


def _is_password_in_url(value: bytes) -> bool:
    """Return whether the text before the host of a URL is a password and not a port."""
    return _has_letter(value) and is_token(value)


def _is_random(value: bytes) -> bool:
    """Return whether a value that is called a token or a key looks like one: long, with digits among its letters."""
    if len(value) < LONG or not is_token(value):
        return False
    if _compiled(rb"[\w.$+-]+@[\w.-]+").fullmatch(value) is not None:  # a Java object, an address
        return False
    if len(value) < LONG_HEX and DIGITS.union(b"abcdef").issuperset(value):  # a short hash
        return False
    if b"." in value and any(part.isalpha() and len(part) > 2 for part in value.split(b".")):  # a name in code
        return False
    kinds = [byte in DIGITS if chr(byte).isalnum() else None for byte in value]
    changes = sum({one, other} == {True, False} for one, other in pairwise(kinds))
    if b"/" in value:  # a path, or base 64
        return b"." not in value and not value.islower() and (changes > CHANGES or _is_shuffled(value))
    return changes >= CHANGES or _is_uuid(value) or _is_shuffled(value)


def _is_shuffled(value: bytes) -> bool:
    """Return whether the case of letters changes as in no name: a small letter alone between two capitals, twice."""
    text = value.decode("latin-1")
    alone = sum(a.isupper() and b.islower() and c.isupper() for a, b, c in zip(text, text[1:], text[2:], strict=False))
    return len(value) >= LONG_SHUFFLED and alone >= FEW_ALONE


def _is_aws_secret(value: bytes) -> bool:
    """Return whether a value is like the secret half of an AWS key: 40 characters, of both cases and with a digit."""
    is_mixed = value != value.lower() and value != value.upper() and not DIGITS.isdisjoint(value)
    return len(value) == AWS_LENGTH and is_mixed and is_token(value)


def _is_signature(value: bytes) -> bool:
    """Return whether a part of a URL is a signature, which may begin with an escape."""
    return _is_random(value.lstrip(b"%"))


def _is_cookie(value: bytes) -> bool:
    """Return whether one of the cookies of a header has a random value."""
    return any(_is_signature(pair.partition(b"=")[2].strip()) for pair in value.split(b";"))


def _is_numbered(value: bytes) -> bool:
    """Return whether a value that could be names in code has digits in it."""
    return not DIGITS.isdisjoint(value) and is_token(value)


def _is_private_key(value: bytes) -> bool:
    """Return whether one of the lines of a key in PEM is one, whatever else is written beside them."""
    return any(is_token(line) for line in _compiled(rb"[A-Za-z0-9+/=]{24,}").findall(value))


def _is_basic(value: bytes) -> bool:
    """Return whether a header of basic authentication holds the password of a user."""
    try:
        user, colon, password = binascii.a2b_base64(value + b"=" * (-len(value) % 4)).partition(b":")
    except binascii.Error:
        return False
    return bool(colon) and user.isascii() and is_token(password)


def _has_letter(value: bytes) -> bool:
    """Return whether a value has a letter of the alphabet."""
    return value.upper() != value.lower()


def _is_uuid(value: bytes) -> bool:
    """Return whether a value is a UUID, which some providers give as a key."""
    return len(value) == UUID_LENGTH and all(value[place] == ord("-") for place in UUID_SIGNS)


# --- rules -----------------------------------------------------------------------------------------------------------

PASSWORD = rb"(?:pass(?:word|wd|phrase|code)|[_-]pass|pwd)"
TOKEN = (
    rb"(?:secret|token|credentials?|(?:api|access|account|auth|client|private|secret|signing|encryption|master|shared|"
    rb"service|webhook|deploy|license|app|application|admin|fernet|datadog)[ _-]?key(?:[ _-]data)?)"
)
VARIABLE = rb"(?-i:[A-Z0-9]_KEY)"  # the end of the name of a variable
PUBLIC = rb"(?i)(?:public|publishable|primary|foreign|cache|sort|partition|group|host|idempotency)_key"
PASSWORD_HINTS = (b"passw", b"passphrase", b"passcode", b"_pass", b"-pass", b"pwd")
TOKEN_HINTS = (b"secret", b"token", b"credential", b"key")
TYPED = rb"(?:[ \t]{0,4}:[ \t]{0,4}[a-z_][\w.]{0,40}[ \t]{0,4}=|[ \t]{0,8}(?::=|=>|={1,3}|:))"  # `: str =`, `=`, `:`
VALUE = rb"[bfru]{0,2}\\?[\"'`]([^\s\"'`\\]{6,})\\?[\"'`]|(?:base64:)?([^\s\"'`,;<>(){}\[\]\\|=:]{6,}={0,2})"

HEADER = rb"(?i)(?:^|[^a-z0-9])authorization[\"'`\\]{0,2}[ \t]*[:=][ \t]*\\?[\"'`]?"


COOKIES = rb"[^\s:;=\"'`\\<>]+=[^\s:;\"'`\\<>]+(?:;[ \t]*[^\s:;\"'`\\<>]+)*"

PEM = rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
PEM_HEAD = rb"(?:\s|\\[nrt]|(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]*)*"
PEM_END = rb"-----END [A-Z0-9 ]{0,40}-----"
NEXT = rb"\\?[\"']?(?:\r?\n|(?:\\r)?\\n)[^\n\\]{0,160}?"  # the next line, and what a logger puts in front
LOGGED_KEY = (
    rb"(?:" + NEXT + rb"[A-Za-z0-9+/]{24,}={0,2}[ \t]*)+(?:(?:" + NEXT + rb"[A-Za-z0-9+/=]+)?" + NEXT + PEM_END + rb")?"
)

PUTTY = rb"(?:" + NEXT + rb"[A-Za-z0-9+/]{24,}={0,2}[ \t]*)+(?:" + NEXT + rb"[A-Za-z0-9+/]+={0,2}(?:\s|$))?"

LOGIN = (
    rb"\b(?:(?:docker|podman|buildah|skopeo|oras|nerdctl|acr|registry)[ \t]+login|sshpass|mongo[a-z]*)\b[^\n]*?[ \t]-p"
)
CLIENT = rb"\bredis-cli\b[^\n]*?[ \t]-a|\bldap[a-z]+\b[^\n]*?[ \t]-w"
MYSQL = rb"\b(?:mysql|mariadb)[a-z-]*\b[^\n]*?[ \t]-p"  # a blank behind it would begin the name of a database


def named(name: bytes) -> bytes:
    """Return the pattern of a value whose name says that it is a secret."""
    return rb"(?i)" + name + rb"(?:\\?[\"'`]\]?)?" + TYPED + rb"[ \t]{0,8}(?:" + VALUE + rb")"


def _option(name: bytes) -> bytes:
    """Return the pattern of a secret that is the value of an option."""
    return rb"(?i)--(?:[a-z0-9]+-)*" + name + rb"[ \t]+(?:" + VALUE + rb")"


def _sentence(name: bytes) -> bytes:
    """Return the pattern of a sentence that says what a secret is."""
    about = rb"(?:[ \t]+(?:for|of|to|on|in)(?:[ \t]+[\w.@/-]{1,40}){1,3})?"
    return rb"(?i)\b" + name + about + rb"[ \t]+(?:is|was)(?:[ \t]+now)?:?[ \t]+(?:" + VALUE + rb")"


def _prefixed(name: str, hints: str, pattern: str) -> Rule:
    """Return the rule for a token that is known by how its provider begins it."""
    between = "[^A-Za-z0-9]"
    return Rule(name, tuple(hints.encode().split()), f"(?:^|{between})({pattern})(?:{between}|$)".encode(), is_token)


RULES = (
    _prefixed("aws-access-key", "AKIA ASIA ABIA ACCA", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    _prefixed(
        "github-token",
        "ghp_ gho_ ghs_ ghu_ ghr_ github_pat_",
        "gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{36,}",
    ),
    _prefixed(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glsoat- glft- glimt- glagent- gloas-",
        "gl(?:pat|dt|rt|cbt|ptt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{20,}",
    ),
    _prefixed("slack-token", "xox xapp-", "xox[abeoprs]-[A-Za-z0-9-]{16,}|xapp-[0-9]-[A-Za-z0-9-]{32,}"),
    _prefixed(
        "webhook",
        "hooks.slack.com /webhook",
        r"hooks\.slack\.com/(?:services|workflows)/[A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9/]{16,}"
        r"|discord(?:app)?\.com/api/webhooks/[0-9]{6,}/[A-Za-z0-9_-]{32,}"
        r"|[a-z0-9.-]{1,80}\.office(?:365)?\.com/webhook[a-z0-9]{0,4}/[A-Za-z0-9@-]{30,}/[A-Za-z0-9/-]{16,}",
    ),
    _prefixed("stripe-key", "k_live_ k_test_ whsec_", "[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}"),
    _prefixed("anthropic-key", "sk-ant-", "sk-ant-[A-Za-z0-9_-]{24,}"),
    _prefixed("openai-key", "sk-", "sk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{24,}|[A-Za-z0-9]{32,})"),
    _prefixed(
        "google-key",
        "AIza GOCSPX- ya29.",
        r"AIza[A-Za-z0-9_-]{35,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{30,}",
    ),
    _prefixed("huggingface-token", "hf_ api_org_", "(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _prefixed("npm-token", "npm_", "npm_[A-Za-z0-9]{36,}"),
    _prefixed("pypi-token", "pypi-AgE", "pypi-AgE[A-Za-z0-9_-]{50,}"),
    _prefixed("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}"),
    _prefixed("twilio-key", "SK", "SK[0-9a-f]{32}"),
    _prefixed("digitalocean-token", "_v1_", "do[opr]_v1_[a-f0-9]{64}"),
    _prefixed("docker-token", "dckr_", "dckr_[op]at_[A-Za-z0-9_-]{20,}"),
    _prefixed("databricks-token", "dapi", "dapi[0-9a-f]{32}"),
    _prefixed("shopify-token", "shp", "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _prefixed("vault-token", "hvs. hvb. hvr.", r"hv[bsr]\.[A-Za-z0-9_-]{24,}"),
    _prefixed("telegram-token", ":AA", "[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    _prefixed("notion-token", "ntn_ secret_", "(?:ntn|secret)_[A-Za-z0-9]{40,}"),
    _prefixed("linear-key", "lin_api_", "lin_api_[A-Za-z0-9]{32,}"),
    _prefixed("grafana-token", "glsa_ glc_", "gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}"),
    _prefixed("groq-key", "gsk_", "gsk_[A-Za-z0-9]{40,}"),
    _prefixed("replicate-token", "r8_", "r8_[A-Za-z0-9]{32,}"),
    _prefixed("atlassian-token", "ATATT3", "ATATT3[A-Za-z0-9_=-]{60,}"),
    _prefixed("mailchimp-key", "-us", "[0-9a-f]{32}-us[0-9]{1,2}"),
    _prefixed("age-key", "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _prefixed("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}"),
    _prefixed("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{10,}\.atlasv1\.[A-Za-z0-9_-]{40,}"),
    _prefixed("supabase-key", "sbp_ sb_secret_", "sbp_[a-f0-9]{40,}|sb_secret_[A-Za-z0-9_-]{20,}"),
    _prefixed("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,}"),
    _prefixed("postman-key", "PMAK-", "PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _prefixed("figma-token", "figd_ figdr_ figo_", "fig(?:dr?|o)_[A-Za-z0-9_-]{30,}"),
    _prefixed("pulumi-token", "pul-", "pul-[a-f0-9]{40}"),
    _prefixed(
        "fly-token", "fo1_ fm1_ fm1r_ fm1a_ fm2_", "fo1_[A-Za-z0-9_-]{40,}|fm(?:1[ar]?|2)_[A-Za-z0-9+/_-]{64,}={0,2}"
    ),
    _prefixed("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", "sntry[a-z]_[A-Za-z0-9+/=_-]{40,}"),
    _prefixed("mapbox-token", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    _prefixed("artifactory-key", "AKCp cmVmdGtu", "AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{48,}"),
    _prefixed("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _prefixed("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", "nf[bcopu]_[A-Za-z0-9]{36,}"),
    _prefixed("heroku-key", "HRKU-", "HRKU-[A-Za-z0-9_-]{36,}"),
    Rule(
        "discord-token",
        (b"discord", b"bot"),
        rb"(?:^|[^A-Za-z0-9])([MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})(?:[^A-Za-z0-9]|$)",
        _is_numbered,
    ),
    _prefixed("tailscale-key", "tskey-", "tskey-[a-z]{2,12}-[A-Za-z0-9-]{20,}"),
    _prefixed("newrelic-key", "NRAK- NRII- NRJS-", "NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,}"),
    _prefixed("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth|app_secret)_[A-Za-z0-9_.=-]{32,}"),
    _prefixed("rubygems-key", "rubygems_", "rubygems_[a-f0-9]{48}"),
    _prefixed("square-token", "sq0 EAAA", "sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{58,}"),
    _prefixed(
        "onepassword-token",
        "ops_eyJ A3-",
        "ops_eyJ[A-Za-z0-9+/_-]{100,}={0,2}|A3(?:-[A-Z0-9]{5,6}){2}(?:-[A-Z0-9]{5}){4}",
    ),
    _prefixed("okta-token", "SSWS", "SSWS[ \\t:]+[A-Za-z0-9_-]{30,}"),
    Rule("django-key", (b"django-insecure-",), rb"(django-insecure-[^\s\"'`\\]{20,})", is_token),
    Rule(
        "private-key",
        (b"PRIVATE KEY",),
        rb"(" + PEM + PEM_HEAD + rb"[A-Za-z0-9+/=]{24,}[A-Za-z0-9+/=\s\\]*(?:" + PEM_END + rb")?)",
        _is_private_key,
    ),
    Rule("private-key", (b"PRIVATE KEY",), rb"(" + PEM + LOGGED_KEY + rb")", _is_private_key),
    Rule("private-key", (b"Private-Lines",), rb"Private-Lines:[ \t]*\d{1,4}(" + PUTTY + rb")", _is_private_key),
    Rule(
        "url-password",
        (b"://",),
        rb"(?i)\b[a-z][a-z0-9+.-]*://[^\s/?#:@\"'`<>\\]*:([^\s/@\"'`<>\\]{3,})@[a-z0-9.\[{$%<_-]",
        _is_password_in_url,
    ),
    Rule("url-token", (b"://",), rb"https?://([^\s/?#:@\"'`<>\\]{16,})@[a-zA-Z0-9.\[]", _is_random),
    Rule(
        "signed-url",
        (b"sig=", b"signature=", b"security-token="),
        rb"(?i)(?:[?&;]|\\u0026)(?:sig|(?:x-[a-z]+-)?signature|x-amz-security-token)=([A-Za-z0-9%+/_=-]{16,})",
        _is_signature,
    ),
    Rule(
        "cookie",
        (b"cookie",),
        rb"(?i)(?:^|[^a-z0-9])(?:(?:set-)?cookie[\"'`\\]{0,2}[ \t]*:|--cookie[ \t=])[ \t]*\\?[\"'`]?("
        + COOKIES
        + rb")",
        _is_cookie,
    ),
    Rule(
        "netrc-password",
        (b"password",),
        rb"(?i)\bmachine\s+[^\s]{1,200}\s+(?:login\s+[^\s]{1,200}\s+)?password\s+([^\s\"'`\\]{6,})",
        _is_given,
    ),
    Rule("docker-auth", (b"auth",), rb"\\?\"auth\\?\"\s*:\s*\\?\"([A-Za-z0-9+/]{8,}={0,2})", _is_basic),
    Rule("wifi-key", (b"psk",), rb"(?i)\bpsk[ \t]*=[ \t]*(?:\\?\"([^\"\\\n]{8,63})|([0-9a-f]{64}))", _is_given),
    Rule("bearer", (b"bearer",), rb"(?i)\bbearer[ \t:]+[\"'`]?([A-Za-z0-9._~+/-]{16,}=*)", _is_random),
    Rule(
        "basic-auth",
        (b"authorization",),
        HEADER + rb"basic[ \t]+([A-Za-z0-9+/]{8,}={0,2})",
        _is_basic,
    ),
    Rule(
        "authorization",
        (b"authorization",),
        HEADER + rb"(?:[a-z]{3,12}[ \t]+)?([A-Za-z0-9._~+/-]{16,}=*)",
        _is_random,
    ),
    Rule(
        "curl-password",
        (b"curl",),
        rb"(?i)\bcurl\b[^\n]*?[ \t](?:-u|--user)[ \t=]*[\"']?[^\s:\"'$]+:([^\s\"']{6,})",
        _is_password,
    ),
    Rule(
        "command-password",
        (b"login", b"sshpass", b"mongo", b"redis-cli", b"ldap"),
        rb"(?:" + LOGIN + rb"|" + CLIENT + rb")[ \t=]*[\"']?([^\s\"'`\\]{6,})",
        _is_given,
    ),
    Rule("command-password", (b"mysql", b"mariadb"), MYSQL + rb"[\"']?([^\s\"'`\\]{6,})", _is_given),
    Rule("aws-secret-key", (b"secret",), named(rb"secret[ _-]?(?:access[ _-]?)?key"), _is_aws_secret),
    Rule("password", PASSWORD_HINTS, named(PASSWORD), _is_password, is_code=True),
    Rule("password", PASSWORD_HINTS, _option(PASSWORD), _is_password, is_code=True),
    Rule("password", PASSWORD_HINTS, _sentence(PASSWORD), _is_password, is_code=True),
    Rule("token", TOKEN_HINTS, named(TOKEN), _is_random, is_code=True),
    Rule("token", (b"_key",), named(VARIABLE), _is_random, is_code=True, unless=PUBLIC),
    Rule("token", TOKEN_HINTS, _option(TOKEN), _is_random, is_code=True),
    Rule("token", TOKEN_HINTS, _sentence(TOKEN), _is_random, is_code=True),
)
HINTS = tuple(dict.fromkeys(hint for rule in RULES for hint in rule.hints))
PLACES = [[place for place, rule in enumerate(RULES) if hint in rule.hints] for hint in HINTS]  # of the rules of each
BRACKETS = (b"(", b"[", b"{")
NAMED = frozenset({"kind", "from", "to", "ref"})  # fields of rows that hold no text of their own
NEAR_NAME = 16  # bytes in front of a match that belong to a name
NEAR_BYTES = 200  # of an AWS key's id, within which its secret half is looked for
AWS_SECRET = rb"(?:^|[^A-Za-z0-9/+=])([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"


@cache
def _compiled(pattern: bytes) -> Any:
    """Return a pattern of RE2, which finds bytes."""
    import re2  # noqa: PLC0415 - 8 ms that only a text with a hint costs

    return re2.compile(pattern)


@cache
def _hint_set() -> Any:
    """Return what finds the hints of rules in a text, all in one pass."""
    import re2  # noqa: PLC0415 - as above

    options = re2.Options()
    options.case_sensitive, options.literal = False, True
    found = re2.Set.SearchSet(options)
    for hint in HINTS:
        found.Add(hint)
    found.Compile()
    return found


# --- texts -----------------------------------------------------------------------------------------------------------


def may_hold(data: bytes) -> bool:
    """Return whether a text or a line of JSON may hold a secret: for most lines the answer is no, in a microsecond."""
    return bool(_hint_set().Match(data))


def _hinted(data: bytes) -> list[Rule]:
    """Return the rules that may find something in a text."""
    places = {place for number in _hint_set().Match(data) or () for place in PLACES[number]}
    return [RULES[place] for place in sorted(places)]


def secrets_in(text: str) -> list[Secret]:
    """Return what looks like a credential in a text, in order; what two rules find is of the first of them."""
    if "\x1b" in text:
        bare, place = _without_escapes(text)
        return [Secret(rule, place(start), place(end - 1) + 1) for rule, start, end in secrets_in(bare)]
    data = text.encode("utf-8", "surrogatepass")
    found = [secret for rule in _hinted(data) for secret in _found_by(rule, data)]
    found += [half for secret in found if secret.rule == "aws-access-key" for half in _aws_secrets(data, secret)]
    return in_characters(text, data, apart(found)) if found else []


def _without_escapes(text: str) -> tuple[str, Callable[[int], int]]:
    """Return a text without the colours of a terminal, and what says where a character of it is in the whole text."""
    parts, starts, removed, at = list[str](), [0], [0], 0
    for match in ESCAPES.finditer(text):
        parts.append(text[at : match.start()])
        starts.append(starts[-1] + len(parts[-1]))
        removed.append(removed[-1] + match.end() - match.start())
        at = match.end()
    bare = "".join([*parts, text[at:]]).replace("\x1b", " ")
    return bare, lambda place: place + removed[bisect_right(starts, place) - 1]


def _found_by(rule: Rule, data: bytes) -> Iterator[Secret]:
    """Yield what a rule finds; after a value that is not a secret, the search goes on inside of it."""
    pattern, place = _compiled(rule.pattern), 0
    while match := pattern.search(data, place):
        group = 1 if match.group(1) is not None else 2
        start, end = match.span(group)
        is_code = rule.is_code and data.startswith(BRACKETS, end)
        is_named = rule.unless and _compiled(rule.unless).search(data, max(0, match.start() - NEAR_NAME), start)
        is_real = not is_code and not is_named and rule.is_real(match.group(group))
        if is_real:
            yield Secret(rule.name, start, end)
        place = end if is_real else max(start, match.start() + 1)


def _aws_secrets(data: bytes, key: Secret) -> Iterator[Secret]:
    """Yield what is written beside the id of an AWS key and looks like its secret half."""
    first = max(0, key.start - NEAR_BYTES)
    for match in _compiled(AWS_SECRET).finditer(data[first : key.end + NEAR_BYTES]):
        if _is_aws_secret(match.group(1)):
            yield Secret("aws-secret-key", first + match.start(1), first + match.end(1))


def apart(found: Collection[Secret]) -> list[Secret]:
    """Return secrets in the order of the text; those that overlap become one, of the rule that came first."""
    ranked: list[tuple[int, Secret]] = []
    for place, secret in sorted(enumerate(found), key=lambda pair: (pair[1].start, pair[0])):
        if not ranked or secret.start >= ranked[-1][1].end:
            ranked.append((place, secret))
            continue
        before, last = ranked[-1]
        rule = last.rule if before < place else secret.rule
        ranked[-1] = min(before, place), Secret(rule, last.start, max(last.end, secret.end))
    return [secret for _, secret in ranked]


def in_characters(text: str, data: bytes, found: list[Secret]) -> list[Secret]:
    """Return secrets whose places are in bytes with places in characters."""
    if len(text) == len(data):
        return found
    made, at, characters = list[Secret](), 0, 0
    for secret in found:
        start = characters + len(data[at : secret.start].decode("utf-8", "surrogatepass"))
        characters = start + len(data[secret.start : secret.end].decode("utf-8", "surrogatepass"))
        at = secret.end
        made.append(Secret(secret.rule, start, characters))
    return made


def redacted(text: str, find: Finder = secrets_in) -> str:
    """Return a text with ``[redacted:RULE]`` in the place of each secret."""
    while found := find(text):
        parts, at = list[str](), 0
        for secret in found:
            parts += [text[at : secret.start], f"[redacted:{secret.rule}]"]
            at = secret.end
        text = "".join([*parts, text[at:]])
    return text


# --- values ----------------------------------------------------------------------------------------------------------


def exposed(value: object, field: str = "", called: str = "", find: Finder = secrets_in) -> Iterator[Exposed]:
    """
    Yield the secrets in a JSON value, the keys of objects included.

    Args:
        field: what the value is called in messages.
        called: the key that the value has in an object, which may say that it is a secret.
        find: what finds them in a text.
    """
    if isinstance(value, str):
        name = f"{called}=" if called else ""
        for rule, start, end in find(name + value):
            if end > len(name):
                yield Exposed(field, rule, value[max(0, start - len(name)) : end - len(name)])
    elif isinstance(value, Mapping):
        for key, part in value.items():
            shown = _shown_key(str(key))
            inner = f"{field}.{shown}" if field else shown
            if shown != key:
                yield from exposed(str(key), inner, find=find)
            yield from exposed(part, inner, str(key), find)
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from exposed(part, f"{field}[{place}]", called, find)


@lru_cache(1024)  # rows have the same few
def _shown_key(key: str) -> str:
    """Return the key of an object for a message."""
    return redacted(key)


def without_secrets(value: Any, called: str = "", find: Finder = secrets_in) -> Any:
    """Return a JSON value with ``[redacted:RULE]`` in the place of each secret."""
    if isinstance(value, str):
        name = redacted(f"{called}=") if called else ""
        return redacted(name + value, find).removeprefix(name)
    if isinstance(value, Mapping):
        return {redacted(str(key), find): without_secrets(part, str(key), find) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(without_secrets(part, called, find) for part in value)
    return value


def new_secrets(row: Mapping[str, object], before: Mapping[str, object], find: Finder = secrets_in) -> list[Exposed]:
    """Return the secrets in a row that the row in its place did not hold; what it names is there already."""
    found = list(exposed({name: value for name, value in row.items() if name not in NAMED}, find=find))
    held = {one.text for one in exposed(before)} if found else set()
    return [one for one in found if one.text not in held]


def refusal(what: str, found: Exposed) -> Refused:
    """Return the error for a secret; it says where it is and of which kind, and never what it is."""
    return Refused(
        f"{what}: {found.field} looks like it holds a secret ({found.rule}); nothing was written",
        hint="leave it out, and say where it is kept; GRAPHMEM_STORE_SECRETS=redact keeps the rest",
        details={"code": "secret", "field": found.field, "rule": found.rule},
    )
