"""
Advice that is unsafe to follow: it runs what it fetches, switches a check off, or takes rights.

A memory comes with a branch and may be anybody's. Such advice can be right, so it is marked and not refused
(docs/guides/doubts.md).
"""

import re
from functools import cache, lru_cache
from typing import Any, NamedTuple

from graphmem.kernel.model import MemoryRecord
from graphmem.names import collapsed
from graphmem.patterns import lazy_re

ADVICE = {"failure": "fix", "pattern": "insight", "lesson": "description"}  # the field of a memory that says what to do
SHOWN = 60  # characters of what was found
BEFORE = 80  # characters that are looked at for a word against it
_FETCH = r"(?:curl|wget|aria2c|lynx|iwr|irm|Invoke-WebRequest|Invoke-RestMethod|(?:fetch|https?)\s[^\n|;]*://)\b"
_SHELL = (
    r"(?:[\w./-]*/)?(?:(?:ba|z|k|c|da|a|fi)?sh|pwsh|powershell|cmd|python[\d.]*|perl|ruby|node|deno|bun|php|lua|iex|"
    r"Invoke-Expression|source)\b"
)
_PREFIX = r"(?:sudo(?:\s+-\S+)*\s+|doas\s+|env(?:\s+\S+=\S+)*\s+|exec\s+|nohup\s+)*"


class Unsafe(NamedTuple):
    """A form of unsafe advice: what it does, and how it is written."""

    does: str
    pattern: str


FORMS = (
    Unsafe("runs what it fetches", rf"{_FETCH}[^|\n`;]*\|(?:[^|\n`;]*\|)?\s*{_PREFIX}{_SHELL}"),
    Unsafe("runs what it fetches", rf"(?:{_SHELL}|\beval|(?:^|\s)\.)\s[^\n;|]*(?:<\(|\$\(|`|\()\s*{_FETCH}"),
    Unsafe(
        "runs what it fetches",
        rf"{_FETCH}[^\n]*?://[^\n]*?(?:&&|;)\s*{_PREFIX}(?:{_SHELL}\s+[^\s-]|\./\S|chmod\s+\S*x)",
    ),
    Unsafe(
        "runs what it fetches",
        r"(?:\biex\b|Invoke-Expression|\beval\b|\bexec)[^\n]*(?:DownloadString|urlopen|requests\.get)",
    ),
    Unsafe(
        "switches a check off",
        r"\b(?:curl|wget|http)\b[^\n|;]*\s(?:-[A-Za-z]*k[A-Za-z]*|--insecure|--no-check-certificate)\b",
    ),
    Unsafe(
        "switches a check off",
        r"(?:ssl[_.]?verify\w*|strict[-_]ssl|VERIFYPEER|VERIFYHOST|rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED"
        r"|PYTHONHTTPSVERIFY|\bverify_(?:ssl|certs?)|StrictHostKeyChecking|check_hostname|gpgcheck|GOSUMDB)"
        r"(?:[=:,]\s*|\s+)[\"']?(?:0|no|off|none|false|never)\b|\bverify(?: ?= ?|: )(?:false|0)\b",
    ),
    Unsafe(
        "switches a check off",
        r"GIT_SSL_NO_VERIFY|InsecureSkipVerify[:=]\s*true|--(?:no-gpg-checks?|nogpgcheck|allow-unauthenticated"
        r"|trusted-host|no-verify-ssl|insecure-registry|skip-tls-verify|insecure-skip-tls-verify|no-strict-ssl)\b"
        r"|-SkipCertificateCheck|_create_unverified_context|CERT_NONE|ServerCertificateValidationCallback"
        r"|GONOSUMCHECK|GOINSECURE|trust-?all-?cert",
    ),
    Unsafe(
        "takes rights",
        r"\bchmod\s+(?:-\S+\s+)*(?:[0-7]?777|[2467][0-7]{3}|[ugoa]*\+\w*s|(?:a|o|ugo)?[+=]rwx)\b"
        r"|\bsetenforce\s+0\b|\bNOPASSWD\b|/etc/sudoers|--privileged\b|--cap-add[= ](?:ALL|SYS_ADMIN)"
        r"|usermod\s[^\n]*\b(?:docker|sudo|wheel)\b|\bxhost\s+\+|ExecutionPolicy\s+(?:Bypass|Unrestricted)"
        r"|csrutil\s+disable|spctl\s+--(?:master|global)-disable|\bufw\s+disable\b|\biptables\s+-F\b"
        r"|\bcluster-admin\b|docker\.sock:",
    ),
)
# Before it in its sentence: advice against it. A quotation mark or a colon may stand between.
AGAINST = lazy_re(
    r"\b(?:no|not|never|don'?t|do not|avoid|without|instead of|rather than|stop|remove[sd]?|drop(?:ped)?|replace[sd]?"
    r"|forbid|refuse[sd]?|unsafe|dangerous|nunca|nicht|nie|jamais|pas|не)\b[^.!?\n]{0,60}$",
    re.IGNORECASE,
)


@cache
def _patterns() -> tuple[Any, list[tuple[str, Any]]]:
    """Return what finds any of the forms, and what finds each; all take time in proportion to the text."""
    import re2  # noqa: PLC0415 - 8 ms that few commands need

    whole = "|".join(f"(?:{form.pattern})" for form in FORMS)
    return re2.compile(f"(?i){whole}"), [(form.does, re2.compile(f"(?i){form.pattern}")) for form in FORMS]


@lru_cache(4_096)  # a record is shown again and again
def unsafe(text: str) -> tuple[tuple[str, str], ...]:
    """Return what a text advises that is unsafe, each sort once: what it does, and the words."""
    whole, patterns = _patterns()
    found: dict[str, str] = {}
    for does, pattern in patterns if whole.search(text) else ():
        for one in pattern.finditer(text):
            if does not in found and not AGAINST.search(text[max(0, one.start() - BEFORE) : one.start()]):
                found[does] = collapsed(one[0])[:SHOWN]
    return tuple(found.items())


def unsafe_advice(record: MemoryRecord) -> list[tuple[str, str]]:
    """Return what a memory advises that is unsafe, in its own texts and in those that were set aside."""
    found: dict[str, str] = {}
    for text in record.texts(ADVICE[record.kind]):
        found |= dict(unsafe(text))
    return [*found.items()]
