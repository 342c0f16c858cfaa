"""A project with a flow, in a real repository, for tests of guarded work."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from graphmem import Memory
from graphmem.features.governance.contract import NextStage, ReviewItemShown, StageEnded
from graphmem.kernel.system.surroundings import Surroundings, called_from
from tests.repository import Repository
from tests.sample import Clock, open_memory, trust_all

FLOW = "---\nstart: [code]\n---\nA feature.\n"
STAGES = """
  - {name: write, kind: forge}
  - {name: test, kind: quench}
  - {name: review, kind: appraise}
"""
CYCLE = "---\noutput: code\ntargets: [guide]\nstages:{stages}{more}---\n"
GUIDE = "---\noutput: guide\ninputs: [code]\nstages:\n  - {name: draft, kind: forge}\n---\n"
CODE = '---\nfiles: ["src/**"]\nlaws:\n  - {{id: errors, text: Every error names what is wrong.}}\n{checks}---\n'


class FlowProject:
    """
    A project, open, whose calls are those of a program, or inside of ``person`` those of a person at a terminal.

    Args:
        stages, more: of the cycle ``code``, in YAML.
        checks: commands that validate the artefact ``code``.
    """

    def __init__(
        self, folder: Path, *, stages: str = STAGES, more: str = "", checks: Mapping[str, str] | None = None
    ) -> None:
        self.repository, self.folder = Repository(folder), folder
        self.clock = Clock(step=timedelta(milliseconds=10))
        self.memory = self.opened()
        found = "".join(f"  {name}: {command}\n" for name, command in (checks or {}).items())
        self.write(".graphmem/flows/feature.md", FLOW)
        self.write(".graphmem/cycles/code.md", CYCLE.replace("{stages}", stages).replace("{more}", more))
        self.write(".graphmem/cycles/guide.md", GUIDE)
        self.write(".graphmem/artefacts/code.md", CODE.format(checks=f"validation:\n{found}" if found else ""))
        self.write(".graphmem/artefacts/guide.md", '---\nfiles: ["guide/*.md"]\n---\n')
        self.repository.commit("begin")
        if checks:
            trust_all(self.memory)
        self.token: str | None = None

    def opened(self) -> Memory:
        """Open the project, as a command line does."""
        made = open_memory(self.folder, clock=self.clock)
        made.store.runtime.via = "cli"
        return made

    def person(self) -> Any:
        """Return a block whose calls are typed at a terminal."""
        return called_from(Surroundings(str(self.folder), {}, is_typed=True))

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def start(self) -> str:
        """Start a work and return its reference."""
        return self.memory.store.works.start("feature", "greet a user").ref

    def begin(self, stage: str | None = None) -> NextStage:
        """Begin the stage that is next, which is this one if it is named."""
        found = self.memory.store.works.next()
        assert found.action == "dispatch" and stage in (None, found.stage), found
        self.token = found.token
        self.memory.store.stages.begin(self.token)
        return found

    def end(self) -> StageEnded:
        """End the active stage."""
        return self.memory.store.stages.end(self.token)

    def run(self, stage: str, **files: str) -> StageEnded:
        """Begin a stage, write files, and end it; ``src__app_py`` means ``src/app.py``."""
        self.begin(stage)
        for name, text in files.items():
            self.write(name.replace("__", "/").replace("_", "."), text)
        return self.end()

    def found(self, text: str, **more: Any) -> ReviewItemShown:
        """Add an item from the active stage."""
        return self.memory.store.items.add(text, token=self.token, **more).item

    def reviewed(self) -> ReviewItemShown:
        """Go through the first iteration up to an item that the reviewer raised."""
        self.start()
        self.run("write", src__app_py="a = 1\n")
        self.run("test")
        self.begin("review")
        item = self.found("the name says nothing", file="src/app.py", artefact="code", tags=["errors"])
        self.end()
        return item
