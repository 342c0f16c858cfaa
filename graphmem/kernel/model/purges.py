"""What was purged stays away: which rows a purge keeps out (docs/format.md, "What was purged")."""

import hashlib
from collections.abc import Callable, Container, Iterable

from graphmem.kernel.ndjson import Row, instant
from graphmem.names import row_key

# Fields that hold references without which a row is nothing, by kind.
NAMING = {"relation": ("from", "to"), "feedback": ("ref", "task"), "event": ("subject",), "task": ("campaign",)}


def purge_hash(salt: str, key: str) -> str:
    """Return the hash under which a purge keeps the key text of a row."""
    return hashlib.sha256(f"{salt}{key}".encode()).hexdigest()


def created_at(row: Row) -> str:
    """Return when a row was created, as a canonical time; of a fact, when it happened."""
    return instant(str(row.get("created_at") or row["at"]))


class Purges:
    """
    The rows that were purged, by salt and hash, each with the time of the purge.

    Args:
        rows: of kind purge.
        refs: returns a reference under each name that its type has or had: a type that has another name hides nothing.
    """

    def __init__(self, rows: Iterable[Row] = (), refs: Callable[[str], Iterable[str]] = lambda ref: (ref,)) -> None:
        self.refs = refs
        self.by_salt: dict[str, dict[str, str]] = {}
        for row in rows:
            hashes = self.by_salt.setdefault(str(row["salt"]), {})
            name = str(row["hash"])
            hashes[name] = max(hashes.get(name, ""), instant(str(row["at"])))

    def __bool__(self) -> bool:
        return bool(self.by_salt)

    @property
    def hashes(self) -> frozenset[str]:
        """The hashes of all salts."""
        return frozenset(name for hashes in self.by_salt.values() for name in hashes)

    def since(self, before: "Purges") -> "Purges":
        """Return the purges that are not among earlier ones, or are later than there."""
        added = Purges(refs=self.refs)
        for salt, hashes in self.by_salt.items():
            known = before.by_salt.get(salt, {})
            if fresh := {name: at for name, at in hashes.items() if at > known.get(name, "")}:
                added.by_salt[salt] = fresh
        return added

    def purged_at(self, row: Row, symmetric: Container[str]) -> str | None:
        """Return the time of the purge that a row does not outlive; None for a row that is to be read."""
        if row["kind"] == "purge":
            return None
        named = [row.get(field) for field in NAMING.get(row["kind"], ())]
        refs = [ref for ref in named if isinstance(ref, str)]
        refs += [row_key(row, symmetric)] if row["kind"] == "entity" else []
        keys = [row_key(row, symmetric), *(other for ref in refs for other in self.refs(ref))]
        keys += [f"task/{row['task']}"] if row["kind"] == "feedback" and row.get("task") else []
        times = (hashes.get(purge_hash(salt, key)) for salt, hashes in self.by_salt.items() for key in keys)
        last = max((at for at in times if at), default=None)
        return last if last is not None and created_at(row) <= last else None
