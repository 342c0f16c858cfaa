"""How figures read on a terminal."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from graphmem.constants import FEW_EXPERIENCES
from graphmem.core.replies.reply import Reply, View, Word, escaped
from graphmem.core.stats.contract import Connectivity, Stats
from graphmem.core.stats.effectiveness_contract import Loop
from graphmem.core.stats.impact import Impact
from graphmem.core.stats.picture import draw, refuse
from graphmem.errors import Usage
from graphmem.kernel import terminal
from graphmem.kernel.registry import Printout, Taken, asks, reads
from graphmem.kernel.text import count, one_line

SHOWN_SIZES = 5  # of components that are listed


@reads(Loop)
def _verify_loop_text(answer: Loop) -> str:
    rows = [[one.stage, f"{one.number:,}", one_line(", ".join(one.refs))] for one in answer.stages]
    lines = [terminal.table(["stage", "failures", "which"], rows), "", _window(answer), answer.verdict]
    return "\n".join(lines)


def _window(answer: Loop) -> str:
    """Return what was looked back over."""
    counted = [
        count(len(answer.campaigns), "campaign"),
        count(len(answer.runs), "run"),
        count(answer.tasks, "task"),
        count(answer.reports, "report"),
    ]
    return f"{f'since {answer.since}' if answer.since else 'from the beginning'}: {', '.join(counted)}"


@asks("stats")
def _ask_stats(
    plot: Annotated[
        Path | None, Taken("FILE", flag="--plot", meaning="Draw it: a name that ends in .svg or .png")
    ] = None,
    impact: Annotated[
        bool, Taken(flag="--impact", meaning="Report what the hooks of agents did instead, and what it cost")
    ] = False,
    objective: str | None = None,
) -> Mapping[str, object]:
    if impact:
        if plot is not None or objective is not None:
            raise Usage("--impact is a report of its own", hint="give it without --plot and --objective")
        return {"operation": "impact"}
    if plot is not None:
        refuse(plot)
    return {}


@reads(Stats)
def _stats_text(answer: Stats, plot: Path | None) -> Printout:
    if plot is not None:
        draw(answer, plot)
    lines = [*_counts(answer), "", *(f"{name:<13} {said}" for name, said in _health(answer))]
    return Printout("\n".join(lines), f"drawn: {plot}" if plot is not None else "")


@reads(Impact)
def _impact_text(answer: Impact) -> str:
    return "\n".join(f"{name:<17} {said}" for name, said in _of_agents(answer))


def _of_agents(answer: Impact) -> Iterator[tuple[str, str]]:
    """Yield what the hooks did, at most ten lines: each figure with its name."""
    began = f" since {answer.since[:10]}, {answer.under_way:,} of them under way" if answer.since else ""
    yield "sessions", f"{answer.sessions:,}{began}"
    sizes = answer.tokens
    a_session = f"{sizes.mean:,.0f} a session on the mean, {sizes.median:,.0f} the median, {sizes.most:,} at most"
    yield "tokens injected", f"{sizes.total:,}: {a_session}"
    yield "of these briefing", f"{sizes.briefings:,}"
    yield "hints given", f"{answer.hints:,}"
    yield "hints used", f"{answer.used:,}{_share(answer.used, answer.hints)}, credited by a command that passed"
    yield "failures met", f"{answer.failures:,}"
    each = f", {answer.answer_tokens / answer.answered:,.0f} for each answered failure" if answer.answered else ""
    yield "failures answered", f"{answer.answered:,}{_share(answer.answered, answer.failures)}"
    yield "answers cost", f"{count(answer.answer_tokens, 'token')}{each}"
    yield "all reports", f"helped {answer.helped:,}, failed {answer.failed:,}"


def _share(part: int, whole: int) -> str:
    """Return a share in brackets; nothing of nothing."""
    return f" ({part / whole:.0%})" if whole else ""


def _counts(answer: Stats) -> Iterator[str]:
    """Yield the numbers of records and edges as tables."""
    entities = {f"entity {name}": number for name, number in answer.entities.items()}
    records = {**answer.records, **entities, "archived": answer.archived}
    for what, numbers in (("records", records), ("relations", answer.relations)):
        rows = [[name, f"{number:,}"] for name, number in numbers.items() if number]
        yield terminal.table([what, "number"], rows or [["none yet", "0"]])
        if what == "records":
            yield ""


def _health(answer: Stats) -> Iterator[tuple[str, str]]:
    """Yield each figure of health with its name."""
    for found in answer.capacity:
        due = f"; pruning is due, {found.prunable:,} would go: graphmem prune" if found.prunable else ""
        yield f"{found.kind}s", f"{found.used:,} of {found.limit:,}{due}"
    worth, connected, coverage = answer.worth, answer.connectivity, answer.coverage
    ratios = f"stale {worth.stale_ratio:.1%}, untested {worth.untested_ratio:.1%}"
    yield "worth", f"mean importance {worth.mean_importance:.2f}, {ratios}"
    if answer.tiers is not None:
        yield "tiers", ", ".join(f"{name} {number:,}" for name, number in answer.tiers.items())
    hangs = f"edges per node {connected.edges_per_node:.2f}, isolated {connected.isolated_share:.1%}"
    yield "connectivity", f"{hangs}, components {connected.components:,}{_sizes(connected)}"
    solved = f"solved by a pattern {coverage.solved:,}, by a fix only {coverage.fix_only:,}"
    yield "solutions", f"{solved}, unsolved {coverage.unsolved:,}"
    for ref in connected.unsolved:
        yield "unsolved", ref
    for one in answer.estimates:
        yield (
            "estimates",
            (
                f"{one.task_type}: {one.mean_difference:+.2f} steps, equal {one.equal_ratio:.0%}"
                f" of {count(one.experiences, 'experience')}"
            ),
        )
    if answer.campaigns is not None:
        sizes_of = answer.campaigns
        usual = f", {sizes_of.usual:.2g} tasks for each estimated one" if sizes_of.usual is not None else ""
        took = f"{sizes_of.tasks:.1f} tasks and {sizes_of.minutes:.0f} minutes on the mean"
        ended = ", ".join(f"{number:,} {status}" for status, number in sizes_of.ended.items())
        yield "campaigns", f"{ended}: {took}{usual}"
    if answer.cold_start:
        yield "cold start", f"fewer than {FEW_EXPERIENCES} experiences: new ones get low confidence"
    yield "search", answer.search


def _sizes(connected: Connectivity) -> str:
    """Return how many components have which size, the largest first."""
    found = [f"{number:,} of {size:,}" for size, number in connected.component_sizes.items()]
    more = [f"{len(found) - SHOWN_SIZES:,} more sizes"] if len(found) > SHOWN_SIZES else []
    return f": {', '.join(found[:SHOWN_SIZES] + more)}" if found else ""


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(Stats, to="model")
def _stats_reply(answer: Stats, view: View) -> Reply:
    """Return how much there is, and what is due."""
    due = {one.kind: one.prunable for one in answer.capacity if one.prunable}
    head: dict[str, Any] = {
        "records": {kind: number for kind, number in answer.records.items() if number},
        "entities": answer.entities,
        "edges": sum(answer.relations.values()),
        "archived": answer.archived,
        "unsolved_failures": answer.coverage.unsolved,
        "search": Word(answer.search),
    }
    head |= {"candidates_to_review": escaped(answer.candidates)} if answer.candidates else {}
    return Reply(head | ({"prune": due} if due else {}), notes=list(answer.notices))
