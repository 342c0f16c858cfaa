"""The project's own formats of what tools print: TOML files, written by hand, read and checked."""

from pathlib import Path

from graphmem.core.logs.diagnosis import misread
from graphmem.core.logs.formats import BadFormat, Format, of_project
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.system import safe_files

FORMAT_BYTES = 64 * 1024  # bytes of a file of formats
MOST_FILES = 50
FORM = "[[format]] blocks with a tool and a pattern of RE2, see docs/guides/formats.md"


def _format_files(layout: Layout) -> list[Path]:
    """Return the files of formats that are read, in name order; links are not followed."""
    if not safe_files.is_folder(layout.formats):
        return []
    found = [layout.store / file for file in layout.look(layout.formats).files]
    return sorted(path for path in found if path.suffix == ".toml" and path.parent == layout.formats)[:MOST_FILES]


def read_formats(layout: Layout) -> tuple[tuple[tuple[str, str], ...], list[Finding]]:
    """Return the texts of the files of formats, each with its name, and what is wrong with those that are left out."""
    texts: list[tuple[str, str]] = []
    findings: list[Finding] = []
    for path in _format_files(layout):
        name = f"formats/{path.name}"
        try:
            text = safe_files.text(path, FORMAT_BYTES)
        except (ValueError, OSError) as error:
            findings.append(Finding.of(name, Code.BAD_FORMAT, str(error), FORM))
            continue
        texts.append((name, text))
    found = [*of_project(texts)]
    wrong = [str(one) for one in found if isinstance(one, BadFormat)]
    return tuple(texts), findings + [finding(text) for text in wrong]


def format_findings(layout: Layout) -> list[Finding]:
    """Return what is wrong with the files of formats, also where one reads an example otherwise than it says."""
    texts, findings = read_formats(layout)
    blocks = (one for one in of_project(texts) if isinstance(one, Format))
    return findings + [finding(text) for block in blocks for text in misread(block)]


def finding(text: str) -> Finding:
    """Return what is wrong with a file of formats, from a text that begins with its name."""
    name, _, said = text.partition(":")
    file, _, block = name.partition(", ")
    return Finding.of(file, Code.BAD_FORMAT, ": ".join(filter(None, [block, said.strip()])), FORM)
