"""What may fix a failure that nothing solves: the fix of a variant of it."""

from collections.abc import Mapping

from graphmem.core.evidence.citation_contract import VariantFix
from graphmem.core.evidence.fixes import fixes
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.model import Failure, Record


def variant_fixes(catalog: Catalog, records: Mapping[int, Record]) -> dict[int, VariantFix]:
    """Return for the failures that nothing solves the first fix of their nearest variant that has an undisputed one."""
    open_ones = {number for number, record in records.items() if isinstance(record, Failure) and not fixes(record)}
    open_ones -= {step.near for step in catalog.steps(open_ones, ["solves"], "in")}
    steps = sorted(catalog.steps(open_ones, ["variant"], "both"), key=lambda step: -step.weight)
    others = catalog.records({step.far for step in steps})
    found: dict[int, VariantFix] = {}
    for step in steps:
        first = next((fix for fix in fixes(others[step.far]) if not fix.disputed), None)
        if first and step.near not in found:
            found[step.near] = VariantFix(ref=others[step.far].ref, text=first.text, help_ratio=first.help_ratio)
    return found
