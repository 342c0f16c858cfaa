"""
How good and how fast graphmem is, beside others in the same run.

usage: python -m tests.bench --help
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from graphmem.core.stats.picture import refuse
from graphmem.doors.cli.caller import Invocation
from graphmem.errors import GraphmemError, Usage
from tests.bench import plot as plots
from tests.bench import quality, simulation, speed
from tests.bench.board import Scoreboard, board
from tests.bench.quality import Quality, TaskQuality
from tests.bench.simulation import Simulated
from tests.bench.speed import Timing

SIZES = (1_000, 10_000)  # memories; they are done in two minutes
SPEED = "| what | memories | graphmem | raw engines | ratio | floor |"
SIMULATION = "| set | variant | problems | with an earlier one | hit@5 | MRR | memories at the end |"
MEASURES = "| ratio | recall@5 | recall@10 | MRR |"


def benchmark(
    data: Annotated[
        str | None, typer.Option("--data", metavar="FOLDER", help="Measure the relevance on the public sets in here.")
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help="Only this set; may be repeated.")
    ] = None,
    stores: Annotated[
        str | None,
        typer.Option("--stores", metavar="FOLDER", help="Keep the stores here, and use those that are here already."),
    ] = None,
    match: Annotated[bool, typer.Option("--match", help="Let the match expressions of the sets count too.")] = False,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Replay the histories of the sets instead of asking their queries.")
    ] = False,
    peer: Annotated[
        list[str] | None,
        typer.Option("--peer", metavar="NAME", help="Another memory, given the same vectors; may be repeated."),
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option("--size", metavar="N", min=50, help="Measure the speed with N memories; may be repeated."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw it: a name that ends in .svg or .png.")
    ] = None,
    write: Annotated[
        str | None,
        typer.Option("--write", metavar="FOLDER", help="Write benchmark.md, benchmark.json and benchmark.svg here."),
    ] = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON document.")] = False,
) -> None:
    """
    Measure the relevance on public data sets, and the speed at several sizes, beside others in the same run.

    What is named is measured; with neither --data nor --size it is the speed with 1,000 and 10,000 memories.

    Relevance stands beside BM25, SQLite's FTS5 with Porter stems, the model alone, and BM25 and model fused. The first
    figures are nDCG@10; ratio is graphmem's over the best of these four; the last three are graphmem's. A
    peer is another memory, without a language model: basic-memory, graphiti, mcp-memory (the reference server of MCP),
    mem0, or txtai; one that is not installed tells how to install it.

    With --simulate problems come in the order of time: each is asked about, what was found is reported on, then it is
    captured; the figures say for how many of those with a relevant earlier memory one was among the first five.

    Speed is CPU time on made memories, without the embedding. The raw engines are Kuzu for the graph, SQLite's FTS5 and
    a product with all vectors for a query; the floor is to parse and write the same rows.

    Example: python -m tests.bench --data shared/data --set pyerrors
    """
    invocation = Invocation(is_json=is_json)
    if simulate and (stores or match or peer):
        raise Usage(
            "a simulation makes its own stores and measures no peers", hint="leave out --simulate, or the others"
        )
    if not data and (sets or stores or match or peer or simulate):
        raise Usage("there are no public sets to measure on", hint="name their folder with --data")
    pictures = [Path(plot)] if plot else []
    pictures += [Path(write) / "benchmark.svg"] if write else []
    for picture in pictures:
        refuse(picture)  # or it would be missed when all is measured
    folders = chosen(Path(data), sets) if data else []
    with tempfile.TemporaryDirectory(prefix="graphmem-") as aside:
        place = Path(stores or aside) / ("with-match" if match else "texts")
        is_asked = data and not simulate
        found = quality.measure(folders, place, with_match=match, peers=peer or ()) if is_asked else None
        replayed = simulation.simulate(folders, place, invocation.progress) if simulate else ()
        sizes = size or (() if data else SIZES)
        answer = board(speed.measure(sizes, Path(aside) / "speed", invocation.progress), found, replayed)
    if write:
        Path(write).mkdir(parents=True, exist_ok=True)
        (Path(write) / "benchmark.md").write_text(page(answer), encoding="utf-8")
        (Path(write) / "benchmark.json").write_text(answer.model_dump_json(indent=1) + "\n", encoding="utf-8")
    for picture in pictures:
        plots.draw(answer, picture)
    invocation.answer(answer, page(answer).rstrip())


def chosen(data: Path, sets: list[str] | None) -> list[Path]:
    """Return the folders of the sets that are asked for."""
    known = {path.parent.name: path.parent for path in sorted(data.glob("*/queries.ndjson*"))}
    unknown = [name for name in sets or () if name not in known]
    if unknown or not known:
        what = f"no set {unknown[0]!r}" if unknown else "no sets"
        raise Usage(f"{str(data)!r} holds {what}", hint=f"known: {', '.join(known)}" if known else None)
    return [known[name] for name in sets or known]


def page(answer: Scoreboard) -> str:
    """Return the answer as a page of Markdown."""
    parts = [f"Measured on {answer.date}: {answer.machine}; CPU time."]
    parts += [speed_table(answer.speed)] if answer.speed else []
    parts += [table(answer.quality)] if answer.quality else []
    parts += [simulation_table(answer.simulation)] if answer.simulation else []
    return "\n\n".join(parts) + "\n"


def speed_table(timings: Sequence[Timing]) -> str:
    """Return the speed as a table, each figure at all sizes before the next."""
    order = list(dict.fromkeys(timing.what for timing in timings))
    rows = [
        f"| {timing.what} | {timing.size:,} | {shown(timing.graphmem_s)} | {shown(timing.raw_s)} | {timing.ratio:.2f}"
        f" | {shown(timing.floor_s) if timing.floor_s is not None else '–'} |"
        for timing in sorted(timings, key=lambda timing: order.index(timing.what))
    ]
    return "\n".join([*head(SPEED), *rows])


def shown(seconds: float) -> str:
    """Return a time in the unit that fits it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.2f} ms"


