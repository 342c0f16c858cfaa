"""How extractors read on a terminal."""

from graphmem.core.records.bulk_replace import Extraction
from graphmem.features.extractors.contract import Extracted, ExtractorAdded, ExtractorList
from graphmem.kernel.registry import Printout, reads
from graphmem.kernel.system.shell import command


@reads(ExtractorList)
def _extract_list_text(answer: ExtractorList) -> Printout:
    lines = [
        f"{one.name}  {'trusted' if one.trusted else 'not trusted'}  writes {', '.join(one.writes)}"
        f"  runs: {command(*one.command)}"
        for one in answer.extractors
    ]
    return Printout(
        "\n".join([*lines, *(f"error: {found}" for found in answer.findings)]),
        "no extractors yet; one comes with graphmem: graphmem extract add python"
        if not (answer.extractors or answer.findings)
        else "",
    )


@reads(Extracted)
def _extract_run_text(answer: Extracted) -> Printout:
    return Printout(
        "\n".join(map(_extraction_line, answer.extractions)),
        *(f"{one.name}: {line}" for one in answer.extractions for line in one.said),
    )


@reads(ExtractorAdded)
def _extract_add_text(answer: ExtractorAdded) -> Printout:
    name = answer.extractor.name
    types = f", declared {', '.join(answer.types)}" if answer.types else ""
    return Printout(f"added extractor {name}{types}", f"next: {command('graphmem', 'extract', 'run', name)}")


def _extraction_line(one: Extraction) -> str:
    """Return what became of the rows of an extractor, in one line."""
    counts = {name: getattr(one, name) for name in ("created", "updated", "unchanged", "removed", "left", "kept")}
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return f"{one.name}: {told or 'nothing found'}"
