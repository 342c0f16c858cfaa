"""
The status line of a shell or an agent: where the work is, in one line, from the files.

It imports little and reads little, for it is printed at every prompt; a test compares it with what the commands say.
What it cannot read within its limits it leaves out, and ends with ``…``.
"""

import json
import os
import stat
import sys
import time
from collections.abc import Collection, Iterator
from typing import Any

from graphmem.doors.service.place import project_of, store_of
from graphmem.names import visible

MOST_BYTES = 2 * 2**20  # of all files together
LIMIT_S = 0.04  # for all of them together
MORE = "…"  # where the limits were reached
PHASES = frozenset(
    "none explore plan build observe complete error".split()
)  # a test compares these two with the tables
ITEMS = frozenset("pending processing error processed".split())
TEXTS = ("id", "at", "type", "subject", "name", "key", "status", "campaign", "created_at")
Row = dict[str, Any]


class Cut(Exception):
    """The limits were reached before all files of a kind were read."""


class StatusReader:
    """Reads the files of a store within the limits of the whole line."""

    def __init__(self, store: str) -> None:
        self.store = store
        self.bytes_left, self.until = MOST_BYTES, time.monotonic() + LIMIT_S

    def go_on(self) -> None:
        """Raise ``Cut`` where the time is up."""
        if time.monotonic() > self.until:
            raise Cut

    def content(self, path: str) -> bytes:
        """Return what a file holds; nothing of a link, and of what would be waited for."""
        self.go_on()
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                return b""
            self.bytes_left -= found.st_size
            if self.bytes_left < 0:
                raise Cut
            return file.read(found.st_size)

    def files(self, kind: str) -> Iterator[str]:
        """Yield the files of a kind; links are not followed."""
        folders = [f"{self.store}/data/{kind}"] if _is_folder(f"{self.store}/data") else []
        if folders and os.path.isfile(one := f"{folders[0]}.ndjson") and not os.path.islink(one):
            yield one
        while folders:
            folder = folders.pop()
            if not _is_folder(folder):
                continue
            with os.scandir(folder) as entries:
                for entry in entries:
                    self.go_on()
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.name.endswith(".ndjson") and entry.is_file(follow_symlinks=False):
                        yield entry.path

    def rows(self, kind: str) -> Iterator[Row]:
        """Yield the live rows of a kind; other lines are left out."""
        for path in self.files(kind):
            for line in self.content(path).splitlines():
                self.go_on()
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                is_sound = isinstance(row, dict) and all(isinstance(row.get(name, ""), str) for name in TEXTS)
                if is_sound and row.get("archived_at") is None:
                    yield row


def main(arguments: list[str]) -> int:
    """Print the line of the project; nothing, with status 0, for a scope, and without a project that can be read."""
    try:
        if os.environ.get("GRAPHMEM_SCOPE") or any(word.partition("=")[0] == "--scope" for word in arguments):
            return 0  # the line is read of the files, whatever a scope allows
        project = project_of(arguments, os.getcwd(), os.environ)
        if project is not None and (store := store_of(project)) is not None and _is_folder(store):
            line = " · ".join(_parts(store))
            sys.stdout.write(f"{line}\n" if line else "")
            sys.stdout.flush()
    except (OSError, ValueError, RecursionError):
        pass
    return 0


def _parts(store: str) -> Iterator[str]:
    """Yield what the line consists of; each part is of all the files that it depends on."""
    reader = StatusReader(store)
    try:
        active = [row for row in reader.rows("campaign") if row.get("status", "active") == "active"]
        campaign = max(active, key=lambda row: (str(row.get("created_at")), _key_of(row)), default=None)
        names = _names_of(campaign) if campaign else set()
        tasks = [row for row in reader.rows("task") if row.get("campaign") in names] if campaign else []
    except Cut:
        yield MORE
        return
    if campaign is not None:
        done = sum(row.get("status") == "complete" for row in tasks)
        yield f"{_plain(campaign.get('name'))} {done}/{len(tasks)}"
    try:
        events = sorted(reader.rows("event"), key=lambda row: (str(row.get("at")), str(row.get("id"))))
    except Cut:
        events = None
    yield from chunk(store)  # what it imports takes as long as all else
    if events is not None and (phase := _phase_of(events, campaign)):
        yield phase
    if blocked := sum(row.get("status") == "blocked" for row in tasks):
        yield f"{blocked} blocked"
    if events is None:
        yield MORE
    elif waiting := _inbox(events):
        yield f"{waiting} in the inbox"


def _is_folder(path: str) -> bool:
    """Return whether there is a folder that is not a link."""
    return os.path.isdir(path) and not os.path.islink(path)


def _key_of(row: Row) -> str:
    """Return the key of a row."""
    return str(row.get("key") or row.get("name"))


def _names_of(campaign: Row) -> set[str]:
    """Return how rows may name a campaign."""
    return {name for key in (_key_of(campaign), str(campaign.get("name"))) for name in (key, f"campaign/{key}")}


def chunk(store: str) -> Iterator[str]:
    """Yield which chunk is built."""
    try:
        path = f"{store}/state/state.db"
        if not _is_folder(f"{store}/state") or b"chunk_progress" not in StatusReader(store).content(path):
            return
        from pathlib import Path  # noqa: PLC0415 - 20 ms, with what the other one needs

        from graphmem.kernel.machine.state import State  # noqa: PLC0415

        run = State(Path(path), patience_s=LIMIT_S).read("run", "", json.loads)
        found = (run or {})["chunk_progress"]
        yield f"chunk {int(found['current'])} of {int(found['total'])}"
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, Cut):
        return


def _phase_of(events: list[Row], campaign: Row | None) -> str:
    """Return the phase of a campaign, or the project's own; empty for none."""
    names = _names_of(campaign) if campaign else set()
    found = {True: "", False: ""}
    for row in events:
        if row.get("type") == "phase-moved" and (after := _moved_to(row, PHASES)):
            subject = row.get("subject")
            if subject is None or subject in names:
                found[subject is not None] = after
    phase = found[True] if found[True] not in ("", "none") else found[False]
    return "" if phase == "none" else phase


def _moved_to(row: Row, known: Collection[str]) -> str:
    """Return the state that a move leads to; empty where it is not known."""
    data = row.get("data")
    after = data.get("to") if isinstance(data, dict) else None
    return after if isinstance(after, str) and after in known else ""


def _inbox(events: list[Row]) -> int:
    """Return how many items of the inbox are not processed."""
    items = {row.get("id"): "pending" for row in events if row.get("type") == "inbox-added"}
    for row in events:
        if row.get("type") == "inbox-moved" and row.get("subject") in items and (after := _moved_to(row, ITEMS)):
            items[row["subject"]] = after
    return sum(status != "processed" for status in items.values())


def _plain(value: object) -> str:
    """Return a text of the files without what a terminal would obey."""
    return visible(str(value or "")[:80]).replace("\n", "\\n")
