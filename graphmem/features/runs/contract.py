"""What operations on the run state take and return."""

import json
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.model.run_state import Chunk, RunState
from graphmem.kernel.request import InputRequest, Request

Workflow = Annotated[str | None, Field(description="Name of the workflow; that of the run state if not given")]
PLAN = {"chunks": [{"id": "c1", "name": "log in"}]}
BUILD_EXAMPLE = f"such as {json.dumps(PLAN)}"
PrioritySource = Literal["global", "project", "user-prompt"]
ChunkMove = Literal["active", "completed", "failed", "retrying"]
ResumeAction = Literal["resume", "fresh", "cancel"]


class SetRunRequest(InputRequest):
    """Fields of the run state to change; all others stay."""

    fields: Mapping[str, object] = Field(description="Fields as a JSON object: objects are merged, null clears")


class StepRequest(InputRequest):
    """Which step of a workflow is complete."""

    step: str = Field(description="The step")


class ChangeRequest(InputRequest):
    """A file that was changed outside of the plan; it is done when the plan, or the specification, has it too."""

    action: Literal["add", "done"] = Field(description="Note the file, or take it away")
    file: str = Field(description="Path of the file, below the root of the project")
    section: str | None = Field(None, description="Section of the specification that it belongs to")
    section_number: int | str | None = Field(None, description="Number of that section")


class RequireStepRequest(InputRequest):
    """For which step to check what it needs."""

    step: str = Field(description="The step that is to begin")
    workflow: Workflow = None
    skip: bool = Field(False, description="Go on without what is missing; it is recorded")


class PlannedChunk(BaseModel):
    """A chunk of the plan of a build run."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    id: str | int = Field(description="Id of the chunk, a name or a number")
    name: str = Field("", description="What it is, in a few words")
    sections: list[str] = Field([], description="Sections of the specification that it builds")
    scenarios: list[str] = Field([], description="Scenarios that it satisfies")
    depends_on: list[str | int] = Field([], description="Ids of the chunks that must be completed before it")


class PlannedBuild(BaseModel):
    """The plan of a build run."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    chunks: list[PlannedChunk] = Field(description="What is built, in any order")
    spec_version: str | None = Field(None, description="Version of the specification")
    priorities: JsonValue = Field(None, description="What comes first, in any form")
    priority_source: PrioritySource | None = Field(None, description="Where the priorities came from")


class BeginBuildRequest(InputRequest):
    """The plan of a build run."""

    # What it holds is checked where the chunks are made; this says its form to those that have a schema only.
    plan: Annotated[Mapping[str, object], BeforeValidator(lambda plan: plan, json_schema_input_type=PlannedBuild)] = (
        Field(
            description=f"The plan as a JSON object with {', '.join(PlannedBuild.model_fields)}; "
            f"a chunk has {', '.join(PlannedChunk.model_fields)}",
            examples=[PLAN],
        )
    )


class MoveChunkRequest(InputRequest):
    """Which chunk of the build run goes on."""

    id: str = Field(description="Id of the chunk")
    status: ChunkMove = Field(description="Its next status")


class CheckpointRequest(InputRequest):
    """Where the build run is."""

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
