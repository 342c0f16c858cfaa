"""``benchmark``: how good graphmem is, on public data sets."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from graphmem.benchmark.quality import Measures, Quality, TaskQuality, measure
from graphmem.cli.session import session_of
from graphmem.errors import Usage

HEADER = "| set | task | queries | graphmem | BM25 | model | RRF | ratio | recall@5 | recall@10 | MRR |"


def benchmark(
    ctx: typer.Context,
    data: Annotated[str, typer.Option("--data", metavar="FOLDER", help="The folder that holds the public sets.")],
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help="Only this set; may be repeated.")
    ] = None,
    stores: Annotated[
        str | None,
        typer.Option("--stores", metavar="FOLDER", help="Keep the stores here, and use those that are here already."),
    ] = None,
    match: Annotated[bool, typer.Option("--match", help="Let the match expressions of the sets count too.")] = False,
) -> None:
    """
    Measure on public data sets how well query finds what is asked, beside BM25, the model alone, and their fusion.

    The first four figures are nDCG@10; ratio is graphmem's over the better of BM25 and the model; the last three are
    graphmem's.

    Example: graphmem benchmark --data shared/data --set pyerrors
    """
    session = session_of(ctx)
    folders = chosen(Path(data), sets)
    with tempfile.TemporaryDirectory(prefix="graphmem-") as aside:
        place = Path(stores or aside) / ("with-match" if match else "texts")
        answer = measure(folders, place, with_match=match)
    session.answer(answer, table(answer))


def chosen(data: Path, sets: list[str] | None) -> list[Path]:
    """Return the folders of the sets that are asked for."""
    known = {path.parent.name: path.parent for path in sorted(data.glob("*/queries.ndjson*"))}
    unknown = [name for name in sets or () if name not in known]
    if unknown or not known:
        what = f"no set {unknown[0]!r}" if unknown else "no sets"
        raise Usage(f"{str(data)!r} holds {what}", hint=f"known: {', '.join(known)}" if known else None)
    return [known[name] for name in sets or known]


def table(answer: Quality) -> str:
    """Return the answer as a table."""
    lines = [HEADER, "| --- " * HEADER.count(" | ") + "| --- |"]
    lines += [line(task) for task in answer.tasks]
    means = (
        f"mean ratio {answer.ratio:.3f}; mean nDCG@10 {answer.graphmem_ndcg_10:.3f}, of RRF {answer.rrf_ndcg_10:.3f}"
    )
    return "\n".join([*lines, "", means])


def line(task: TaskQuality) -> str:
    """Return a task as a line of the table."""
    systems: list[Measures] = [task.graphmem, task.bm25, task.model, task.rrf]
    own = task.graphmem
    values = [*(system.ndcg_10 for system in systems), task.ratio, own.recall_5, own.recall_10, own.mrr]
    return f"| {task.set} | {task.task} | {task.queries} | {' | '.join(f'{value:.3f}' for value in values)} |"
