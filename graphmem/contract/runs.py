"""What operations on the run state take and return."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from graphmem.contract.answer import Answer, Part
from graphmem.contract.request import Request
from graphmem.errors import BadInput, GraphmemError
from graphmem.model.run_state import Chunk, RunState

Workflow = Annotated[str | None, Field(description="Name of the workflow; that of the run state if not given")]
BUILD_EXAMPLE = 'such as {"chunks": [{"id": "c1", "name": "log in"}]}'
ChunkMove = Literal["active", "completed", "failed", "retrying"]
ResumeAction = Literal["resume", "fresh", "cancel"]


class SetRunRequest(Request):
    """Fields of the run state to change; all others stay."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    fields: Mapping[str, object] = Field(description="Fields as a JSON object: objects are merged, null clears")


class StepRequest(Request):
    """Which step of a workflow is complete."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    step: str = Field(description="The step")


class RequireStepRequest(Request):
    """For which step to check what it needs."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    step: str = Field(description="The step that is to begin")
    workflow: Workflow = None
    skip: bool = Field(False, description="Go on without what is missing; it is recorded")


class BeginBuildRequest(Request):
    """The plan of a build run."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    plan: Mapping[str, object] = Field(
        description='The plan as a JSON object: {"chunks": [{"id", "name", …}], "spec_version", "priorities", …}'
    )


class MoveChunkRequest(Request):
    """Which chunk of the build run goes on."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    id: str = Field(description="Id of the chunk")
    status: ChunkMove = Field(description="Its next status")


class CheckpointRequest(Request):
    """Where the build run is."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    phase: str | None = Field(None, description="Phase of convergence")


class ResumeBuildRequest(Request):
    """What to do with a build run that was cut off; nothing is changed without a choice."""

    choose: ResumeAction | None = Field(None, description="What to do")


class RunShown(Answer, RunState):
    """The run state."""


class Choice(Part):
    """One of several ways to go on."""

    number: int
    action: Literal["run", "skip", "abort", "resume", "fresh", "cancel"]
    text: str
    recommended: bool = False


class Required(Answer):
    """Whether what a step needs is complete; else what is missing, in the order to run it, and how to go on."""

    step: str
    met: bool
    missing: list[str]
    skipped: list[str]
    choices: list[Choice]


class BuildResume(Answer):
    """A build run that can be resumed; ``drifted`` chunks were built from another version of the specification."""

    run_id: str
    completed: list[Chunk]
    remaining: list[Chunk]
    drifted: list[Chunk]
    choices: list[Choice]
    chosen: ResumeAction | None = None
