"""Which files are reports of CI, and in which form each is."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from graphmem.features.harvest.reports import job_log, junit, report_log
from graphmem.features.harvest.reports.report import CheckReport, Unreadable
from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

MOST_FILES = 5_000  # of one folder
MOST_BYTES = 2**29  # of one file
LOOK_BYTES = 4_096  # of a file, by which its form is recognised
READERS: Mapping[str, Callable[[CheckReport], None]] = {
    "junit": junit.read,
    "report-log": report_log.read,
    "log": job_log.read,
}
XML = lazy_re(rb"^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*<")
LOG = lazy_re(
    rb"(?m)^(?:[^\t\n]{1,200}\t[^\t\n]{0,200}\t)?(?:\xef\xbb\xbf)?\d{4}-\d\d-\d\dT[\d:.]+Z |section_start:\d|^##\["
)
LOG_ENDS = (".log", ".txt")
NO_FORM = "of no known form"


def below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and those below it, in order; no link is followed, nothing hidden is looked at."""
    left = MOST_FILES
    for place, entries in safe_files.tree(folder):
        if any(part.startswith(".") for part in Path(place).relative_to(folder).parts):
            continue
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and not entry.name.startswith("."):
                yield Path(place, entry.name)
                left -= 1
                if not left:
                    return


def form_of(path: Path) -> str:
    """
    Return the form of a report by its beginning.

    Raises:
        Unreadable: it is too large, or of no known form.
        OSError: it is a link, or cannot be read.
    """
    with safe_files.opened(path) as file:
        size = file.seek(0, 2)
        if size > MOST_BYTES:
            raise Unreadable(f"has more than {MOST_BYTES:,} bytes")
        file.seek(0)
        head = file.read(LOOK_BYTES)
    if XML.match(head):
        return "junit"
    if b'"$report_type"' in head or head.startswith(b'{"pytest_version"'):
        return "report-log"
    if b"\0" not in head and (path.suffix in LOG_ENDS or LOG.search(head)):
        return "log"
    raise Unreadable(NO_FORM)
