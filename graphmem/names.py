"""
References, slugs, key texts and labels: how they are parsed and printed, nothing else.

A *reference* is ``kind/name`` or, for an entity, ``type/name``; it splits at its first ``/``.
A *key text* identifies a row of the ledger for ever; its SHA-256 decides where the row is in its file.
Source: docs/concepts/ledger.md, "Keys, names, references".
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Container, Mapping
from typing import Any

from graphmem.patterns import lazy_re

SLUG = lazy_re(r"[a-z0-9_.-]{1,120}")  # as files may hold it
GIVEN_SLUG = lazy_re(r"[a-z0-9][a-z0-9_.-]{0,119}")  # as a command takes it
TASK_NAME = lazy_re(r"[a-z0-9_.-]{1,120}/[0-9]{3}-[a-z0-9_.-]{1,120}")
DEVICE = lazy_re(r"(aux|con|nul|prn|(com|lpt)[0-9])(\..*)?", re.IGNORECASE)  # no file of Windows is called so
TYPE_NAME = lazy_re(r"[a-z][a-z0-9_]{0,63}")

# A command that a message says to run, where it names no store.
OWN_COMMAND = lazy_re(r"(^|: )graphmem (?=[a-z])(?!.*--user)")

LINE_CHARS = 300  # characters of a line of a message
MADE_SLUG_LENGTH = 60  # characters; a name made from a text is cut at a word below this
# The beginning of a closing tag, and of a tag such as clients put around what an agent is told.
TAGS = lazy_re(
    r"<(?=\s*/\s*[a-z]|(?:system|memory|assistant|human|user|instructions|tool[-_]|function[-_]|antml:)[\w:-]*[\s/>])",
    re.IGNORECASE,
)


def slug(text: str) -> str:
    """Return ``text`` as a slug below 60 characters, cut at a word; empty where nothing of it can be in one."""
    plain = text.casefold()
    if not plain.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    made = re.sub(r"[^a-z0-9_.]+", "-", plain).strip("-._")
    if len(made) < MADE_SLUG_LENGTH:
        return made
    cut = made[:MADE_SLUG_LENGTH]
    at_word = cut.rpartition("-")[0]
    return (at_word or cut[: MADE_SLUG_LENGTH - 1]).strip("-._")


def composed(text: str) -> str:
    """Return ``text`` in NFC, in which names, references and keys are compared: an é is one é however it was typed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def collapsed(text: str) -> str:
    """Return ``text`` in NFC with each run of white space as one space: two texts equal in this say the same."""
    return " ".join(composed(text).split())


def text_key(title: str, identity: str) -> str:
    """
    Return the key of a record whose identity is a text: its slug and six hex digits of its SHA-256.

    Args:
        title: the text that the slug is made of; a text without a letter or digit gives the digits alone.
        identity: the whole text, collapsed.
    """
    return "-".join(filter(None, (slug(title), mark(identity))))


def run_key(session: str | None, *what: str) -> str:
    """Return what runs of a command that settle each other share; as a hash, for a command line may hold a secret."""
    return hashlib.sha256(json.dumps([session, *what]).encode()).hexdigest()


