"""The hashes by which the catalog finds texts again."""

import hashlib

from graphmem.kernel.model import Frozen, Record


def meaning_hashes(record: Frozen | None) -> dict[bytes, str]:
    """Return the texts whose vectors find a record, by hash; that of its search text first."""
    return {hash_of(text): text for text in record.meanings if text.strip()} if isinstance(record, Record) else {}


def hash_of(text: str) -> bytes:
    """Return the hash of a search text: 16 bytes of its SHA-256."""
    return hashlib.sha256(text.encode()).digest()[:16]
