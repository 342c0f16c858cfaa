"""Records, edges and answers about them as people read them: short, one line a record where that is possible."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.core.evidence.citation_contract import VariantFix
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.notes import advice, of_variant
from graphmem.core.evidence.text import ADVICE, ASIDE, against
from graphmem.core.records.candidate import MARK
from graphmem.core.records.record_contract import Changed, Got, Listed
from graphmem.core.records.relation_contract import Edge, Reached, Solution
from graphmem.kernel import terminal
from graphmem.kernel.answer import Store
from graphmem.kernel.model import Failure, MemoryRecord, Record
from graphmem.kernel.model.authors import CREATION
from graphmem.kernel.system import shell
from graphmem.kernel.text import count, one_line
from graphmem.names import visible

if TYPE_CHECKING:  # 8 ms that most answers need not take
    from graphmem.core.records.candidate_contract import SeenCandidate

ADVISING = ("fix", "insight", "match")  # texts that a user may want to make the current ones
LAST = ("sources", "alternates", "aliases", "created_at", "updated_at")
UNSHOWN = ("kind", "key", "name", "ref", "edited", "via", "authors")


def line(record: Record, doubts: Sequence[Doubt] = ()) -> str:
    """Return a record on one line: its reference, what speaks against it, and the first thing to know of it."""
    return f"{record.ref}  {marks(doubts)}{_says(record)}".rstrip()


def listed(found: Sequence[Listed]) -> str:
    """Return records as a list: a line each; on a terminal with what is to be done, each text on a line of its own."""
    if not terminal.is_terminal():
        return "\n".join(line(one.record, one.doubts) for one in found)
    return "\n".join(ASIDE.join([one.ref, *against(one.doubts), gist(one.record)]) for one in found)


def gist(record: Record) -> str:
    """Return what a record says in one line, and below it what to do or why."""
    return ASIDE.join([_says(record), *advice_lines(record)])


def _says(record: Record) -> str:
    """Return what a record says, in one line."""
    return f"{f'[{record.qualifier}] ' if record.qualifier else ''}{one_line(record.headline)}"


def advice_lines(record: Record) -> list[str]:
    """Return what a record says to do, or why, a text a line; of a failure the first fix to try first."""
    return [f"{word}: {one_line(said, ADVICE)}" for word, said in advice(record)]


def variant_lines(found: VariantFix | None, store: Store = "project") -> list[str]:
    """Return the fix of a variant, for a failure that nothing solves."""
    return [f"{word}: {one_line(said, ADVICE)}" for word, said in of_variant(found, store)]


def waiting(number: int) -> str:
    """Return how many candidates wait for a person."""
    return f"{count(number, 'candidate')} {'wait' if number > 1 else 'waits'} for you"


def seen(found: "SeenCandidate") -> str:
    """Return a candidate that was seen and not reviewed yet; where its text is not for the reader, how to see it."""
    if not found.text:
        return f"candidate {found.id}  [{MARK}]: {shell.command('graphmem', 'review', 'show', found.id)}"
    lines = [f"candidate {found.id}  [{MARK}]", f"> {one_line(found.text)}"]
    lines += [f"fix: {one_line(found.insight, ADVICE)}"] if found.insight else []
    return ASIDE.join([*lines, visible(found.seen)])


def handed_out(found: Solution | Got) -> str:
    """Return in a clause how often a memory worked after tasks got it; nothing where none did."""
    return f"  worked in {found.worked} of {count(found.handed_out, 'task')} that got it" if found.handed_out else ""


def changed(answer: Changed, *, is_dry: bool = False) -> str:
    """Return what a command did to a record, or what it would do."""
    would = "would be " if is_dry else ""
    lines = [f"{would}{answer.action} {answer.ref}"]
    if answer.merged_into:
        how = [] if answer.similarity is None else [f"similarity {answer.similarity:.3f}"]
        how += ["the same error signature"] if answer.merged_by == "signature" else []
        lines = [f"{would}merged into {answer.ref} ({', '.join(how)})"]
    if answer.superseded:
        lines.append(f"    takes the place of {answer.superseded}, which {'is' if not is_dry else 'would be'} archived")
    for variant in answer.variants:
        apart = f"; differs in {', '.join(map(one_line, variant.differs))}" if variant.differs else ""
        lines.append(f"    variant of {variant.ref} (similarity {variant.similarity:.3f}{apart})")
    for other in answer.set_aside:
        lines.append(f"    {other.field} set aside: {one_line(other.text)}")
        if other.field in ADVISING:
            command = shell.command("graphmem", "edit", answer.ref, f"--{other.field}", other.text)
            lines.append(f"        to make it the current one: {visible(command)}")
    return "\n".join(lines)


def fields(record: Record, *, but: str = "") -> str:
    """Return every field of a record that has a value, what it says first; all ``but`` one."""
    values = record.model_dump(by_alias=True)
    if isinstance(record, Failure):
        values["alternates"] = [found for found in values["alternates"] if found["field"] != "fix"]
    first = (record.says, *dict(record.advises), *dict(record.parts))
    names = [
        *(name for name in first if name in values),
        *(name for name in values if name not in (*first, *LAST)),
        *(name for name in LAST if name in values),
    ]
    lines = [record.ref]
    for name in names:
        if name == "fix" and isinstance(record, Failure):
            lines += [terminal.field(word, said) for word, said in advice(record)]
        elif name == "by" and record.by:
            lines.append(terminal.field(name, authorship(record)))
        elif name not in (*UNSHOWN, but) and values[name] not in (None, [], (), {}, "", False, 0):
            lines.append(terminal.field(name, shown(values[name])))
    return "\n".join(lines)


def authorship(record: Record) -> str:
    """Return who changed a record last and who wrote the rest, each with the way that it came."""
    others = [
        f"{'created' if field == CREATION else field} by {by or 'unknown'}{via and f' via {via}'}"
        for field, (by, via) in record.authors.items()
    ]
    return "; ".join([f"{record.by} via {record.via}", *others])


def shown(value: object) -> str:
    """Return a field's value for people: lists by commas, structures by their keys."""
    match value:
        case str():
            return value
        case float():
            return f"{value:g}"
        case list() | tuple():
            return ", ".join(map(shown, value))
        case dict():
            return ", ".join(f"{key} {shown(found)}" for key, found in value.items() if found not in (None, [], (), {}))
    return str(value)


