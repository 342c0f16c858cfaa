"""
What can be found in real sessions of coding agents, and what it answers later: ``python -m tests.bench.harvest``.

The sessions are the public half of ``sessions`` (150 of Claude Code on one Go project), with pairs and recurrences that
a person judged. Pairs: precision and recall of what is kept. Replay: each failed command in the order of time asks what
the sessions before it have left, beside a full-text search over the earlier failures and beside a key made of the last
line with an error, in the same run. Left out: the constants of the worth are chosen on all sessions but one, from
nothing, and judge the pairs of that one.
"""

import argparse
import gzip
import json
import math
import re
import resource
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphmem.core.logs import worth
from graphmem.core.logs.diagnosis import diagnose
from graphmem.core.logs.draft import drafted, flaky, keys_of, left_open
from graphmem.core.logs.fix_pairs import FixPair, SessionReader, called
from graphmem.core.logs.outcome import outcome_of
from graphmem.core.logs.output_problem import problems, usage_error
from graphmem.features.harvest.transcripts.places import READERS
from graphmem.kernel.machine.candidates import Queue
from graphmem.kernel.model.candidate import Candidate
from graphmem.kernel.model.transcript import FileEdit, Message, RanCommand, TranscriptEvent

Row = Mapping[str, Any]
BEST = 50
SPEED_BYTES = 100_000_000  # of transcripts that are read to measure the speed
WORD = re.compile(r"[a-z_]{3,}")


@dataclass
class Session:
    """One session: its events in order."""

    name: str
    events: list[TranscriptEvent] = field(default_factory=list)


