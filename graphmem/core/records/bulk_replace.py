"""
What one source writes, as a whole: its rows of before are replaced, those of others stay.

A row belongs to the source that its ``sources`` alone names. What a source no longer gives is taken out, but
for records that others refer to.
"""

from collections.abc import Collection, Mapping, Sequence

from graphmem.constants import EXTRACT_NAMED
from graphmem.core.records.bulk_add import add_edges, read_lines
from graphmem.core.records.bulk_new import Project
from graphmem.core.records.intake import Intake, Policy, under_current_names
from graphmem.kernel.answer import Part
from graphmem.kernel.model import Entity
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import BadLine, decode, encode, refuse_long
from graphmem.kernel.store.snapshot import Snapshot, Writing, refuse_unwritable
from graphmem.kernel.system.collector import collector_paused
from graphmem.names import row_id, row_title

# The fields of a printed line: those that it must have, and those that it may have.
FIELDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "entity": (("type", "name"), ("value",)),
    "edge": (("from", "type", "to"), ("weight", "note")),
}
KINDS = {"entity": "entity", "edge": "relation"}


class Extraction(Part):
    """
    What became of the rows that one extractor printed, and of those that it wrote before.

    ``left`` are rows that others wrote and that stay as they are. ``kept`` are records that it no longer prints
    and that stay, for others refer to them. ``said`` is the end of its standard error.
    """

    name: str
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    left: int = 0
    kept: int = 0
    said: list[str] = []


def row_of(line: bytes, source: str, writes: Collection[str], vocabulary: Vocabulary) -> bytes:
    """
    Return the row that a printed line says, as a line of the ledger with its source.

    Raises:
        BadLine: it is no entity and no edge of the types in ``writes``.
    """
    refuse_long(line)
    row = decode(line)
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in FIELDS:
        raise BadLine(f"kind {kind!r} is not known here", "entity or edge", code="unknown_kind")
    required, optional = FIELDS[kind]
    for name in required:
        if not isinstance(row.get(name), str):
            raise BadLine(f"an {kind} needs a text as {name!r}", f"the fields {', '.join(required)}", code="bad_row")
    if unknown := sorted(row.keys() - {"kind", *required, *optional}):
        fields = ", ".join((*required, *optional))
        raise BadLine(f"an {kind} has no field {unknown[0]!r}", f"of {fields}", code="bad_row")
    row = under_current_names(row, vocabulary)
    if row["type"] not in writes:
        raise BadLine(f"type {row['type']!r} is not among those that it writes", ", ".join(writes), code="refused")
    return encode({**row, "kind": KINDS[kind], "sources": [source]})


def replace(snapshot: Snapshot, name: str, source: str, lines: Sequence[bytes]) -> tuple[Intake, Extraction]:
    """
    Put the rows of a source in the place of those that it wrote before, all or none; any snapshot is only read.

    Args:
        name: of the input, for messages.
        lines: as ``row_of`` returns them.

    Returns:
        The addition, whose findings say why nothing was written, and what became of the rows.
    """
    catalog, writes = snapshot.client.everything, snapshot.client.rights.writes
    with collector_paused():
        before = catalog.rows_of_source(source)
        intake = Intake(snapshot, Policy(owned=before), name)
        rows = list(read_lines(intake, lines, Project(snapshot.root)))
        intake.take([given for given in rows if isinstance(given.record, Entity)])
        add_edges(intake, [given for given in rows if given.is_edge])
        gone = before.keys() - intake.firsts.keys()
        for number in sorted(gone) if writes is not None else ():
            refuse_unwritable(before[number][1], writes or ())
        _refuse_gone_ends(intake, gone)
        kept = catalog.referred({number for number in gone if before[number][1]["kind"] != "relation"}, gone)
        updated = len(intake.puts.keys() & before.keys())
        own = [number for number in before.keys() - gone if before[number][1].get("archived_at") is None]
        done = Extraction(
            name=name,
            created=len(intake.puts) - updated,
            updated=updated,
            unchanged=len(own) - updated,
            removed=len(gone) - len(kept),
            left=len(intake.left),
            kept=len(kept),
        )
        if not intake.findings:
            told = [("is not its own, and stays as it is", intake.left)]
            staying = sorted(row_title(before[number][1]) for number in kept)
            told.append(("is no longer found, and stays, for others refer to it", staying))
            for what, named in told:
                if named:
                    snapshot.notify(f"{name}: {_some(named)} {what}")
            removes: dict[str, list[int]] = {}
            for number in sorted(gone - kept):
                removes.setdefault(before[number][0], []).append(number)
            if isinstance(snapshot, Writing) and (intake.puts or removes):
                snapshot.commit(list(intake.puts.values()), removes, via=f"extractor:{name}")
    return intake, done


def _refuse_gone_ends(intake: Intake, gone: Collection[int]) -> None:
    """Note as bad the edges to records that the source wrote before and gives no more."""
    keys = {key for key in intake.handles.values() if row_id(key) in gone}
    if not keys:
        return
    for given in list(intake.firsts.values()):
        named = [given.row["from"], given.row["to"]] if given.is_edge else []
        for ref in [ref for ref in named if intake.handles.get(ref) in keys][:1]:
            intake.refuse(given, BadLine(f"{ref!r} is not printed any more", "an entity of this run"))


def _some(named: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(named) - EXTRACT_NAMED:,} more" if len(named) > EXTRACT_NAMED else ""
    return ", ".join(named[:EXTRACT_NAMED]) + more
