"""How explorations read on a terminal."""

from graphmem.features.explore.operations import ExplorationReported, ExplorationStarted, ExplorationWaited
from graphmem.kernel.registry import reads


@reads(ExplorationStarted)
def _explore_start_text(answer: ExplorationStarted) -> str:
    return answer.session


@reads(ExplorationReported)
def _explore_report_text(answer: ExplorationReported) -> str:
    return f"kept {answer.mode}{(' (late)' if answer.late else '')}"


@reads(ExplorationWaited)
def _explore_wait_text(answer: ExplorationWaited) -> str:
    lines = [answer.result, f"received: {', '.join(answer.received) or 'nothing'}"]
    lines += [f"missing: {', '.join(answer.missing)}"] if answer.missing else []
    return "\n".join(lines)
