"""Exchange: the rows of a clone and those of a memory in a server, merged by key and field."""

import contextlib
import hashlib
from typing import NamedTuple

import orjson

from graphmem.errors import Refused
from graphmem.features.team.contract import Synced
from graphmem.kernel.git.merge_driver import merge_rows
from graphmem.kernel.ledger.port import PlaceHistory
from graphmem.kernel.ledger.row import line_id, read_entry
from graphmem.kernel.ledger.served_history import PART
from graphmem.kernel.machine.requests import apart
from graphmem.kernel.settings.address import ServerAddress
from graphmem.kernel.store.runtime import Client, open_client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files

Texts = dict[str, bytes]  # texts of types by path, and rows by number
KIND = "sync"  # under what the clone keeps what it had in common with a server
DIGITS = 16  # of the digest of a text


class Common(NamedTuple):
    """
    What a clone and a server had in common after an exchange.

    It holds no text, so that a purge has nothing to take out of it: a row that both have changed since is in the
    history of the server as it was then.

    Attributes:
        commit: the commit of the server.
        marks: a digest of each text.
    """

    commit: int
    marks: dict[str, str]

    def has(self, key: str, text: bytes | None) -> bool:
        """Return whether a text is as it was then."""
        return self.marks.get(key) == (None if text is None else _mark(text))


def exchange(client: Client, named: str, *, is_real: bool) -> Synced:
    """
    Merge the rows of a clone with those of a memory in a server: both have the same afterwards.

    The server is written first. A death before the clone is written too, and before it is kept what both have, loses
    nothing: the next exchange merges with what the server has by then.

    Raises:
        Refused: the memory of this caller is in a server.
        Unavailable: the server does not answer.
    """
    if client.ledger.place.history is not None:
        raise Refused("this memory is in a server, and no clone of it is here", hint="run it without GRAPHMEM_STORE")
    address = ServerAddress.parse(named)
    key = hashlib.sha256("\n".join(address).encode()).hexdigest()
    runtime = client.runtime.other(named, client.root)
    runtime.on_message, runtime.progress = client.runtime.on_message, client.runtime.progress
    with contextlib.closing(open_client(runtime)) as other, apart(), other.deciding(is_real=is_real) as theirs:
        history = other.ledger.place.history
        assert history is not None
        with client.deciding(is_real=is_real) as ours:
            common = client.state.read(KIND, key, lambda data: Common(*orjson.loads(data))) or Common(0, {})
            counts = [0, 0]
            for texts in (_definitions_of, _rows_of):  # rows are of types
                our, their = texts(ours), texts(theirs)
                result = _merged(common, history, our, their, ours, theirs)
                counts[0] += _write(theirs, their, result)
                counts[1] += _write(ours, our, result)
            if is_real:
                both = {**_definitions_of(ours), **_rows_of(ours)}
                made = Common(history.last(), {name: _mark(text) for name, text in both.items()})
                with client.state.changing() as kept:
                    kept.put(KIND, key, orjson.dumps([*made]))
    return Synced(ref=None, remote=address.shown, commit=None, sent=counts[0], received=counts[1])


def _definitions_of(side: Snapshot) -> Texts:
    """Return the texts of the types, scopes, extractors and stored queries of a store, by path."""
    place, layout = side.ledger.place, side.layout
    found = {path: place.text(path) for path in place.all_parts() if not path.startswith("data/")}
    if place.history is None:
        files = layout.look(layout.scopes, layout.extractors, layout.queries).files
        found |= {path: safe_files.read(layout.store / path) for path in files if PART.fullmatch(path)}
    return {path: text for path, text in found.items() if text is not None}


def _rows_of(side: Snapshot) -> Texts:
    """Return the rows of a store, by number."""
    return {
        str(number): line for file in side.ledger.place.parts() for line, number in side.catalog.lines(file).items()
    }


def _merged(
    common: Common, history: PlaceHistory, ours: Texts, theirs: Texts, clone: Snapshot, server: Snapshot
) -> dict[str, bytes | None]:
    """Return what the texts come to that differ; None for one that goes."""
    symmetric = clone.symmetric
    purges = [purged for side in (clone, server) if (purged := side.catalog.purges())]
    found: dict[str, bytes | None] = {}
    differing = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    new_here = [int(key) for key in differing if key not in theirs and key not in common.marks and key.isdecimal()]
    deleted = history.deleted(new_here) if new_here else {}
    both: list[int] = []
    for key in differing:
        mine, other = ours.get(key), theirs.get(key)
        if common.has(key, mine) or (mine is not None and key.isdecimal() and deleted.get(int(key)) == mine):
            found[key] = other
        elif common.has(key, other):
            found[key] = mine
        elif key.isdecimal():
            both.append(int(key))
        else:
            found[key] = max(filter(None, (mine, other)))  # as files are merged that are no rows
    was = history.before(both, common.commit) if both and common.commit else {}
    our, their = (b"\n".join(side[str(key)] for key in both if str(key) in side) for side in (ours, theirs))
    lines = merge_rows(b"\n".join(was.values()), our, their, symmetric).splitlines()
    found |= dict.fromkeys(map(str, both)) | {str(line_id(line, symmetric)): line for line in lines}
    for key in filter(str.isdecimal, differing if purges else ()):
        line = ours.get(key) or theirs[key]
        if any(one.purged_at(orjson.loads(line), symmetric) for one in purges):
            found[key] = None
            if key in ours:  # the purge that arrives takes it out, and finds where it left traces by it
                del found[key]
    return found


def _write(side: Snapshot, had: Texts, texts: dict[str, bytes | None]) -> int:
    """Write what differs from what a side had, unless this is a preview; return how many rows or texts that are."""
    changed = {key: text for key, text in texts.items() if had.get(key) != text}
    if changed and isinstance(side, Writing):
        rows = {int(key): line for key, line in changed.items() if key.isdecimal()}
        puts = [read_entry(line, side.symmetric) for line in rows.values() if line is not None]
        gone = {number for number, line in rows.items() if line is None}
        removes = {
            file: numbers
            for file in side.ledger.place.parts()
            if gone and (numbers := sorted(gone.intersection(side.catalog.lines(file).values())))
        }
        types = {path: text for path, text in changed.items() if not path.isdecimal()}
        side.commit(puts, removes, types, is_noted=False, is_moved=True)
        if purged := {file: () for file in side.ledger.place.parts() if side.catalog.purged_in(file)}:
            side.commit([], purged, is_noted=False)  # a write takes out what is purged in its files
    return len(changed)


def _mark(text: bytes) -> str:
    """Return a digest of a text."""
    return hashlib.sha256(text).hexdigest()[:DIGITS]