def edge(found: Edge) -> str:
    """Return an edge with its weight."""
    note = f"  # {one_line(found.note, 60)}" if found.note else ""
    return f"{found.source} -{found.type} {found.weight:g}-> {found.target}{note}"


def holding(clauses: Sequence[str]) -> list[str]:
    """Return, as a line, which conditions of a record hold."""
    return [f"holds: {one_line('; '.join(clauses), ADVICE)}"] if clauses else []


def marks(doubts: Sequence[Doubt]) -> str:
    """Return the marks of doubt of a record for the line that it is on."""
    return "".join(f"! {one_line(doubt.text)}  " for doubt in doubts if doubt.is_mark)


def tree(start: str, reached: Sequence[Reached]) -> str:
    """Return the records that were reached as a tree of their strongest paths, with types, weights and products."""
    children: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    labels: dict[tuple[str, ...], str] = {}
    strength = {found.ref: found for found in reached}
    for found in reached:
        at: tuple[str, ...] = (start,)
        product = 1.0
        for step in found.path:
            far = step.target if step.direction == "out" else step.source
            product *= step.weight
            arrow = f"-{step.type} {step.weight:g}->" if step.direction == "out" else f"<-{step.type} {step.weight:g}-"
            child = (*at, f"{arrow} {far}")
            if child not in labels:
                labels[child] = f"{arrow} {far}  = {product:.4g}"
                children.setdefault(at, []).append(child)
            at = child
        if at in labels and found.ref in strength:
            labels[at] += f"  {marks(found.doubts)}{one_line(_says(found.record), 60)}"
    lines = [start]

    def walk(at: tuple[str, ...], indent: str) -> None:
        for place, child in enumerate(children.get(at, ())):
            is_last = place == len(children[at]) - 1
            lines.append(f"{indent}{'└── ' if is_last else '├── '}{labels[child]}".rstrip())
            walk(child, indent + ("    " if is_last else "│   "))

    walk((start,), "")
    return "\n".join(lines)


def worth(record: Record) -> str:
    """Return how often a memory helped and failed, where anything is known."""
    if isinstance(record, MemoryRecord) and (record.helped or record.failed):
        return f"  helped {record.helped} of {record.helped + record.failed}"
    return ""
