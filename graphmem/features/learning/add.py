"""Adding what runs and tasks taught by hand."""

from graphmem.core.records.change import add_record
from graphmem.core.records.record_contract import Changed
from graphmem.features.learning.experiences import (
    AddExperienceRequest,
)
from graphmem.features.learning.lessons import AddLessonRequest
from graphmem.kernel.registry import operation
from graphmem.kernel.store.runtime import Client


@operation("lessons.add", writes=True, previews="dry_run", scoped=True)
def add_lesson(client: Client, request: AddLessonRequest) -> Changed:
    """Add a lesson by hand; a ``preference`` is injected at once, any other type after two runs saw it."""
    return add_record(client, request)


@operation("experiences.add", writes=True, positional=2, previews="dry_run", scoped=True)
def add_experience(client: Client, request: AddExperienceRequest) -> Changed:
    """Add what a finished task taught; above 200 experiences, the oldest of low confidence is archived."""
    return add_record(client, request)
