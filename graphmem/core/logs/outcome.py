"""
Outcomes: whether a command failed, also where its exit status does not say so.

One rule for hooks, ``ran``, ``match`` and imports of transcripts. Where a pipe, ``||`` or ``;`` hides the status, the
output decides: that of 24 such runs of real agents that were read, 22 had failed;
docs/benchmarks/learning.md, "Harvest".
"""

from graphmem.core.logs.check import checks
from graphmem.core.logs.command_line import parsed_line
from graphmem.core.logs.diagnosis import Outcome, diagnose

LOOKED_AT = 20_000  # characters at the end of an output that are looked at


def outcome_of(command: str, status: int | None, output: str) -> Outcome:
    """
    Return how a command ended.

    Args:
        status: its exit status; None where nothing says so. Where nothing hides it, it decides.
    """
    line = parsed_line(command)
    if status:
        return "failed"
    if (status == 0 and line.is_sure) or not command or line.is_reader or (line.is_filtered and not checks(command)):
        return "passed" if status == 0 else "unclear"
    told = diagnose(output[-LOOKED_AT:]).outcome
    return "passed" if status == 0 and told == "unclear" else told
