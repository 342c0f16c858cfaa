"""
Outcomes: whether a command failed, also where its exit status does not say so.

One rule for hooks, ``ran``, ``match`` and imports of transcripts. Where a pipe, ``||`` or ``;`` hides the status, the
output decides: that of 24 such runs of real agents that were read, 22 had failed; docs/benchmarks.md, "Harvest".
"""

import re
from typing import Literal

from graphmem.rules.check_command import checks
from graphmem.rules.command_line import FAILED, PASSED, parsed_line
from graphmem.rules.diagnostic import diagnostic_of

Outcome = Literal["failed", "hidden", "passed", "unknown"]
ENDS = re.compile(  # how runners end: that something failed, not what
    r"^\s*(?:#\d{1,4} )?(?:\[[\w:.@/-]{1,60}\] )?(?:(?:ERROR|error):? )?"
    r"(?:task failed|FAIL(?:ED)?\b[^:]*|exit status \d+|make(?:\[\d+\])?: \*\*\* .*"
    r"|npm (?:ERR!|error) (?:code|errno|path|command|Lifecycle|A complete log|Test failed|workspace|location"
    r"|syscall|Exit).*"
    r"|npm (?:ERR!|error)\s*|(?:##\[error\])?Process (?:completed|finished) with exit code \d+\.?"
    r"|error Command failed with exit code \d+\.?|error: (?:Recipe .* failed.*|script .* exited with code \d+.*)"
    r"|ELIFECYCLE.*|(?: ?ERR_PNPM_\S+.*)|Error: Process completed with exit code \d+\.?|BUILD FAILED.*"
    r"|(?:FAILURE: )?Build failed.*|\d+ (?:errors?|problems?|issues?|failures?)\b.*|error: could not compile .*"
    r"|error: aborting due to .*|error: test failed, to rerun .*|FAILED \(.*\)|test result: FAILED.*"
    r"|Found \d+ errors?.*|=+ .*(?:failed|error).* =+|too many errors"
    r"|(?:failed to solve: )?process \".*\" did not complete successfully: exit code: \d+)\s*$"
)
SAYS_FAILURE = re.compile(
    r"(?m)^(?:\s*--- FAIL:|FAIL\b|panic: |fatal: |(?:\[[\w:.-]{1,40}\] )ERROR task failed|Traceback \(most"
    r" recent call last\):"
    r"|exit status [1-9]|make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) |error(?:\[E\d+\])?: |[1-9]\d* issues?:$"
    r"|error TS\d+|BUILD FAILED|FAILED \(|test result: FAILED)"
)
LOOKED_AT = 20_000  # characters at the end of an output that are looked at


def outcome_of(command: str, status: int | None, output: str) -> Outcome:
    """
    Return how a command ended.

    Args:
        status: its exit status; None where nothing says so.

    Returns:
        ``failed`` by its status; ``hidden`` where only its output says so; ``passed`` by a status that nothing hides,
        or by an output that says so; ``unknown`` otherwise.
    """
    line = parsed_line(command)
    if status:
        return "failed"
    if status == 0 and line.is_sure:
        return "passed"
    if not command:
        return "passed" if status == 0 else "unknown"
    if line.is_reader or (line.is_filtered and not checks(command)):
        return "unknown" if status is None else "passed"
    text = output[-LOOKED_AT:]
    if says_failure(text):
        return "hidden"
    return "passed" if status == 0 or PASSED.search(text) else "unknown"


def says_failure(output: str) -> bool:
    """Return whether the output of a command says that it failed."""
    if SAYS_FAILURE.search(output) or FAILED.search(output):
        return True
    return any(found is not None and found.file for found in map(diagnostic_of, output.splitlines()))


def ends_run(line: str) -> bool:
    """Return whether a line is how a runner ends: it says that something failed, not what."""
    return ENDS.match(line) is not None
