"""Reports of CI that tests read."""

from pathlib import Path

from graphmem.features.harvest.reports.forms import READERS, form_of
from graphmem.features.harvest.reports.report import CheckReport

SAMPLES = Path(__file__).parents[3] / "data" / "ci"
WRITTEN = "2026-11-05T00:00:00.000Z"  # when the file of a report was written, as far as these tests know


def read(path: Path) -> CheckReport:
    """Return what a report says."""
    report = CheckReport(path, path.name, WRITTEN)
    READERS[form_of(path)](report)
    return report


def written(path: Path, text: str | bytes) -> CheckReport:
    """Write a report and return what it says."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path)


def outcomes(report: CheckReport) -> dict[str, str]:
    """Return how each check of a report ended."""
    return {result.name: result.outcome for result in report.results.values()}
