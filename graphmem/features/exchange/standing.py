"""Which constraints, decisions and fixes go into the files of agents without hooks (decision 44)."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from posixpath import normpath

from graphmem.constants import RULES_BUDGET
from graphmem.core.briefing.sections import position
from graphmem.core.evidence.doubt import NAMES_OF_PLATFORMS, comes_and_goes, is_doubted, other_platform
from graphmem.core.evidence.doubts import Doubter
from graphmem.core.evidence.notes import advice
from graphmem.core.search.budget import quoted_name
from graphmem.core.sessions.operations import constraints, contradictions, decisions
from graphmem.errors import Refused
from graphmem.features.exchange.dump_contract import Dump, DumpRequest
from graphmem.features.exchange.rule_files import FIXES, FIXES_BY_PATH, MISSING, RuleLine, code, fitting_lines, written
from graphmem.kernel.model import Constraint, Decision, Failure, MemoryRecord, Record
from graphmem.kernel.model.cite import Cite
from graphmem.kernel.model.reports import help_ratio
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.system.shell import command
from graphmem.kernel.text import count
from graphmem.names import one_line

KINDS = ("constraint", "decision", "failure", "pattern")
LEAST_OF_A_LINE = 8  # tokens: more lines than a budget has of these never fit
HEADLINE_CHARACTERS = 200
NAMED = 3  # records with a mark of doubt that are named


def rules(snapshot: Snapshot, request: DumpRequest) -> Dump:
    """
    Return the files for agents without hooks: what has no mark of doubt, within the budget.

    What the answer counts as left out has no room; what is doubted is in a notice.

    Raises:
        Refused: a kind is named that such files do not hold.
    """
    budget, kinds = request.budget or RULES_BUDGET, request.kinds or KINDS
    for kind in kinds:
        if kind not in KINDS:
            hint = command("graphmem", "dump", "--to", "rules", *(f"--kind={name}" for name in KINDS))
            raise Refused(f"rules holds records of kind {', '.join(KINDS)}; {kind!r} is another kind", hint=hint)
    held = sorted(constraints(snapshot, None), key=_by_age, reverse=True) if "constraint" in kinds else []
    decided = decisions(snapshot, None) if "decision" in kinds else []
    useful = sorted(_with_fix(snapshot, [kind for kind in KINDS[2:] if kind in kinds]), key=_by_worth, reverse=True)
    doubter, doubted = Doubter(snapshot), list[Record]()

    def sure() -> Iterator[MemoryRecord]:
        for record in useful:
            elsewhere = any(other_platform(record, platform) for platform in NAMES_OF_PLATFORMS)
            if is_doubted(doubter.of(record)) or elsewhere:  # the files go to machines of all platforms
                doubted.append(record)
            else:
                yield record

    known = [*held, *decided, *islice(sure(), budget // LEAST_OF_A_LINE)]
    opposites = contradictions({one.ref: said for one in known if (said := position(one))})
    doubted += [one for one in known if one.ref in opposites]
    known = [one for one in known if one.ref not in opposites]
    lines = [_line_of(one) for one in known]
    places = fitting_lines(lines, budget)
    counts = Counter({"constraint": len(held), "decision": len(_numbers_of(snapshot, "decision")) if decided else 0})
    counts += Counter(one.kind for one in useful)
    left_out = counts - Counter(one.kind for one in (*(known[place] for place in places), *doubted))
    missing = " and ".join(count(left_out[kind], kind) for kind in KINDS[:2] if left_out[kind])
    if doubted:
        names = ", ".join(one.ref for one in doubted[:NAMED]) + (", …" if len(doubted) > NAMED else "")
        snapshot.notify_once(f"{count(len(doubted), 'record')} with a mark of doubt left out: {names}")
    chosen = sorted((lines[place] for place in places), key=lambda line: line.text if line.is_of_fix else "")
    files = written(chosen, MISSING.format(missing) if missing else "")
    return Dump(format="rules", rows=len(places), left_out=dict(sorted(left_out.items())), files=files)


def _numbers_of(snapshot: Snapshot, kind: str) -> list[int]:
    """Return the numbers of the live records of a kind."""
    return [number for number, *_ in list(snapshot.catalog.live_rows(kind))]


def _with_fix(snapshot: Snapshot, kinds: Sequence[str]) -> Iterator[MemoryRecord]:
    """Yield the failures and patterns that say what to do."""
    for kind in kinds:
        for record in snapshot.catalog.records(_numbers_of(snapshot, kind)).values():
            if isinstance(record, MemoryRecord) and advice(record):
                yield record


def _by_age(record: Record) -> tuple[datetime, str]:
    """Return what orders constraints, the oldest first."""
    return record.created_at, record.ref


def _by_worth(record: MemoryRecord) -> tuple[float, int, datetime, str]:
    """Return what orders fixes, the most helpful last."""
    return help_ratio(record.helped, record.failed), record.helped, record.created_at, record.ref


def _line_of(record: Record) -> RuleLine:
    """Return what a record says in one line."""
    match record:
        case Constraint():
            until = f" (until {record.expires_at:%Y-%m-%d %H:%M} UTC)" if record.expires_at else ""
            return RuleLine("Constraints", f"{code(record.constraint)}{until}")
        case Decision():
            because = f" because {code(record.reasoning)}" if record.reasoning else ""
            return RuleLine("Decisions", f"{code(record.decision)}{because}")
    assert isinstance(record, MemoryRecord)
    paths = tuple(sorted(set(_paths_of(record))))
    (_, what), *_ = advice(record)
    headline = code(one_line(record.headline, HEADLINE_CHARACTERS))
    again = f"{comes_and_goes(record)}; " if isinstance(record, Failure) and record.flaky else ""
    text = f"{quoted_name(record.ref)} {record.word} {headline}: {again}{code(what)}"
    return RuleLine(FIXES_BY_PATH if paths else FIXES, text, paths)


def _paths_of(record: MemoryRecord) -> Iterator[str]:
    """Yield the paths that a record lists or cites; none that leads out of the project."""
    cites = []
    for text in record.cites:
        with contextlib.suppress(ValueError):  # of a row that somebody edited
            cites.append(Cite.parse(text).path)
    for path in (*record.files, *cites):
        plain = normpath(path)
        if not path.startswith("/") and plain.split("/")[0] not in (".", ".."):
            yield f"{plain}/" if path.endswith("/") else plain
