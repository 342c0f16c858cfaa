"""Adding what runs and tasks taught by hand."""

from graphmem.core.records.change import add_record
from graphmem.core.records.record_contract import Changed
from graphmem.features.learning.experiences import AddExperienceRequest
from graphmem.features.learning.lessons import AddLessonRequest
from graphmem.kernel.model import Experience, Lesson
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client


@operation(
    "lessons.add",
    writes=True,
    previews="dry_run",
    scoped=True,
    command="add lesson",
    arguments=0,
    takes={"source": Taken("WHO", flag="--raised-by")},
    help="Add a lesson by hand; most come from runs, with `lesson learn`.",
    example='graphmem add lesson --description "never retry a payment blindly" --type anti_pattern',
)
def add_lesson(client: Client, request: AddLessonRequest) -> Changed[Lesson]:
    """Add a lesson by hand; a ``preference`` is injected at once, any other type after two runs saw it."""
    return add_record(client, request)


@operation(
    "experiences.add",
    writes=True,
    positional=2,
    previews="dry_run",
    scoped=True,
    command="add experience",
    example='graphmem add experience --type bug --description "login loop" --approach "traced the cookie"'
    ' --outcome success --lesson "SameSite=Lax drops the cookie on a POST from another site"',
    arguments=0,
    takes={
        "task_type": Taken(flag="--type"),
        "time_taken": Taken(flag="--minutes"),
        "complexity_estimated": Taken(flag="--estimated"),
        "complexity_actual": Taken(flag="--actual"),
        "capabilities_used": Taken("NAME", flag="--capability"),
    },
)
def add_experience(client: Client, request: AddExperienceRequest) -> Changed[Experience]:
    """Add what a finished task taught; above 200 experiences, the oldest of low confidence is archived."""
    return add_record(client, request)