def mark(text: str) -> str:
    """Return the first six hex digits of the SHA-256 of ``text``: what distinguishes two equal slugs."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def split_ref(ref: str) -> tuple[str, str]:
    """Split ``kind/name`` at its first ``/``; the kind is empty for a bare name."""
    record_type, slash, name = composed(ref).partition("/")
    return (record_type, name) if slash else ("", record_type)


def row_id(key_text: str) -> int:
    """
    Return the row's number in the catalog: the first 63 bits of the SHA-256 of its key text.

    So rows in the order of their numbers are in the order of the file, and a number needs no look-up.
    Two of a million rows share one with a chance of 1 in 20 million; the catalog refuses the second.
    """
    return int.from_bytes(hashlib.sha256(composed(key_text).encode()).digest()[:8], "big") >> 1


def edge_key(source: str, relation: str, target: str, *, symmetric: bool) -> str:
    """Return the key text of an edge between two references; a symmetric one has its ends in code-point order."""
    source, target = composed(source), composed(target)
    if symmetric and target < source:
        source, target = target, source
    return f"{source}\t{relation}\t{target}"


def row_key(row: Mapping[str, Any], symmetric: Container[str]) -> str:
    """
    Return the key text of a row: what identifies it for ever and, hashed, orders it in its file.

    Args:
        row: a row whose required fields are there.
        symmetric: the names of the symmetric relation types.
    """
    kind = row["kind"]
    if kind == "relation":
        return edge_key(row["from"], row["type"], row["to"], symmetric=row["type"] in symmetric)
    if kind in ("run", "event"):
        return str(row["run" if kind == "run" else "id"])
    if kind == "purge":
        return str(row["hash"])
    if kind == "feedback":
        return composed(f"{row['task']}\t{row['ref']}") if row.get("task") else row["id"]
    record_type = row["type"] if kind == "entity" else kind
    return composed(f"{record_type}/{row.get('key') or row['name']}")


def row_title(row: Mapping[str, Any]) -> str:
    """Return the name of a row for people: ``failure/import-error``, ``a -solves-> b``, ``a for ci/7``."""
    match row["kind"]:
        case "relation":
            return f"{row['from']} -{row['type']}-> {row['to']}"
        case "feedback":
            return f"{row['ref']} for {row['task']}" if row.get("task") else f"{row['ref']} ({row['id']})"
        case "entity":
            return f"{row['type']}/{row['name']}"
        case "purge":
            return f"purge/{row['hash'][:12]}"
    return f"{row['kind']}/{row['name'] if 'name' in row else row_key(row, ())}"


def label(type_name: str) -> str:
    """Return the graph's label of a kind or entity type: ``work_item`` gives ``WorkItem``."""
    return "".join(word[:1].upper() + word[1:] for word in type_name.split("_"))


def relation_label(type_name: str) -> str:
    """Return the graph's name of a relation type: ``child_of`` gives ``CHILD_OF``."""
    return type_name.upper()


def printable(text: str) -> bool:
    """Return whether ``text`` can be on one line of a terminal: no control characters, no line ends."""
    return text.isprintable() or not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text)


def visible(text: str) -> str:
    """Return ``text`` with what a terminal would obey and what is invisible as escapes; line ends stay."""
    if not has_hidden(text):
        return text
    return SHOWN_OR_HIDDEN.sub(lambda found: found[1].encode("unicode_escape").decode() if found[1] else found[0], text)


def one_line(text: str, most: int = LINE_CHARS) -> str:
    """Return a text on one line, with what is invisible as escapes; its beginning where it is longer than ``most``."""
    words = visible(" ".join(text.split()))
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def quoted(name: str) -> str:
    """Return a reference or a name as a line shows it; one that could pass for other words of the line as JSON."""
    is_plain = name.isprintable() and not set(name) & set(" \"'`[]")
    return name if is_plain else visible(json.dumps(name, ensure_ascii=False))


def inert(document: str) -> str:
    """Return a JSON document, the same value, with the characters that ``visible`` escapes as escapes of JSON."""
    if not has_hidden(document):
        return document
    return SHOWN_OR_HIDDEN.sub(lambda found: json.dumps(found[1])[1:-1] if found[1] else found[0], document)


def has_hidden(text: str) -> bool:
    """Return whether a text may hold characters to escape."""
    if text.isascii():  # ten times as fast as the expression
        return not text.replace("\n", " ").isprintable()
    return HIDDEN.search(text) is not None


# Control characters but the line end, lone surrogates, Unicode's category Cf (format), and what it calls
# Default_Ignorable_Code_Point: characters that have no width, such as tags, which hide instructions from a reviewer.
INVISIBLE = (
    r"\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    r"\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
EMOJI = r"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
JOINING = r"\u0620-\u06d5\u06ee-\u06ff\u0750-\u0dff\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa"  # Arabic, Indic, Khmer, …
HIDDEN = lazy_re(f"[{INVISIBLE}]")
# Words of some scripts and sequences of emoji are written with joiners and variation selectors, which stay.
SHOWN_OR_HIDDEN = lazy_re(
    rf"(?<=[{JOINING}])[\u200c\u200d](?=[{JOINING}])"
    rf"|(?<=[{EMOJI}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    rf"|(?<=[{EMOJI}\ufe0f])\u200d(?=[{EMOJI}])"
    rf"|(?<=[\u1820-\u18aa])[\u180b-\u180d]"
    rf"|([{INVISIBLE}])"
)


def for_user(text: str) -> str:
    """Return a text of the user's own store whose commands work on that store, and not on the project."""
    return OWN_COMMAND.sub(r"\1graphmem --user ", text)
