"""
The status line of a shell or an agent: where the work is, in one line, from the files.

It imports little, for it is printed at every prompt; a test compares it with what the commands say.
"""

import json
import os
import stat
import sys
from collections.abc import Collection, Iterator
from typing import Any

from graphmem.service.place import STORE, project_of

MOST_BYTES = 16 * 2**20  # of a file that is read; a status line is not worth more
PHASES = frozenset(
    "none explore plan build observe complete error".split()
)  # a test compares these two with the tables
ITEMS = frozenset("pending processing error processed".split())
TEXTS = ("id", "at", "type", "subject", "name", "key", "status", "campaign", "created_at")
Row = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Print the line of the project; nothing, with status 0, where there is none or it cannot be read."""
    try:
        project = project_of(arguments, os.getcwd(), os.environ.get("GRAPHMEM_DIR"))
        if project is not None and is_folder(f"{project}/{STORE}"):
            line = " · ".join(parts(f"{project}/{STORE}"))
            sys.stdout.write(f"{line}\n" if line else "")
            sys.stdout.flush()
    except (OSError, ValueError, RecursionError):
        pass
    return 0


def parts(store: str) -> Iterator[str]:
    """Yield what the line consists of."""
    events = sorted(rows(store, "event"), key=lambda row: (str(row.get("at")), str(row.get("id"))))
    campaign = newest_campaign(store)
    if campaign is not None:
        tasks = [row for row in rows(store, "task") if row.get("campaign") in names_of(campaign)]
        done = sum(row.get("status") == "complete" for row in tasks)
        yield f"{plain(campaign.get('name'))} {done}/{len(tasks)}"
    yield from chunk(store)
    if phase := phase_of(events, campaign):
        yield phase
    if campaign is not None and (blocked := sum(row.get("status") == "blocked" for row in tasks)):
        yield f"{blocked} blocked"
    if waiting := inbox(events):
        yield f"{waiting} in the inbox"


def rows(store: str, kind: str) -> Iterator[Row]:
    """Yield the live rows of a kind; lines that are none are left out."""
    for path in files(store, kind):
        for line in content(path).splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if is_sound(row) and row.get("archived_at") is None:
                yield row


def is_folder(path: str) -> bool:
    """Return whether there is a folder that is not a link."""
    return os.path.isdir(path) and not os.path.islink(path)


def content(path: str) -> bytes:
    """Return what a file holds; nothing of a link, and of what would be waited for."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        return file.read(MOST_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""


def is_sound(row: object) -> bool:
    """Return whether a row has texts where others name or order it by them."""
    return isinstance(row, dict) and all(isinstance(row.get(name, ""), str) for name in TEXTS)


def files(store: str, kind: str) -> Iterator[str]:
    """Yield the files of a kind; links are not followed."""
    top = f"{store}/data/{kind}"
    if not is_folder(f"{store}/data"):
        return
    below = os.walk(top) if is_folder(top) else ()
    for path in (f"{top}.ndjson", *(f"{folder}/{name}" for folder, _, names in below for name in sorted(names))):
        if path.endswith(".ndjson") and os.path.isfile(path) and not os.path.islink(path):
            yield path


def newest_campaign(store: str) -> Row | None:
    """Return the newest campaign that has not ended."""
    active = [row for row in rows(store, "campaign") if row.get("status", "active") == "active"]
    return max(active, key=lambda row: (str(row.get("created_at")), key_of(row)), default=None)


def key_of(row: Row) -> str:
    """Return the key of a row."""
    return str(row.get("key") or row.get("name"))


def names_of(campaign: Row) -> set[str]:
    """Return how rows may name a campaign."""
    return {name for key in (key_of(campaign), str(campaign.get("name"))) for name in (key, f"campaign/{key}")}


def chunk(store: str) -> Iterator[str]:
    """Yield which chunk is built."""
    try:
        data = content(f"{store}/state/run.json") if is_folder(f"{store}/state") else b""
        found = json.loads(data).get("chunk_progress")
        yield f"chunk {int(found['current'])} of {int(found['total'])}"
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return


def phase_of(events: list[Row], campaign: Row | None) -> str:
    """Return the phase of a campaign, or the project's own; empty for none."""
    names = names_of(campaign) if campaign else set()
    found = {True: "", False: ""}
    for row in events:
        if row.get("type") == "phase-moved" and (after := moved_to(row, PHASES)):
            subject = row.get("subject")
            if subject is None or subject in names:
                found[subject is not None] = after
    phase = found[True] if found[True] not in ("", "none") else found[False]
    return "" if phase == "none" else phase


def moved_to(row: Row, known: Collection[str]) -> str:
    """Return the state that a move leads to; empty where it is not known."""
    data = row.get("data")
    after = data.get("to") if isinstance(data, dict) else None
    return after if isinstance(after, str) and after in known else ""


def inbox(events: list[Row]) -> int:
    """Return how many items of the inbox are not processed."""
    items = {row.get("id"): "pending" for row in events if row.get("type") == "inbox-added"}
    for row in events:
        if row.get("type") == "inbox-moved" and row.get("subject") in items and (after := moved_to(row, ITEMS)):
            items[row["subject"]] = after
    return sum(status != "processed" for status in items.values())


def plain(value: object) -> str:
    """Return a text of the files without what a terminal would obey."""
    return "".join(char if char.isprintable() else "?" for char in str(value or ""))[:80]
