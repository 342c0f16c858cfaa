"""
Guarded work in a repository of many files, beside git alone: what a stage costs, and one that changes all of them.

    python -m tests.bench.governance 100 10000
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.features.governance.flow_project import FlowProject

TIMES = 5


def seconds(act: Callable[[], object]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def filled(project: FlowProject, files: int, text: str) -> None:
    """Write that many files of the artefact."""
    for number in range(files):
        project.write(f"src/part{number % 100}/{number}.txt", f"{text} {number}\n")


def commit(folder: Path) -> None:
    """Commit everything with git alone."""
    for arguments in (["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True)


def measured(folder: Path, files: int) -> None:
    """Print the figures of a repository with that many files."""
    project = FlowProject(folder / "project", stages="\n  - {name: write, kind: forge}\n", more="max_iterations: 100\n")
    filled(project, files, "first")
    project.repository.commit("many")
    peer = project.repository.copied(folder / "peer").folder
    with project.memory:
        project.start()
        figures: dict[str, list[float]] = {}
        for turn in range(TIMES):
            with project.person():
                project.memory.store.items.add(f"once more {turn}")
            figures.setdefault("work next", []).append(seconds(project.memory.store.works.next))
            figures.setdefault("stage begin", []).append(seconds(lambda: project.begin("write")))
            project.write("src/part0/0.txt", f"turn {turn}\n")
            figures.setdefault("stage end, one file changed", []).append(seconds(project.end))
            (peer / "src/part0/0.txt").write_text(f"turn {turn}\n")
            figures.setdefault("git add -A, git commit", []).append(seconds(lambda: commit(peer)))
        project.begin("write")
        filled(project, files, "last")
        figures["stage end, all files changed"] = [seconds(project.end)]
        for path in peer.glob("src/*/*.txt"):
            path.write_text(f"last {path.name}\n")
        figures["git add -A, git commit of all"] = [seconds(lambda: commit(peer))]
    for name, found in figures.items():
        print(f"| {files:,} | {name} | {statistics.median(found):.2f} |", flush=True)


def main() -> None:
    """Measure with each number of files that is given."""
    print("| files | what | seconds |\n| --- | --- | --- |")
    for files in map(int, sys.argv[1:] or ("100", "10000")):
        with tempfile.TemporaryDirectory() as folder:
            measured(Path(folder), files)


if __name__ == "__main__":
    main()
