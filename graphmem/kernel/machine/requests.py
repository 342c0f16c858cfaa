"""
The requests of callers: each is carried out once, also where its answer was lost and the caller sends it again.

A caller gives its request an id. A write keeps that id, with the note of what it does (``ledger/undo.py``), before it
changes a file; the answer is kept before it is sent. So a request that comes again gets the answer of the first time,
and what was written without an answer is reported as done. Where that cannot be kept, the write goes on without.
Decision: docs/decisions/0029-requests-have-ids.md.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

from pydantic import BaseModel, ConfigDict, JsonValue

from graphmem.errors import AlreadyDone, Conflict, Unavailable
from graphmem.kernel.machine.state import State

ANSWER_BYTES = 2**20  # of an answer that is kept; of a larger one only that there was one
REPEATED_S = 600.0  # seconds within which a caller without ids repeats what it got no answer to
DIGITS = 32  # of the SHA-256 of an id, which is its key


class KeptRequest(BaseModel):
    """
    What is kept of a request.

    Attributes:
        content: a digest of what was asked; the same id with another content is another request.
        process: the process that carried it out.
        at: when, in seconds since 1970.
        note: the name of the note of its last write, without its end; empty for a write that is not noted.
        answer: what the caller got; None where there is no answer, or it is too large.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    content: str
    process: int
    at: float
    note: str = ""
    answer: JsonValue = None

    def is_lost(self) -> bool:
        """Return whether the process that carried the request out ended a moment ago, before its answer was sent."""
        if not 0 <= time.time() - self.at < REPEATED_S:
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return False


DECODE = KeptRequest.model_validate_json


@dataclass
class RequestUnderWay:
    """
    A request while it is carried out.

    Args:
        id: the caller's own, one for each request.
        content: what is asked for, in any form that is the same when it comes again.
        is_repeat: it was sent before, and its answer was lost.
        is_by_content: the caller gives no id. Then the same content is a repeat only where the process that carried it
            out has ended, some minutes ago at most, before its answer was sent; ``answered`` is called when it is.
        scope: of the caller: what another one was answered may show what this one does not see.
    """

    id: str
    content: str = ""
    is_repeat: bool = False
    is_by_content: bool = False
    scope: str | None = None
    state: State | None = None  # of the store that keeps it
    is_written: bool = False  # it changed something, so it must not be carried out again

    @property
    def digest(self) -> str:
        """A digest of what is asked for."""
        return digest(self.content)

    @property
    def key(self) -> str:
        """Under what a store keeps it."""
        return digest(self.id if self.scope is None else "\0".join((self.scope, self.id)))

    def refuse_done(self, state: State, has_happened: Callable[[str], bool | None]) -> None:
        """
        Let a request begin that was not carried out yet.

        Args:
            state: of the store that keeps requests.
            has_happened: whether the write of a note has happened; None where it cannot be said without the lock.

        Raises:
            AlreadyDone: it was; the error has its answer, if that was kept.
            Conflict: another request had this id.
        """
        self.state = state
        kept = None if self.is_written else state.read("request", self.key, DECODE)
        if kept is None or (self.is_by_content and not kept.is_lost()):
            return
        if kept.content != self.digest:
            raise Conflict("another request had the same id", hint="give each request an id of its own")
        if kept.answer is not None or not kept.note or has_happened(kept.note):
            raise AlreadyDone("done before; the answer of the first time was lost", answer=kept.answer)

    def note(self, state: State, name: str) -> None:
        """Keep that a write of this request, by the name of its note, is about to happen."""
        self.state = state
        self.write(self.kept(note=name))

    def has_written(self, state: State, *, is_noted: bool) -> None:
        """Record that this request has written to the store; a write with a note was recorded before it happened."""
        self.has_changed(state)
        if not is_noted:
            self.note(state, "")

    def has_changed(self, state: State) -> None:
        """Let the answer be kept: an operation that may change something was carried out."""
        self.is_written, self.state = True, state

    def kept(self, note: str = "", answer: JsonValue = None) -> KeptRequest:
        """Return what is to be kept of it."""
        return KeptRequest(content=self.digest, process=os.getpid(), at=time.time(), note=note, answer=answer)

    def answered(self) -> None:
        """Forget a request without an id: its caller has the answer, and the same content again is another request."""
        self.write(None)

    def forget(self) -> None:
        """Keep nothing of a write that was refused."""
        if not self.is_written:
            self.write(None)

    def keep(self, answer: JsonValue) -> None:
        """Keep the answer, if anything was written; where that fails, a repeat is only told that it is done."""
        if self.is_written:
            self.write(self.kept(answer=answer))

    def write(self, made: KeptRequest | None) -> None:
        """Keep something in the place of what was kept before, or nothing; a write of the store never fails for it."""
        if self.state is None:
            return
        with contextlib.suppress(Unavailable), self.state.changing() as kept:
            if made is None:
                return kept.drop("request", [self.key])
            before = kept.read("request", self.key, DECODE)
            if before is not None and not made.note:
                made = made.model_copy(update={"note": before.note})
            data = made.model_dump_json().encode()
            if len(data) > ANSWER_BYTES:
                data = made.model_copy(update={"answer": None}).model_dump_json().encode()
            kept.put("request", self.key, data)


of_thread: ContextVar[RequestUnderWay | None] = ContextVar("of_thread", default=None)
under_way: dict[str, tuple[Lock, int]] = {}  # by id: whoever sends the same one at the same time waits for the first
guard = Lock()


@contextlib.contextmanager
def carried_out(request: RequestUnderWay) -> Iterator[RequestUnderWay]:
    """Let the block, in this thread, work on a request; the same one in another thread waits until its end."""
    with guard:
        lock, waiting = under_way.get(request.id, (Lock(), 0))
        under_way[request.id] = lock, waiting + 1
    try:
        with lock:
            token = of_thread.set(request)
            try:
                yield request
            finally:
                of_thread.reset(token)
    finally:
        with guard:
            lock, waiting = under_way.pop(request.id)
            if waiting > 1:
                under_way[request.id] = lock, waiting - 1


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """Let the block, in this thread, write several stores: no write of it alone is what the request asked for."""
    token = of_thread.set(None)
    try:
        yield
    finally:
        of_thread.reset(token)


def current() -> RequestUnderWay | None:
    """Return the request that this thread works on; None where the caller gave no id."""
    return of_thread.get()


def drop_answers(state: State, is_told: Callable[[str], bool]) -> None:
    """Forget the answers that hold something; that their requests were carried out stays known."""
    with state.changing() as kept:
        for key, found in kept.read_all("request", DECODE).items():
            if found.answer is not None and is_told(found.model_dump_json()):
                kept.put("request", key, found.model_copy(update={"answer": None}).model_dump_json().encode())


def digest(text: str) -> str:
    """Return a digest of a text of a caller."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
