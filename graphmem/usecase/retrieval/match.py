"""Match: which known failures a log reports (docs/concepts/retrieval.md, "Matching a log")."""

from bisect import insort
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from time import thread_time
from typing import Literal, get_args

import re2

from graphmem.constants import LOG_TIMEOUT_A_MIB_S, LOG_TIMEOUT_S, MOST_ERRORS, MOST_LIKELY, MOST_LINES, MOST_TEXTS
from graphmem.contract.doubts import Doubt
from graphmem.contract.match import Matched, MatchedLog, MatchRequest
from graphmem.contract.records import Listed
from graphmem.model import Failure, Record
from graphmem.rules.dedup import differing
from graphmem.rules.doubt import is_doubted
from graphmem.rules.fixes import fixes
from graphmem.rules.own_lines import own_log
from graphmem.rules.places import Places
from graphmem.rules.problem import ASSERTION, problems
from graphmem.rules.signature import Error, ErrorReader
from graphmem.store.runtime import Client
from graphmem.store.snapshot import Snapshot
from graphmem.usecase.evidence.doubts import Doubter
from graphmem.usecase.evidence.variant_fixes import variant_fixes
from graphmem.usecase.retrieval.expressions import Line, Matcher, blocks, lines_of
from graphmem.usecase.retrieval.known import met, not_met
from graphmem.usecase.retrieval.lines import LineFinder
from graphmem.usecase.retrieval.query import keep_question
from graphmem.usecase.retrieval.traversal import solving
from graphmem.usecase.writing.screening import places
from graphmem.usecase.writing.seen import in_log

# A piece of a log without any of these reports no error and has no frame.
TELLS = re2.compile(
    r"(?i)error|exception|panic|fatal|fail|fault|traceback|denied|not found|undefined|no such|refused|in use|cannot"
    r"|not permitted|no space|out of memory|critical|severe|violation|timeout|expired|interrupt|warning|exit|file \""
    r"|\bat |\.py:\d+: in |no rule to make|no required module|unknown |unrecognized|illegal option|invalid option"
    r"|not defined|import cycle|exclude all|\(http |\.[a-z]{1,8}[:(]\d+[:,)]|(?m:^[A-Z]{1,4}\d{3,4} )|(?m:^E"
    r" {2,})|(?m:^(?:[a-z_]\w*\.)+[A-Z]\w+(?:: |$))"
)


By = Literal["line", "match", "signature", "near", "similarity"]
RANKS: tuple[By, ...] = get_args(By)  # surest first


SURE = frozenset(("line", "match", "signature"))  # evidence that it is this very failure
END_BYTES = 100_000  # of either end of a log in which candidates are looked for