def head(columns: str) -> list[str]:
    """Return the first two lines of a table."""
    return [columns, "| --- " * (columns.count("|") - 1) + "|"]


def simulation_table(results: Sequence[Simulated]) -> str:
    """Return a simulation as a table."""
    rows = [
        f"| {found.set} | {found.variant} | {found.problems:,} | {found.reachable:,} | {found.hit_5:.3f}"
        f" | {found.mrr:.3f} | {found.memories:,} |"
        for found in results
    ]
    return "\n".join([*head(SIMULATION), *rows])


def table(answer: Quality) -> str:
    """Return the quality as a table."""
    systems = answer.tasks[0].systems if answer.tasks else ()
    lines = head(f"| set | task | queries | {' | '.join(systems)} {MEASURES}")
    lines += [line(task) for task in answer.tasks]
    means = (
        f"mean ratio {answer.ratio:.3f}; mean nDCG@10 {answer.graphmem_ndcg_10:.3f}, of RRF {answer.rrf_ndcg_10:.3f}"
    )
    return "\n".join([*lines, "", means])


def line(task: TaskQuality) -> str:
    """Return a task as a line of the table."""
    own = task.graphmem
    values = [*(system.ndcg_10 for system in task.systems.values()), task.ratio, own.recall_5, own.recall_10, own.mrr]
    return f"| {task.set} | {task.task} | {task.queries} | {' | '.join(f'{value:.3f}' for value in values)} |"


def run(arguments: list[str]) -> int:
    """Run the benchmark with these arguments; return its exit status."""
    try:
        COMMAND.main(args=arguments, prog_name="python -m tests.bench", standalone_mode=False)
    except GraphmemError as error:
        Invocation(is_json="--json" in arguments).fail(error.code, error.message, error.hint, error.details)
        return error.exit_status
    return 0


app = typer.Typer(rich_markup_mode=None, add_completion=False)
app.command()(benchmark)
COMMAND = typer.main.get_command(app)

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