def sessions_of(folder: Path) -> list[Session]:
    """Return the sessions of the set, in the order of their beginning."""
    found: dict[str, Session] = {}
    with gzip.open(folder / "events.ndjson.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if (event := event_of(row)) is not None:
                found.setdefault(row["session"], Session(row["session"])).events.append(event)
    return list(found.values())


def event_of(row: Row) -> TranscriptEvent | None:
    """Return an event of the set as the readers make them, with what a hook would have seen above the tail."""
    if row["kind"] == "command":
        is_refused = bool(row.get("rejected") or row.get("skipped") or row.get("interrupted"))
        output = "\n".join([*(row.get("cut_errors") or ()), row.get("output_tail") or ""])
        status = None if row.get("ok") is None else 0 if row["ok"] else row.get("exit") or 1
        commit = row.get("commit") or ""
        return RanCommand(row["at"], row["seq"], row["command"], status, output, "", commit, is_refused)
    if row["kind"] == "edit":
        edit = row.get("edit") or {}
        sides = edit.get("removed") or "", edit.get("added") or ""
        is_done, is_refused = row.get("ok") is not False, bool(row.get("rejected"))
        return FileEdit(row["at"], row["seq"], row.get("file") or "", *sides, is_done, is_refused)
    return Message(row["at"], row["seq"], "person", row["text"]) if row["kind"] == "prompt" else None


def candidates_of(session: Session, reader: SessionReader) -> Iterator[tuple[Candidate, int]]:
    """Yield the candidates of a session, each with the number of the run that failed."""
    source = {"source": "claude-code", "session": session.name}
    for event in session.events:
        for pair in reader.read(event):
            made = drafted(pair, **source, root="") if pair.is_cause else flaky(pair, **source)
            yield made, pair.failed.number
    for one in reader.open:
        yield left_open(one, **source), one.failed.number


def pairs(sessions: Sequence[Session], gold: Row) -> list[str]:
    """Return lines on pairs: how many are found and kept, and how the judged ones compare."""
    queue, totals, judged = Queue(), Counter[str](), dict[str, set[str]]()
    labels = {(g["session"], number): g for g in gold["pairs"] for number in (g["fail"], *g["earlier_failures"])}
    for session in sessions:
        reader = SessionReader()
        for candidate, number in candidates_of(session, reader):
            queue.add(candidate)
            totals["pairs"] += candidate.pattern is not None
            if label := labels.get((session.name, number)):
                judged.setdefault(label["id"], set()).add(candidate.id)
        totals.update(commands=reader.commands, failed=reader.failed, hidden=reader.hidden)
    waiting = queue.waiting()
    lines = [
        f"commands {totals['commands']:,}, failed by status {totals['failed']}, "
        f"behind a status of 0 {totals['hidden']}",
        f"problems that were fixed {totals['pairs']} ({totals['pairs'] / len(sessions):.1f} a session), "
        f"candidates {len(waiting)}",
    ]
    lasting = sum(g["lasting"] for g in gold["pairs"])
    for name, among in (("kept", waiting), (f"the {BEST} best", waiting[:BEST])):
        ids = {one.id for one in among}
        kept = [g for g in gold["pairs"] if judged.get(g["id"], set()) & ids]
        real, good = sum(g["label"] == "real_fix" for g in kept), sum(g["lasting"] for g in kept)
        lines.append(
            f"{name}: {len(kept)} judged pairs, real fixes {real / len(kept):.2f}, lasting {good / len(kept):.2f}, "
            f"recall of the {lasting} lasting ones {good / lasting:.2f}"
        )
    return lines


@dataclass
class JudgedPair:
    """A pair that a person judged, and the problems of its runs."""

    session: str
    lasting: bool
    found: list[FixPair] = field(default_factory=list)

    @property
    def worth(self) -> float:
        """Return its worth by the constants as they are."""
        return max(map(worth.worth_of, self.found))


class Constants:
    """The constants of the worth, which are tried out and put back."""

    SIGNS = ("TRIES", "SETTINGS", "EXPLAINED", "INTERFACE", "UNCLEAR")
    OF_SORT, OF_SIGN = [n / 10 for n in range(1, 9)], [n / 20 for n in range(7)]

    def __init__(self) -> None:
        self.places: list[tuple[Any, Any, list[float]]] = [
            *((worth.OF_SORT, sort, self.OF_SORT) for sort in worth.OF_SORT),
            *((vars(worth), sign, self.OF_SIGN) for sign in self.SIGNS),
        ]

    def choose(self, pairs: Sequence[JudgedPair]) -> float:
        """Choose all constants on some pairs, from nothing; return the threshold that goes with them."""
        for place, name, values in self.places:
            place[name] = 0.3 if values is self.OF_SORT else 0.0
        for place, name, values in self.places * 2:
            old = place[name]

            def order(value: float, place: Any = place, name: Any = name, old: float = old) -> tuple[float, float]:
                place[name] = value
                return average_precision(pairs), -abs(value - old)

            place[name] = max(values, key=order)
        return max((n / 20 for n in range(1, 16)), key=lambda least: (f_score(pairs, least), least))


def average_precision(pairs: Sequence[JudgedPair]) -> float:
    """Return the mean precision at each lasting pair, the best worth first; of equal worth the lasting ones last."""
    ordered = sorted(pairs, key=lambda pair: (-pair.worth, pair.lasting))
    places = [place for place, pair in enumerate(ordered, 1) if pair.lasting]
    return round(sum(number / place for number, place in enumerate(places, 1)) / len(places), 4)


def f_score(pairs: Sequence[JudgedPair], least: float) -> float:
    """Return the harmonic mean of precision and recall of the pairs that are worth so much."""
    kept = [pair for pair in pairs if pair.worth >= least]
    return 2 * sum(pair.lasting for pair in kept) / (len(kept) + sum(pair.lasting for pair in pairs))


def left_out(sessions: Sequence[Session], gold: Row) -> str:
    """Return how the pairs of each session are judged by constants that were chosen on all other sessions."""
    labels = {(g["session"], number): g for g in gold["pairs"] for number in (g["fail"], *g["earlier_failures"])}
    found: dict[str, JudgedPair] = {}
    for session in sessions:
        reader = SessionReader()
        for pair in (pair for event in session.events for pair in reader.read(event) if pair.is_cause):
            if g := labels.get((session.name, pair.failed.number)):
                found.setdefault(g["id"], JudgedPair(g["session"], g["lasting"])).found.append(pair)
    constants, kept = Constants(), list[JudgedPair]()
    before = [(place, name, place[name]) for place, name, _ in constants.places]
    for name in sorted({pair.session for pair in found.values()}):
        least = constants.choose([pair for pair in found.values() if pair.session != name])
        kept += [pair for pair in found.values() if pair.session == name and pair.worth >= least]
    for place, name, value in before:
        place[name] = value
    right, lasting = sum(pair.lasting for pair in kept), sum(pair.lasting for pair in found.values())
    return (
        f"constants chosen with the session left out: {len(kept)} of {len(found)} pairs kept, "
        f"lasting {right / len(kept):.2f}, recall of the {lasting} lasting ones {right / lasting:.2f}"
    )


class Found:
    """The memory as it is: candidates by the keys of their problems."""

    def __init__(self) -> None:
        self.queue = Queue()

    def answers(self, event: RanCommand) -> bool:
        """Return whether a candidate reports a problem of this run."""
        wrong = usage_error(called(event.command), event.output)
        found = [wrong] if wrong else problems(event.output)
        return bool(self.queue.of_keys([key for one in found for key in keys_of(one)]))

    def learn(self, session: Session) -> None:
        """Take in a session that ended."""
        for candidate, _ in candidates_of(session, SessionReader()):
            self.queue.add(candidate)


class LastLine:
    """A key made of the last line of a failure, without numbers: what many tools keep."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    def key(self, event: RanCommand) -> str:
        """Return the key of a failed run."""
        lines = [line for line in event.output.splitlines() if line.strip()]
        return re.sub(r"\d+", "0", lines[-1].strip()) if lines else ""

    def answers(self, event: RanCommand) -> bool:
        """Return whether an earlier session failed with this line."""
        return self.key(event) in self.known

    def learn(self, session: Session) -> None:
        """Take in a session that ended."""
        self.known |= {self.key(event) for event in failures(session)} - {""}


class FullText:
    """A full-text search over the outputs of earlier failures (BM25), which answers from a share of the words on."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.texts: list[Counter[str]] = []
        self.counts: Counter[str] = Counter()

    def words(self, event: RanCommand) -> Counter[str]:
        """Return the words of what a run printed, without how the runner ends."""
        outer = {one.number for one in diagnose(event.output).outer}
        lines = [line for number, line in enumerate(event.output.split("\n"), 1) if number not in outer]
        return Counter(WORD.findall("\n".join(lines).lower()))

    def answers(self, event: RanCommand) -> bool:
        """Return whether one earlier failure has enough of the rare words of this one."""
        asked = self.words(event)
        rarity = {word: math.log(1 + len(self.texts) / (1 + self.counts[word])) for word in asked}
        total = sum(rarity.values())
        if not self.texts or not total:
            return False
        best = max(sum(rarity[word] for word in asked if word in text) for text in self.texts)
        return best / total >= self.share

    def learn(self, session: Session) -> None:
        """Take in a session that ended."""
        for event in failures(session):
            words = self.words(event)
            self.texts.append(words)
            self.counts.update(words.keys())


def failures(session: Session) -> Iterator[RanCommand]:
    """Yield the commands of a session that failed, also behind a status of 0."""
    for event in session.events:
        if not isinstance(event, RanCommand) or event.is_refused:
            continue
        if outcome_of(event.command, event.status, event.output) == "failed":
            yield event


def replay(sessions: Sequence[Session], gold: Row, memory: Any) -> tuple[Counter[tuple[str, bool]], int]:
    """Return how often a memory answers a failed command from the sessions before it, by label, and how many ran."""
    judged = {(g["session"], g["seq"]): g["same_problem"] for g in gold["recurrence"]}
    counts: Counter[tuple[str, bool]] = Counter()
    commands = 0
    for session in sessions:
        commands += sum(isinstance(event, RanCommand) and not event.is_refused for event in session.events)
        for event in failures(session):
            label = judged.get((session.name, event.number), "not judged")
            counts[label, memory.answers(event)] += 1
        memory.learn(session)
    return counts, commands


def shares(counts: Counter[tuple[str, bool]], commands: int) -> str:
    """Return a replay in words."""
    met = {found: counts["same", found] + counts["same_rule", found] for found in (True, False)}
    right, wrong = met[True], counts["different", True]
    hints = sum(number for (_, found), number in counts.items() if found)
    return (
        f"answered {right}/{sum(met.values())} = {right / sum(met.values()):.2f} where it had been met, "
        f"{wrong}/{wrong + counts['different', False]} = {wrong / (wrong + counts['different', False]):.2f} where not; "
        f"hints {1000 * hints / commands:.1f} per 1,000 commands, "
        f"right {right / (right + wrong):.2f} of the judged ones"
    )


def speed(folder: Path, place: Path) -> str:
    """Return how fast transcripts are read, and how much memory that takes."""
    texts = b"".join(path.read_bytes() for path in sorted((folder / "claude-code").glob("*.jsonl")))
    path = place / "big.jsonl"
    with path.open("wb") as file:
        for _ in range(SPEED_BYTES // len(texts)):
            file.write(texts)
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    for session in READERS["claude-code"](path, Counter()):
        reader = SessionReader()
        for event in session.events:
            for pair in reader.read(event):
                drafted(pair, source="claude-code", session=session.session, root="")
    took = time.process_time() - began
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return f"{path.stat().st_size / 1e6 / took:.0f} MB a second of one core, {more:.0f} MB more of memory"


def main() -> None:
    """Measure all of it, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the public sets")
    parser.add_argument("--place", type=Path, default=Path("/tmp"), help="where a large transcript is made")
    given = parser.parse_args()
    folder = given.data / "sessions"
    sessions, gold = sessions_of(folder), json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    print("\n".join(pairs(sessions, gold)))
    print(left_out(sessions, gold))
    memories = {
        "candidates": Found(),
        "last line": LastLine(),
        "full text 0.5": FullText(0.5),
        "full text 0.7": FullText(0.7),
        "full text 0.9": FullText(0.9),
    }
    for name, memory in memories.items():
        print(f"{name}: {shares(*replay(sessions, gold, memory))}")
    print(speed(given.data / "importers" / "transcripts", given.place))


if __name__ == "__main__":
    main()
