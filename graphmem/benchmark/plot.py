"""The plots of a scoreboard; matplotlib, an optional extra, is imported only here."""

from pathlib import Path
from typing import Any

from graphmem.benchmark.board import Scoreboard
from graphmem.benchmark.quality import TaskQuality
from graphmem.benchmark.speed import Timing
from graphmem.errors import Unavailable, Usage

KINDS = (".svg", ".png")
ACROSS = 3  # panels side by side
COLOURS = {"graphmem": "#0b6e4f", "raw engines": "#c8553d", "floor": "#8a8d91"}


def plotter() -> Any:
    """
    Return matplotlib's class of figures, made to write the same file for the same figures.

    Raises:
        Unavailable: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - a heavy optional extra
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise Unavailable("plots need matplotlib", hint="pip install 'graphmem[plots]'") from None
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "graphmem", "font.size": 8, "axes.grid": True})
    mpl.rcParams.update({"font.sans-serif": ["DejaVu Sans"]})
    mpl.rcParams.update({"grid.linewidth": 0.3, "axes.spines.top": False, "axes.spines.right": False})
    return Figure


def refuse_kind(path: Path) -> None:
    """Raise ``Usage`` for a file that is no picture."""
    if path.suffix not in KINDS:
        raise Usage(f"{path.name!r} is no plot that can be drawn", hint=f"a name that ends in {' or '.join(KINDS)}")


def draw(board: Scoreboard, path: Path) -> None:
    """Draw the speed, a panel a figure, and below it the quality, a line a task."""
    names = list(dict.fromkeys(timing.what for timing in board.speed))
    tasks = board.quality.tasks if board.quality else []
    heights = [1.9] * -(-len(names) // ACROSS) + [0.6 + 0.16 * len(tasks)] * bool(tasks)
    figure = plotter()(figsize=(9, sum(heights) + 0.4), layout="constrained")
    grid = figure.add_gridspec(len(heights), ACROSS, height_ratios=heights)
    first = None
    for place, name in enumerate(names):
        axes = figure.add_subplot(grid[divmod(place, ACROSS)], sharex=first, sharey=first)
        draw_speed(axes, name, [timing for timing in board.speed if timing.what == name])
        first = first or axes
    if first:
        figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    if tasks:
        draw_quality(figure.add_subplot(grid[-1, :]), tasks)
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def draw_speed(axes: Any, name: str, timings: list[Timing]) -> None:
    """Draw one figure against size, both on a logarithmic scale."""
    sizes = [timing.size for timing in timings]
    lines = {
        "graphmem": [timing.graphmem_s for timing in timings],
        "raw engines": [timing.raw_s for timing in timings],
        "floor": [timing.floor_s for timing in timings if timing.floor_s is not None],
    }
    for label, values in lines.items():
        axes.loglog(sizes[: len(values)], values, marker="o", markersize=3, color=COLOURS[label], label=label)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(title=name, xlabel="memories", ylabel="CPU seconds")


def draw_quality(axes: Any, tasks: list[TaskQuality]) -> None:
    """Draw a line a task with the nDCG@10 of every system."""
    labels = [f"{task.set}: {task.task}" for task in tasks]
    for name in tasks[0].systems:
        values = [task.systems[name].ndcg_10 for task in tasks]
        axes.plot(values, labels, "o", markersize=5 if name == "graphmem" else 3, color=COLOURS.get(name), label=name)
    axes.invert_yaxis()
    axes.set(title="nDCG@10")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
