"""What is going on now in a project on this machine, for people who look: every field is optional."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict

from graphmem.kernel.model.field import Count, Item, Text, Time

ChunkStatus = Literal["planned", "active", "retrying", "completed", "failed"]
BuildStatus = Literal["running", "completed", "partial"]


class RunPart(BaseModel):
    """A part of the run state; what another version noted beside it is kept."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)


class Section(RunPart):
    """The section of the specification that is worked on."""

    alias: Item | None = None
    number: Annotated[int, Strict()] | Item | None = None


class Score(RunPart):
    """How many scenarios are satisfied."""

    satisfied: Count
    total: Count


class ChunkProgress(RunPart):
    """Which chunk of how many is built."""

    current: Count
    total: Count


class UntrackedChange(RunPart):
    """A file that was changed outside of the plan."""

    file: Item
    section: Item | None = None
    section_number: Annotated[int, Strict()] | Item | None = None
    at: Time | None = None


class BuildPlan(RunPart):
    """What a build run was planned with."""

    total_chunks: Count = 0
    priorities: JsonValue = None
    priority_source: Item | None = None
    spec_version: Item | None = None


class Chunk(RunPart):
    """A part of a build, and how far it is."""

    id: Item
    name: Item = ""
    status: ChunkStatus = "planned"
    sections: tuple[Item, ...] = ()
    scenarios: tuple[Item, ...] = ()
    depends_on: tuple[Item, ...] = ()
    spec_version_at_build: Item | None = None
    attempt: Count = 0
    started_at: Time | None = None
    completed_at: Time | None = None
    failed_at: Time | None = None


class BuildRun(RunPart):
    """A build in chunks; it outlives the process that runs it."""

    run_id: Item
    status: BuildStatus = "running"
    started_at: Time
    plan: BuildPlan = Field(default_factory=BuildPlan)
    chunks: tuple[Chunk, ...] = ()
    convergence_phase: Item | None = None
    last_checkpoint: Time | None = None


class RunState(RunPart):
    """All of it, as this machine keeps it."""

    active_section: Section | None = None
    current_command: Text | None = None
    workflow: Item | None = None
    workflow_step: Item | None = None
    completed_steps: tuple[Item, ...] | None = None
    skipped_steps: tuple[Item, ...] | None = None
    next_step: Item | None = None
    scenario_score: Score | None = None
    chunk_progress: ChunkProgress | None = None
    readiness: dict[str, Count] | None = None
    untracked_changes: tuple[UntrackedChange, ...] | None = None
    spec_version: Item | None = None
    agent_outputs: dict[str, JsonValue] | None = None
    build_run: BuildRun | None = None
    last_updated: Time | None = None


def with_texts(row: Any) -> Any:
    """Return the row of a chunk with numbers in the place of ids as texts."""
    if not isinstance(row, dict):
        return row
    needs = row.get("depends_on", [])
    texts = {"id": _id_text(row["id"])} if "id" in row else {}
    return {**row, **texts, "depends_on": [*map(_id_text, needs)] if isinstance(needs, list) else needs}


def _id_text(value: Any) -> Any:
    """Return a whole number as a text, any other value as it is."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
