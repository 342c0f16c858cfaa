"""
GitHub: issues as ``gh issue`` prints them, review comments of its REST API, review threads of its GraphQL API.

Answers of several pages may follow each other or be in one list. Nothing here becomes a record: it is heard, and what
is to be learned of it waits for a review.
"""

import json
from collections.abc import Iterator
from typing import Any

from graphmem.constants import IMPORT_BYTES
from graphmem.core.foreign.forge import Issue, ReviewThread
from graphmem.core.foreign.reading import LOOK_BYTES, Fields, ForeignInput, Source, is_item
from graphmem.errors import BadInput, Refused
from graphmem.kernel.ndjson import Row
from graphmem.patterns import lazy_re

NAME = "github"
HOLDS = "JSON of `gh issue list --json …`, or review comments or threads of `gh api`"
DECODER = json.JSONDecoder()
MOST_BYTES = 2**26  # of a file: such a document takes some ten times that in memory
TEXT_CHARS = 65_536  # of a text; GitHub takes no longer one
DEEPEST = 12  # levels of a document, in which issues and comments are looked for
OF_ISSUE = frozenset("author body closed closedAt comments createdAt html_url labels state stateReason url".split())
OF_COMMENT = frozenset("diff_hunk in_reply_to_id line original_line position pull_request_review_id".split())
ADDRESS = lazy_re(r"https?://[^/\s]+/([^/\s]+/[^/\s]+)/(?:issues|pull)/(\d{1,9})(?!\d)")
REFUSED = ("not_planned", "duplicate")


def is_meant(source: Source) -> bool:
    """Return whether a file holds what this module reads: its first object, however many lists it is in."""
    for most in (LOOK_BYTES, IMPORT_BYTES):
        head = source.read(most).decode("utf-8-sig", "replace").lstrip("[ \t\r\n")
        if not head.startswith("{"):
            return False
        try:
            return next(_known(DECODER.raw_decode(head)[0]), None) is not None
        except (ValueError, RecursionError):
            continue
    return False


def read(source: Source) -> ForeignInput:
    """
    Return what people said in a file.

    Raises:
        BadInput: it is not JSON to its end.
        Refused: it is too large.
    """
    reading = ForeignInput(NAME)
    for number, (sort, found) in enumerate(_items(_values(source)), 1):
        place = f"{sort or 'item'} {_number_of(found) if sort == 'issue' else number}"
        is_reply = sort == "comment" and found.get("in_reply_to_id") is not None
        reading.read["reply" if is_reply else sort or "item"] += 1
        if sort == "issue":
            _add_issue(reading, place, found)
        elif sort == "thread":
            _add_thread(reading, place, found)
        elif sort == "comment" and not is_reply:  # a thread is what its first comment asks for
            _add_comment(reading, place, found)
        elif not sort:
            reading.skip(place, "it is neither an issue nor a comment of a review")
    return reading


def _values(source: Source) -> Iterator[Any]:
    """Yield the values of JSON that follow each other in a file."""
    data = source.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        message = f"{source.name!r} has more than {MOST_BYTES:,} bytes, which take too much memory to read as one"
        raise Refused(message, hint="import it in parts: fewer issues at once")
    text, place = data.decode("utf-8-sig", "replace").strip(), 0
    while place < len(text):
        try:
            value, place = DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            why = str(error) if isinstance(error, ValueError) else "it is nested too deep"
            raise BadInput(f"{source.name!r} is not JSON: {why}", hint="import it whole, as gh printed it") from None
        yield value
        while place < len(text) and text[place].isspace():
            place += 1


def _items(values: Iterator[Any]) -> Iterator[tuple[str, Row]]:
    """Yield the issues, threads and comments of values, and what holds none of them."""
    for value in values:
        for one in value if isinstance(value, list) else [value]:
            for item in one if isinstance(one, list) else [one]:
                yield from list(_known(item)) or [("", item if isinstance(item, dict) else {})]


def _known(value: Any, depth: int = 0) -> Iterator[tuple[str, Row]]:
    """Yield the issues, threads and comments in a value, each with its sort."""
    if isinstance(value, dict) and (sort := _sort_of(value)):
        yield sort, value
    elif isinstance(value, dict | list) and depth < DEEPEST:
        for one in value.values() if isinstance(value, dict) else value:
            yield from _known(one, depth + 1)


def _sort_of(found: Row) -> str:
    """Return what an object is; empty for anything else."""
    if "isResolved" in found and isinstance(found.get("comments"), dict):
        return "thread"
    if isinstance(found.get("path"), str) and "body" in found and not OF_COMMENT.isdisjoint(found):
        return "comment"
    is_issue = "title" in found or "body" in found
    if is_issue and "reviewThreads" not in found and not OF_ISSUE.isdisjoint(found) and _number_of(found):
        return "issue"
    return ""


