"""What operations on extractors take and return."""

from pydantic import Field

from graphmem.core.records.bulk_replace import Extraction
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.finding import Finding
from graphmem.kernel.parameters import DryRun, Texts
from graphmem.kernel.request import Request


class AddExtractorRequest(Request):
    """Which extractor of graphmem's own to set up, with the types that it writes."""

    name: str = Field(description="An extractor that comes with graphmem: python")


class RunExtractorsRequest(Request):
    """Which extractors to run, in this order."""

    names: Texts = Field(description="Names of extractors", min_length=1)
    dry_run: DryRun = False


class ExtractorShown(Part):
    """An extractor of the project, and whether it may run in this clone."""

    name: str
    description: str
    command: list[str]
    cwd: str
    writes: list[str]
    timeout_s: float
    trusted: bool


class ExtractorList(Answer):
    """The extractors of the project, and what is wrong with the files that give none."""

    extractors: list[ExtractorShown]
    findings: list[Finding] = []


class ExtractorAdded(Answer):
    """An extractor that was set up, and the types that were declared for it."""

    extractor: ExtractorShown
    types: list[str]


class Extracted(Answer):
    """What extractors found, each in one write of its own."""

    extractions: list[Extraction]
