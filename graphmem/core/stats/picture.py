"""The health of a memory as a picture of four panels."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

from graphmem.core.stats.contract import Stats
from graphmem.core.stats.health import STEPS
from graphmem.errors import Unavailable, Usage

KINDS = (".svg", ".png")
GOOD, FAIR, BAD = "#0b6e4f", "#e0a458", "#c8553d"
WEEKS = 4  # that are named
LARGEST = 600  # square points of the largest bubble


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


def refuse(path: Path) -> None:
    """Raise ``Usage`` for a file that is not a picture, ``Unavailable`` where nothing can draw it."""
    if path.suffix not in KINDS:
        raise Usage(
            f"{path.name!r} is not a picture that can be drawn", hint=f"a name that ends in {' or '.join(KINDS)}"
        )
    plotter()


def draw(answer: Stats, path: Path) -> None:
    """
    Draw the spread of importance, feedback over time, what solves failures, and estimates.

    Raises:
        Unavailable: the file cannot be written.
    """
    figure = plotter()(figsize=(9, 6), layout="constrained")
    for place, panel in enumerate((_importance, _feedback, _coverage, _estimates), 1):
        axes = figure.add_subplot(2, 2, place)
        axes.set_axisbelow(True)  # the grid
        panel(axes, answer)
    try:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    except OSError as error:
        raise Unavailable(f"{str(path)!r} cannot be written: {error.strerror}") from None


def _importance(axes: Any, answer: Stats) -> None:
    """Draw how many failures and patterns there are of each importance."""
    numbers = [band.number for band in answer.worth.importances]
    axes.bar([f"{band.low:g}+" for band in answer.worth.importances], numbers, color=GOOD)
    axes.set_ylim(0, 1.05 * max(1, *numbers))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set(title="Importance", xlabel="importance from", ylabel="failures and patterns")


def _feedback(axes: Any, answer: Stats) -> None:
    """Draw the reports of each week, above the line those that helped, below it those that did not."""
    weeks = [date.fromisoformat(week.week).toordinal() / 7 for week in answer.feedback]
    helped, failed = [week.helped for week in answer.feedback], [week.failed for week in answer.feedback]
    axes.bar(weeks, helped, width=0.9, color=GOOD, label="helped")
    axes.bar(weeks, [-number for number in failed], width=0.9, color=BAD, label="did not help")
    axes.axhline(0, color="black", linewidth=0.5)
    step = max(1, -(-len(weeks) // WEEKS))
    axes.set_xticks(weeks[::step], [week.week for week in answer.feedback][::step])
    axes.set_ylim(-1.05 * max([1, *failed]), 1.25 * max([1, *helped]))  # with room for the legend
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    axes.set(title="Feedback over time", xlabel="week", ylabel="reports")
    if weeks:
        axes.legend(frameon=False, loc="upper left", ncols=2)


def _coverage(axes: Any, answer: Stats) -> None:
    """Draw how many failures are solved, and by what."""
    found = answer.coverage
    bars = {"by a pattern": found.solved, "by a fix only": found.fix_only, "unsolved": found.unsolved}
    axes.barh(list(bars), list(bars.values()), color=[GOOD, FAIR, BAD])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.05 * max(1, *bars.values()))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(title="Coverage of failures by solutions", xlabel="failures")


def _estimates(axes: Any, answer: Stats) -> None:
    """Draw the complexity that was estimated against the actual one, the larger the more often."""
    often = Counter[tuple[int, int]]()
    for found in answer.estimates:
        for pair in found.pairs:
            often[STEPS.index(pair.estimated), STEPS.index(pair.actual)] += pair.number
    axes.axline((0, 0), slope=1, color="black", linewidth=0.5)
    sizes = [LARGEST * number / max(often.values()) for number in often.values()]
    axes.scatter([x for x, _ in often], [y for _, y in often], s=sizes, color=FAIR)
    for (x, y), number in often.items():
        axes.annotate(f"{number:,}", (x, y), ha="center", va="center")
    axes.set_xticks(range(len(STEPS)), STEPS)
    axes.set_yticks(range(len(STEPS)), STEPS)
    ends = (-0.5, len(STEPS) - 0.5)
    axes.set(
        title="Estimate against actual", xlabel="estimated complexity", ylabel="actual complexity", xlim=ends, ylim=ends
    )
