"""What a caller and a service say: JSON objects with their length before them, and open files beside them."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys

TYPE_CHECKING = False  # as in ``errors``: to import `typing` takes as long as the rest
if TYPE_CHECKING:
    from typing import Any

LENGTH = struct.Struct("!I")
MOST_BYTES = 2**28  # of an object: an answer with everything in it is far smaller


def peer_of(connection: socket.socket) -> int | None:
    """Return the id of the user at the other end; None where the system does not say."""
    if not sys.platform.startswith("linux"):
        return None
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", found)[1])


def send(connection: socket.socket, value: dict[str, Any], files: list[int]) -> None:
    """Send an object, with files that the other process may read from."""
    data = json.dumps(value, separators=(",", ":")).encode("ascii")
    head = LENGTH.pack(len(data))
    if files:
        socket.send_fds(connection, [head], files)
    else:
        connection.sendall(head)
    connection.sendall(data)


def receive(connection: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Return an object and the files with it; None where the other side ended or sends something else."""
    head, files = b"", []
    while len(head) < LENGTH.size:
        part, more, _, _ = socket.recv_fds(connection, LENGTH.size - len(head), 4)
        files += more
        if not part:
            return _close_all(files)
        head += part
    size = LENGTH.unpack(head)[0]
    parts: list[bytes] = []
    while size > 0 and size <= MOST_BYTES:
        part = connection.recv(min(size, 2**20))
        if not part:
            return _close_all(files)
        parts.append(part)
        size -= len(part)
    try:
        value = json.loads(b"".join(parts))
    except ValueError:
        return _close_all(files)
    return (value, files) if isinstance(value, dict) else _close_all(files)


def _close_all(files: list[int]) -> tuple[None, list[int]]:
    """Close files that are not read."""
    for file in files:
        os.close(file)
    return None, []