@dataclass
class LogEnds:
    """The beginning and the end of a log that streams past."""

    head: bytearray = field(default_factory=bytearray)
    tail: deque[bytes] = field(default_factory=deque)
    size: int = 0  # of the tail

    def through(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield lines as they are, and keep those at both ends."""
        for line in lines:
            kept = line[:END_BYTES].rstrip(b"\n") + b"\n"  # a log may come in lines with or without their ends
            if len(self.head) < END_BYTES:
                self.head += kept
            else:
                self.tail.append(kept)
                self.size += len(kept)
                while self.size > END_BYTES and len(self.tail) > 1:
                    self.size -= len(self.tail.popleft())
            yield line

    @property
    def text(self) -> str:
        """Both ends as text."""
        return (bytes(self.head) + b"".join(self.tail)).decode("utf-8", "replace")


@dataclass
class LogHit:
    """Where a log reports one thing, and how that is known."""

    by: By
    text: str
    lines: list[int] = field(default_factory=list)
    similarity: float | None = None


def match(client: Client, raw: Iterable[bytes], request: MatchRequest, *, known_as: str | None = None) -> MatchedLog:
    """
    Return the known failures that a log reports: by their triggers, by expressions, by signatures, by meaning.

    Args:
        known_as: the id of the question, where another store that was asked it gave it one.
    """
    with client.reading(client.clues) as snapshot:
        matcher = Matcher(snapshot.catalog.expressions(), seconds=LOG_TIMEOUT_S, seconds_a_mib=LOG_TIMEOUT_A_MIB_S)
        heads, begun_by = list(snapshot.catalog.heads()), snapshot.catalog.begun_by
        finder = LineFinder(heads, begun_by)
        kept = places(snapshot)
    hits: dict[int, LogHit] = {}
    log, as_read, ends = Log(), Log(), LogEnds()
    for block in blocks(
        lines_of(ends.through(own_log(raw)))
    ):  # as long as the tests run that write it: nothing waits for this meanwhile
        known = set[int]()
        portable = without_machine(block, kept)
        found = chain(finder.find(block), LineFinder(heads, begun_by).find(portable) if portable else ())
        for number, first, last in found:
            keep(hits, number, "line", last)  # the error of a traceback
            known.update(range(first.number, last.number + 1))
        for number, line in matcher.find(block):
            keep(hits, number, "match", line)
            known.add(line.number)
        log.read(portable or block, known)
        if portable:
            as_read.read(block, known)
            as_read.end()
    for number, line in matcher.end():
        keep(hits, number, "match", line)
    log.end()
    with client.reading(client.clues) as snapshot:
        elsewhere, nowhere = by_signature(snapshot, list(log.errors.values()), hits)
        if as_read.errors:  # of records from before paths were shortened, or written by hand
            by_signature(snapshot, list(as_read.errors.values()), hits)
            told = {line for hit in hits.values() for line in hit.lines}
            nowhere = [(error, lines) for error, lines in nowhere if told.isdisjoint(lines)]
    if nowhere:
        client.catch_up(client.lexical)
        client.embed_missing(lambda: likely(client, nowhere[:MOST_TEXTS]))
        for error, _ in nowhere[:MOST_TEXTS]:
            client.question_vector(error.text)
    with client.reading(client.lexical) as snapshot:
        by_meaning(snapshot, nowhere[:MOST_TEXTS], hits)
        slow = sorted(snapshot.catalog.refs(matcher.slow).values())
        unknown = named(triggers(error for error, _ in [*elsewhere, *nowhere]), kept.shortened(ends.text))
        results = answers(snapshot, hits, is_strict=request.strict)
        by_ref = {found.record.key_ref: found.text for found in results}
        answered = [found.text for found in results if found.by in SURE]
        return MatchedLog(
            results=results,
            lines=log.lines,
            cut=log.cut,
            unread=log.unread,
            slow=slow,
            unknown=unknown,
            asked=keep_question(snapshot, results[0].text, by_ref, known_as=known_as) if results else None,
            candidates=in_log(client, ends.text, answered),
        )


def without_machine(block: Sequence[Line], kept: Places) -> list[Line]:
    """Return lines without paths of this machine, as records have them; no lines where nothing changes."""
    if not kept.may_be_in(b"\n".join(line.text for line in block)):
        return []
    changed = [
        line._replace(text=kept.shortened(line.text.decode()).encode()) if kept.may_be_in(line.text) else line
        for line in block
    ]
    return changed if changed != block else []


def keep(hits: dict[int, LogHit], number: int, by: By, line: Line) -> None:
    """Note a line that reports a failure."""
    kept = hits.setdefault(number, LogHit(by, line.text.decode()))
    kept.by = min(kept.by, by, key=RANKS.index)
    if kept.lines and line.number < kept.lines[0]:
        kept.text = line.text.decode()
    if len(kept.lines) < MOST_LINES and line.number not in kept.lines[-2:]:
        insort(kept.lines, line.number)


class Log:
    """What is kept of a log while it streams past: how long it is, and which errors no expression knows."""

    def __init__(self) -> None:
        self.lines = self.cut = 0
        self.unread = 0  # lines whose errors were not looked at: there were too many before
        self.used = 0.0  # seconds of the processor to read errors
        self.errors: dict[tuple[str, str], tuple[Error, list[int]]] = {}
        self.reader = ErrorReader()

    def read(self, block: Sequence[Line], known: set[int]) -> None:
        """Take a piece of the log, and which of its lines are known."""
        self.lines += len(block)
        self.cut += sum(line.is_cut for line in block)
        if len(self.errors) >= MOST_ERRORS or self.used > LOG_TIMEOUT_S:
            self.unread += len(block)
            return
        began = thread_time()
        self.read_errors(block, known)
        self.used += thread_time() - began

    def read_errors(self, block: Sequence[Line], known: set[int]) -> None:
        """Take the errors of a piece of the log."""
        if not TELLS.search(b"\n".join(line.text for line in block)):
            self.end()
            return
        for line in block:
            if line.number in known:
                self.end()
            elif self.reader.is_within or TELLS.search(line.text):
                for error in self.reader.read(line.number, line.text.decode()):
                    self.keep(error)

    def end(self) -> None:
        """Take what the last line reported."""
        for error in self.reader.end():
            self.keep(error)
        self.reader.before.clear()

    def keep(self, error: Error) -> None:
        """Keep an error once, with its lines."""
        lines = self.errors.setdefault((error.exact, error.frame), (error, []))[1]
        if len(lines) < MOST_LINES:
            lines.append(error.line)


Found = list[tuple[Error, list[int]]]  # errors, each with its lines


def by_signature(snapshot: Snapshot, found: Found, hits: dict[int, LogHit]) -> tuple[Found, Found]:
    """Find failures by the signatures of errors; return the errors known only from elsewhere, and those not known."""
    elsewhere, nowhere = Found(), Found()
    for error, lines in found:
        same = snapshot.catalog.with_errors(error.exact_keys)
        numbers = same or snapshot.catalog.with_errors(error.near_keys)
        for number in numbers:
            add(hits, number, LogHit("signature" if same else "near", error.text, lines))
        if not same:
            (elsewhere if numbers else nowhere).append((error, lines))
    return elsewhere, nowhere


def triggers(errors: Iterable[Error]) -> list[str]:
    """Return texts that would find these errors again, those of the project's own code first."""
    found = sorted(errors, key=lambda error: (not error.is_own, error.line))
    return list(dict.fromkeys(filter(None, (error.trigger for error in found))))[:MOST_TEXTS]


def named(unknown: Sequence[str], output: str) -> list[str]:
    """Return unknown errors; one that only says that a check of a test failed, with the test that it is of."""
    if not any(map(ASSERTION.match, unknown)):
        return list(unknown)
    tests = [one.text for one in problems(output) if one.sort == "test"]
    if not tests:
        return list(unknown)
    found = chain.from_iterable(
        [test for test in tests if error in test] if ASSERTION.match(error) else [error] for error in unknown
    )  # what no test says first is of another part of a test that is there
    return list(dict.fromkeys(found))[:MOST_TEXTS]


def by_meaning(snapshot: Snapshot, found: Found, hits: dict[int, LogHit]) -> None:
    """Find the failure that is most similar to each error, where one is similar enough; without a model by words."""
    for error, lines in found:
        for number, similarity in nearest(snapshot, error.text):
            if similarity >= snapshot.settings.retrieval.critical:
                add(hits, number, LogHit("similarity", error.text, lines, min(1.0, similarity)))


def likely(client: Client, found: Found) -> list[int]:
    """Return the failures that share words with errors: their vectors are needed first, where some are missing."""
    if client.vectors is None or not client.vectors.is_behind:
        return []
    return [number for error, _ in found for number in client.lexical.search(error.text, ["failure"], MOST_LIKELY)]


def nearest(snapshot: Snapshot, text: str) -> Iterable[tuple[int, float]]:
    """Return the failure that is most similar to a text, and how similar it is."""
    vector = snapshot.client.question_vector(text)
    if snapshot.vectors is None or vector is None:
        return list(snapshot.lexical.search(text, ["failure"], 1).items())[:1]
    return snapshot.vectors.search(vector, ["failure"], 1)


def add(hits: dict[int, LogHit], number: int, new: LogHit) -> None:
    """Note where a failure was found; what is surer or was found first stays."""
    kept = hits.get(number)
    if kept is None or RANKS.index(new.by) < RANKS.index(kept.by):
        hits[number] = new
    elif kept.by == new.by:
        kept.lines = sorted({*kept.lines, *new.lines})[:MOST_LINES]


def differs(found: LogHit, record: Record) -> list[str]:
    """Return the words that distinguish a failure that is only similar from what the log says."""
    if found.by != "similarity" or not isinstance(record, Failure):
        return []
    return sorted(differing(found.text, record.trigger))


def against(found: LogHit, record: Record) -> list[Doubt]:
    """Return what of a failure that is only alike the line does not have, as for a query."""
    return not_met(found.text, record) if found.by == "similarity" else []


def in_line(found: LogHit, record: Record) -> list[str]:
    """Return what of a failure the line has, unless it has all of it."""
    return met(found.text, record) if found.by in ("near", "similarity") else []


def answers(snapshot: Snapshot, hits: Mapping[int, LogHit], *, is_strict: bool) -> list[Matched]:
    """Return what was found, surest first, then in the order of the log; if strict, nothing with a mark of doubt."""
    doubter = Doubter(snapshot)
    records = snapshot.catalog.records(hits)
    solutions = {
        number: [
            Listed(ref=record.ref, record=record, doubts=doubts)
            for record, doubts in ((record, doubter.of(record)) for record in found)
            if not (is_strict and is_doubted(doubts))
        ]
        for number, found in solving(snapshot.catalog, hits).items()
    }
    doubts = {number: [*against(hits[number], one), *doubter.of(one)] for number, one in records.items()}
    alike = variant_fixes(snapshot.catalog, records)
    order = sorted(
        (number for number in records if not (is_strict and is_doubted(doubts[number]))),
        key=lambda number: (RANKS.index(hits[number].by), hits[number].lines[0], records[number].ref),
    )
    return [
        Matched(
            ref=records[n].ref,
            by=hits[n].by,
            line=hits[n].lines[0],
            text=hits[n].text,
            lines=hits[n].lines,
            similarity=hits[n].similarity,
            differs=differs(hits[n], records[n]),
            solved_by=solutions.get(n, []),
            record=records[n],
            fixes=fixes(records[n]),
            variant_fix=alike.get(n),
            cites=doubter.tree.cites_of(records[n], *(found.record for found in solutions.get(n, ()))),
            doubts=doubts[n],
            holds=[*in_line(hits[n], records[n]), *doubter.conditions_met(records[n])],
        )
        for n in order
    ]
