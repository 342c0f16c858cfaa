"""How figures read on a terminal."""

from graphmem.core.stats.effectiveness_contract import Loop
from graphmem.kernel import terminal
from graphmem.kernel.registry import reads
from graphmem.kernel.text import count, one_line


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