def _number_of(found: Row) -> int:
    """Return the number of an issue, from its address where the field is left out; 0 for none."""
    number, address = found.get("number"), ADDRESS.match(_address_of(found))
    if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 10**9:
        return number
    return int(address[2]) if address and number is None else 0


def _address_of(found: Row) -> str:
    """Return the address of an issue or a comment; empty where no record can name it."""
    address = found.get("html_url") or found.get("url")
    return str(address) if is_item(address) and ADDRESS.match(str(address)) else ""


def _text_of(found: Any, name: str = "body") -> str:
    """Return a text of an object: with Unix line ends, and with nothing that no record can hold."""
    value = found.get(name) if isinstance(found, dict) else None
    text = value[:TEXT_CHARS] if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\0", "")


def _is_bot(found: Any) -> bool:
    """Return whether a program wrote something, as far as its author says."""
    author = (found.get("author") or found.get("user")) if isinstance(found, dict) else None
    if not isinstance(author, dict):
        return False
    is_said = author.get("is_bot") is True or "Bot" in (author.get("type"), author.get("__typename"))
    return is_said or _text_of(author, "login").endswith("[bot]")


def _listed(found: Row, name: str) -> list[Row]:
    """Return the objects of a list, which the GraphQL API has as the nodes of an object."""
    value = found.get(name)
    nodes = value.get("nodes") if isinstance(value, dict) else value
    return [one for one in nodes if isinstance(one, dict)] if isinstance(nodes, list) else []


def _time_of(found: Row, *names: str) -> str:
    """Return the first of some times that an object has."""
    fields = Fields({name: found.get(name) for name in names})
    return next((at for name in names if (at := fields.time(name))), "")


def _add_issue(reading: ForeignInput, place: str, found: Row) -> None:
    """Add an issue; a pull request, which some answers list as one, is left out."""
    address = _address_of(found)
    state, why = (_text_of(found, name).lower() for name in ("state", "stateReason"))
    if "/pull/" in address or state == "merged" or found.get("pull_request"):
        return reading.skip(place, "it is a pull request")
    is_closed = True if state == "closed" or found.get("closedAt") or found.get("closed") is True else None
    repository = matched[1].lower() if (matched := ADDRESS.match(address)) else ""
    number, said = _number_of(found), [one for one in _listed(found, "comments") if not _is_bot(one)]
    reading.heard.append(
        Issue(
            place,
            number,
            repository,
            address or f"{NAME}:{repository}#{number}",
            " ".join(_text_of(found, "title").split()),
            tuple(filter(None, map(_text_of, (found, *said)))),
            _time_of(found, "closedAt", "closed_at", "createdAt", "created_at"),
            False if state == "open" else is_closed,
            (why or _text_of(found, "state_reason").lower()) in REFUSED,
            tuple(_pulls_of(found, repository)),
        )
    )
    return None


def _pulls_of(found: Row, repository: str) -> Iterator[int]:
    """Yield the pull requests of a repository that closed an issue."""
    for one in _listed(found, "closedByPullRequestsReferences"):
        if number := _number_of(one):
            address = ADDRESS.match(_address_of(one))
            if address is None or address[1].lower() == repository:
                yield number


def _add_comment(reading: ForeignInput, place: str, found: Row) -> None:
    """Add the thread that a comment of the REST API begins."""
    is_of_line = found.get("subject_type") != "file"
    is_outdated = is_of_line and any(name in found and found[name] is None for name in ("line", "position"))
    _add(reading, place, found, found, is_resolved=False, is_outdated=is_outdated)


def _add_thread(reading: ForeignInput, place: str, found: Row) -> None:
    """Add a thread of the GraphQL API."""
    nodes = _listed(found, "comments")
    if not nodes:
        return reading.skip(place, "it has no comment")
    reading.read["reply"] += len(nodes) - 1
    is_outdated = found.get("isOutdated") is True or ("line" in found and found["line"] is None)
    is_outdated = is_outdated and found.get("subjectType") != "FILE"
    return _add(reading, place, found, nodes[0], is_resolved=found["isResolved"] is True, is_outdated=is_outdated)


def _add(reading: ForeignInput, place: str, thread: Row, first: Row, *, is_resolved: bool, is_outdated: bool) -> None:
    """Add a thread by its first comment."""
    address, path = _address_of(first), _text_of(thread, "path").strip()
    if not is_item(path):
        return reading.skip(place, "it names no file")
    matched = ADDRESS.match(address)
    run = f"{matched[1]}#{matched[2]}" if matched else ""
    hunk = _text_of(first, "diff_hunk") or _text_of(first, "diffHunk")
    return reading.heard.append(
        ReviewThread(
            place,
            run,
            address or f"{NAME}:{run}",
            path,
            hunk.rstrip("\n").rpartition("\n")[2][1:].strip(),
            _text_of(first),
            _time_of(first, "createdAt", "created_at"),
            _is_bot(first),
            is_resolved,
            is_outdated,
        )
    )
