"""Match: which known failures a log reports (docs/concepts/retrieval.md, "Matching a log")."""

import codecs
from bisect import insort
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from time import thread_time
from typing import Literal, get_args

from graphmem.constants import LOG_LINE_BYTES, LOG_TIMEOUT_A_MIB_S, LOG_TIMEOUT_S, MOST_LIKELY, MOST_LINES, MOST_TEXTS
from graphmem.core.evidence.doubt import is_doubted
from graphmem.core.evidence.doubts import Doubter
from graphmem.core.evidence.fixes import fixes
from graphmem.core.evidence.variant_fixes import variant_fixes
from graphmem.core.logs.comparison import ORDER
from graphmem.core.logs.diagnosis import Reader, statement
from graphmem.core.logs.own_lines import OwnLines
from graphmem.core.logs.problem import LogProblem
from graphmem.core.records.places import Places
from graphmem.core.records.record_contract import Listed
from graphmem.core.records.screening import places
from graphmem.core.records.seen import in_log
from graphmem.core.search.expressions import Line, Matcher, blocks, pieces
from graphmem.core.search.lines import LineFinder
from graphmem.core.search.match_contract import Matched, MatchedLog, MatchRequest, ReadProblem
from graphmem.core.search.query import MOST_OF_ONE_SORT, against, judgement_of, keep_question
from graphmem.core.search.traversal import solving
from graphmem.kernel.model import Failure, Record
from graphmem.kernel.model.verdict import Verdict
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot

By = Literal["line", "match", "signature", "near", "similarity"]
RANKS: tuple[By, ...] = get_args(By)  # surest first


MOST_ALIKE = 3  # failures that are shown for what they mean
END_PIECES = 6  # of either end of a log in which candidates are looked for


class LogEnds:
    """The beginning and the end of a log that streams past in pieces."""

    def __init__(self) -> None:
        self.head = list[bytes]()
        self.tail = deque[bytes](maxlen=END_PIECES)

    def keep(self, piece: bytes) -> None:
        """Keep a piece, as long as it is near an end."""
        (self.head if len(self.head) < END_PIECES else self.tail).append(piece)

    @property
    def text(self) -> str:
        """Both ends as text."""
        return b"\n".join([*self.head, *self.tail]).decode()


@dataclass
class LogHit:
    """Where a log reports one thing, and how that is known."""

    by: By
    text: str
    lines: list[int] = field(default_factory=list)
    similarity: float | None = None
    recorded: str | None = None
    verdict: Verdict = "same"
    reasons: tuple[str, ...] = ()


UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _decoded(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Return the lines of a log in UTF-8; of one in the encoding that its first bytes say, as they are there."""
    lines = iter(raw)
    if (first := next(lines, None)) is None:
        return lines
    whole = chain([first.removeprefix(codecs.BOM_UTF8)], lines)
    return _from_utf_16(whole) if first.startswith(UTF_16) else whole


def _from_utf_16(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a log in UTF-16; it comes cut at the bytes of line ends, not at its lines."""
    decoder, rest = codecs.getincrementaldecoder("utf-16")("replace"), ""
    for piece in raw:
        *lines, rest = (rest + decoder.decode(piece)).split("\n")
        yield from (f"{line}\n".encode("utf-8", "replace") for line in lines)
        if len(rest) > LOG_LINE_BYTES:
            yield rest.encode("utf-8", "replace")
            rest = ""
    if rest:
        yield rest.encode("utf-8", "replace")


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
    log, ends, own = Log(keeps=request.explain), LogEnds(), OwnLines()
    # As long as the tests run that write it: nothing waits for this meanwhile.
    for block in blocks(map(own.of, pieces(_decoded(raw)))):
        text = b"\n".join([line.text for line in block])
        ends.keep(text)
        portable = _without_machine(block, text, kept)
        found = chain(finder.find(block), LineFinder(heads, begun_by).find(portable) if portable else ())
        for number, first, last in found:
            keep(hits, number, "line", last)  # the error of a traceback
            log.known.update(range(first.number, last.number + 1))
        for number, line in matcher.find(block):
            keep(hits, number, "match", line)
            log.known.add(line.number)
        log.read(block, text.decode())
    for number, line in matcher.end():
        keep(hits, number, "match", line)
    problems = log.problems()
    with client.reading(client.clues) as snapshot:
        unknown, unlike = _by_problem(snapshot, problems, hits, log.known)
    if unlike:
        client.catch_up(client.lexical)
        client.embed_missing(lambda: _likely(client, unlike[:MOST_TEXTS]))
        for problem in unlike[:MOST_TEXTS]:
            client.question_vector(problem.trigger)
    with client.reading(client.lexical) as snapshot:
        _by_meaning(snapshot, unlike[:MOST_TEXTS], hits)
        slow = sorted(snapshot.catalog.refs(matcher.slow).values())
        results = _answers(snapshot, hits, is_strict=request.strict, is_all=request.all)
        by_ref = {found.record.key_ref: found.text for found in results}
        answered = [found.text for found in results if found.verdict == "same"]
        answered_lines = {number for found in results for number in found.lines}
        about = set(_triggers((one for one in unknown if not answered_lines.isdisjoint(one.numbers)), kept))
        errors = _triggers(unknown, kept)
        return MatchedLog(
            results=results,
            lines=log.lines,
            cut=log.cut,
            unread=log.unread,
            slow=slow,
            unknown=errors,
            unlike=[error for error in errors if error not in about],
            read=[_as_read(one, log.printed) for one in problems] if request.explain else None,
            asked=keep_question(snapshot, results[0].text, by_ref, known_as=known_as) if results else None,
            candidates=in_log(client, ends.text, answered),
        )


def _as_read(one: LogProblem, printed: Mapping[int, str]) -> ReadProblem:
    """Return how a problem was read."""
    said = one.said
    return ReadProblem(
        line=one.number, tool=one.tool, code=one.code, message=one.message, template=said.template,
        names=list(said.names), identity=one.by, file=one.file, place=one.line, test=one.test, frame=one.frame,
        text=one.text, printed=printed.get(one.number, one.text),
    )  # fmt: skip


def _without_machine(block: Sequence[Line], text: bytes, kept: Places) -> list[Line]:
    """Return lines without paths of this machine, as records have them; no lines where nothing changes."""
    if not kept.may_be_in(text):
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
    """What is kept of a log while it streams past: how long it is, and which problems it tells."""

    def __init__(self, *, keeps: bool) -> None:
        self.keeps = keeps
        self.printed: dict[int, str] = {}  # lines that tell problems, where they are kept
        self.lines = self.cut = 0
        self.unread = 0  # lines that were not read for problems: it took too long before
        self.used = 0.0  # seconds of the processor to read problems
        self.known = set[int]()  # lines in which a trigger or an expression was found
        self.reader = Reader()

    def read(self, block: Sequence[Line], text: str) -> None:
        """Take a piece of the log, as lines and as a text."""
        self.lines += len(block)
        self.cut += sum(line.is_cut for line in block)
        if self.used > LOG_TIMEOUT_S:
            self.unread += len(block)
            return
        began = thread_time()
        if not (self.reader.is_waiting or self.reader.formats.may_hold(text)):
            self.used += thread_time() - began
            return
        for line in block:
            printed = line.text.decode()
            self.reader.read(line.number, printed)
            if self.keeps and self.reader.last_problem == line.number:
                self.printed[line.number] = printed
        self.used += thread_time() - began

    def problems(self) -> list[LogProblem]:
        """Return the problems of the log."""
        return self.reader.end().problems


def _by_problem(
    snapshot: Snapshot, problems: Sequence[LogProblem], hits: dict[int, LogHit], known: Set[int]
) -> tuple[list[LogProblem], list[LogProblem]]:
    """
    Find the failures of problems; return the problems of which no failure is the same, and those that none is like.

    Args:
        known: lines that a trigger or an expression of a failure has found.
    """
    found: dict[int, set[int]] = {}  # places of problems by the failures that may be theirs
    for place, problem in enumerate(problems):
        for number in snapshot.catalog.with_errors(problem.keys, MOST_OF_ONE_SORT):
            found.setdefault(number, set()).add(place)
    records = snapshot.catalog.records({*found, *hits})
    told: dict[int, Verdict] = {}  # the best verdict of a problem, by its place
    for number, record in records.items():
        judgement = judgement_of(record, problems)
        if judgement is None:
            continue
        if judgement.problem is not None and number not in hits:
            problem = judgement.problem
            by: By = "signature" if judgement.verdict == "same" else "near"
            hit = LogHit(by, problem.text, problem.numbers[:MOST_LINES] or [problem.number])
            hit.verdict, hit.reasons = judgement.verdict, judgement.reasons
            hit.recorded = judgement.recorded.text.strip() if judgement.recorded else None
            hits[number] = hit
        elif number in hits and judgement.verdict != "same" and _is_vague(record):
            hits[number].verdict, hits[number].reasons = "unclear", judgement.reasons
        for place in found.get(number, ()):
            told[place] = min(told.get(place, "other"), judgement.verdict, key=ORDER.index)
    unknown = [
        (place, problem)
        for place, problem in enumerate(problems)
        if told.get(place) != "same" and known.isdisjoint(problem.numbers)
    ]
    return [problem for _, problem in unknown], [problem for place, problem in unknown if place not in told]


def _is_vague(record: Record) -> bool:
    """Return whether the trigger of a failure does not tell by itself which one it is."""
    if not isinstance(record, Failure):
        return False
    found, held = statement(record.trigger), record.holds_for
    return all(
        one.is_outer
        or ((held or one.by) == "frame" and not (one.frame or one.test or (one.said.is_about and not held)))
        for one in found
    )


def _triggers(problems: Iterable[LogProblem], kept: Places) -> list[str]:
    """Return texts that would find these problems again, without what is of this machine."""
    return list(dict.fromkeys(filter(None, (kept.shortened(one.trigger) for one in problems))))[:MOST_TEXTS]


def _by_meaning(snapshot: Snapshot, problems: Sequence[LogProblem], hits: dict[int, LogHit]) -> None:
    """Find the failure that is most similar to each problem, where one is similar enough; without a model by words."""
    settings = snapshot.settings.retrieval
    least = settings.critical if snapshot.vectors is None else settings.productive
    for problem in problems:
        for number, similarity in _nearest(snapshot, problem.trigger):
            if similarity < least or number in hits:
                continue
            record = snapshot.catalog.records([number])[number]
            hit = LogHit("similarity", problem.text, problem.numbers[:MOST_LINES], min(1.0, similarity))
            judgement = judgement_of(record, [problem])
            hit.verdict, hit.reasons = (judgement.verdict, judgement.reasons) if judgement else ("unclear", ())
            hits[number] = hit


def _likely(client: Client, problems: Sequence[LogProblem]) -> list[int]:
    """Return the failures that share words with problems: their vectors are needed first, where some are missing."""
    if client.vectors is None or not client.vectors.is_behind:
        return []
    return [number for one in problems for number in client.lexical.search(one.trigger, ["failure"], MOST_LIKELY)]


def _nearest(snapshot: Snapshot, text: str) -> Iterable[tuple[int, float]]:
    """Return the failure that is most similar to a text, and how similar it is."""
    vector = snapshot.client.question_vector(text)
    if snapshot.vectors is None or vector is None:
        return list(snapshot.lexical.search(text, ["failure"], 1).items())[:1]
    return snapshot.vectors.search(vector, ["failure"], 1)


def _place_of(hit: LogHit) -> tuple[int, int, int]:
    """Return where a failure comes in an answer: by its verdict, how it was found, and its line."""
    return ORDER.index(hit.verdict), RANKS.index(hit.by), hit.lines[0]


def _shown(hits: Mapping[int, LogHit], *, is_all: bool) -> dict[int, LogHit]:
    """Return what an answer shows: of what is only alike the most similar, of what is another nothing."""
    alike = sorted((hit for hit in hits.values() if hit.by == "similarity"), key=lambda hit: -(hit.similarity or 0.0))
    last = alike[MOST_ALIKE - 1].similarity or 0.0 if len(alike) >= MOST_ALIKE else 0.0
    return {
        number: hit
        for number, hit in hits.items()
        if is_all or (hit.verdict != "other" and (hit.by != "similarity" or (hit.similarity or 0.0) >= last))
    }


def _answers(snapshot: Snapshot, found: Mapping[int, LogHit], *, is_strict: bool, is_all: bool) -> list[Matched]:
    """Return what was found, surest first, then in the order of the log; if strict, nothing with a mark of doubt."""
    hits = _shown(found, is_all=is_all)
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
    doubts = {
        number: [*against(hits[number].verdict, hits[number].reasons), *doubter.of(one)]
        for number, one in records.items()
    }
    alike = variant_fixes(snapshot.catalog, records)
    order = sorted(
        (number for number in records if not (is_strict and is_doubted(doubts[number]))),
        key=lambda number: (*_place_of(hits[number]), records[number].ref),
    )
    return [
        Matched(
            ref=records[n].ref,
            by=hits[n].by,
            line=hits[n].lines[0],
            text=hits[n].text,
            lines=hits[n].lines,
            recorded=hits[n].recorded,
            similarity=hits[n].similarity,
            verdict=hits[n].verdict,
            reasons=list(hits[n].reasons),
            solved_by=solutions.get(n, []),
            record=records[n],
            fixes=fixes(records[n]),
            variant_fix=alike.get(n),
            cites=doubter.tree.cites_of(records[n], *(found.record for found in solutions.get(n, ()))),
            doubts=doubts[n],
            holds=doubter.conditions_met(records[n]),
        )
        for n in order
    ]
