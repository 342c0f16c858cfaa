"""
The pictures of the docs: ``python -m tests.pictures`` takes them again, of a page of the demo's memory, in Chromium.

It needs npm, and fetches a browser from its registry.
"""

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from graphmem import Memory
from graphmem.core.logs.draft import keys_of
from graphmem.core.logs.output_problem import problem_in
from graphmem.core.page.render import page_of
from graphmem.core.records.candidates import queue_of
from graphmem.doors.cli.demo_store import PLANNED, plant, prepare
from graphmem.kernel.model.candidate import Candidate, CandidateEdit, Occasion, candidate_id
from tests.npm import in_chromium
from tests.sample import Clock, open_memory

UNWRAPPED = "cmd/setup.go:41:9: error returned from external package is unwrapped (wrapcheck)"
UNWRAPPED_EDIT = CandidateEdit(
    file="cmd/setup.go",
    removed="        return err",
    added='        return fmt.Errorf("failed to install git hook: %w", err)',
)
IMAGES = Path(__file__).parents[1] / "docs" / "images"


def fill(memory: Memory, clock: Clock) -> None:
    """Fill a store with the demo's rows, a plan under way, what waits and what was reported over some weeks."""
    plant(memory)
    refs = [one.ref for kind in ("pattern", "failure") for one in memory.list(kind, limit=12).results]
    for week in range(10):
        clock.back(timedelta(days=-7))
        for number in range(2 + week % 4 * 2):
            memory.feedback(refs[(3 * week + number) % len(refs)], helped=number % 4 != 3)
        memory.failures.add(f"Error {week}: the price of the cart was rounded twice in step {week * 7}", dedup=False)
    memory.tasks.start(f"{PLANNED}/001")
    memory.tasks.complete(f"{PLANNED}/001", delivered="a list")
    for number in (2, 3):
        memory.tasks.start(f"{PLANNED}/00{number}")
    memory.tasks.block(f"{PLANNED}/003", reason="the mail server refuses the sender")
    memory.inbox.add("show the price before the login")
    wait(memory, UNWRAPPED, "wrap it: fmt.Errorf(…: %w, err)", 0.9, UNWRAPPED_EDIT)
    wait(memory, "ModuleNotFoundError: No module named 'pkg_resources'", "pin setuptools below 81", 0.7)


def wait(memory: Memory, error: str, insight: str, base: float, *edits: CandidateEdit) -> None:
    """Put a candidate into the queue, seen in one session."""
    problem = problem_in(error)
    seen = Occasion(
        source="claude-code", session="1c38adc0", command="mise run lint", failed=error, edits=edits,
        at="2026-11-20T10:00:00Z", passed="2026-11-20T10:00:46Z",
    )  # fmt: skip
    one = Candidate(
        id=candidate_id(problem.key), keys=keys_of(problem), base=base, failure={"trigger": error},
        pattern={"trigger": error, "insight": insight}, evidence=(seen,), marks=(seen.mark,), sessions=("1c38adc0",),
    )  # fmt: skip
    with queue_of(memory.store.client).changing() as queue:
        queue.add(one)


def take(folder: Path) -> Any:
    """Take the pictures into a folder; return what went wrong in the page."""
    with tempfile.TemporaryDirectory() as place:
        root, clock = Path(place) / "shop", Clock()
        page = root / "page.html"
        prepare(root)
        with open_memory(root, clock=clock) as memory:
            fill(memory, clock)
            page.write_text(page_of(memory.store.view()), "utf-8")
        here = Path(__file__).parent
        return in_chromium(here / "pictures.mjs", str(page), str(folder), beside=[here / "doors/cli/browser.mjs"])


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    print(take(IMAGES)["errors"])
