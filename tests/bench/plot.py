"""The plots of a scoreboard; matplotlib is an optional extra."""

from pathlib import Path
from typing import Any, NamedTuple

from graphmem.core.stats.picture import plotter
from tests.bench.board import Scoreboard
from tests.bench.speed import Timing

ACROSS = 3  # panels side by side
COLOURS = {"graphmem": "#0b6e4f", "raw engines": "#c8553d", "floor": "#8a8d91"}


def draw(board: Scoreboard, path: Path) -> None:
    """Draw the speed, a panel a figure, below it the quality, a line a task, and the simulation, a line a set."""
    names = list(dict.fromkeys(timing.what for timing in board.speed))
    below = [points for points in (quality_points(board), simulation_points(board)) if points.labels]
    heights = [1.9] * -(-len(names) // ACROSS) + [0.6 + 0.16 * max(len(p.labels), len(p.values)) for p in below]
    figure = plotter()(figsize=(9, sum(heights) + 0.4), layout="constrained")
    grid = figure.add_gridspec(len(heights), ACROSS, height_ratios=heights)
    first = None
    for place, name in enumerate(names):
        axes = figure.add_subplot(grid[divmod(place, ACROSS)], sharex=first, sharey=first)
        draw_speed(axes, name, [timing for timing in board.speed if timing.what == name])
        first = first or axes
    if first:
        figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    for row, points in enumerate(below, len(heights) - len(below)):
        draw_points(figure.add_subplot(grid[row, :]), points)
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


class Points(NamedTuple):
    """A point a line and a system: the values of each system, a value a line."""

    title: str
    labels: list[str]
    values: dict[str, list[float]]


def quality_points(board: Scoreboard) -> Points:
    """Return the nDCG@10 of every system, a line a task."""
    tasks = board.quality.tasks if board.quality else []
    values = {name: [task.systems[name].ndcg_10 for task in tasks] for name in (tasks[0].systems if tasks else ())}
    return Points("nDCG@10", [f"{task.set}: {task.task}" for task in tasks], values)


def simulation_points(board: Scoreboard) -> Points:
    """Return hit@5 of every variant, a line a set."""
    values: dict[str, list[float]] = {}
    for found in board.simulation:
        values.setdefault(found.variant, []).append(found.hit_5)
    return Points("hit@5, replayed", list(dict.fromkeys(found.set for found in board.simulation)), values)


def draw_points(axes: Any, points: Points) -> None:
    """Draw a line a label with the values of every system."""
    for name, values in points.values.items():
        size = 5 if name == "graphmem" else 3
        axes.plot(values, points.labels, "o", markersize=size, color=COLOURS.get(name), label=name)
    axes.invert_yaxis()
    axes.set(title=points.title)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
