"""Resources, which a user attaches, and prompts, which a user calls by name; each says what a tool says too."""

from collections.abc import Callable
from urllib.parse import unquote

import mcp_types as types

from graphmem.api import Memory
from graphmem.core.replies.reply import WHOLE
from graphmem.doors.mcp.tools import replied
from graphmem.errors import NotFound, Usage
from graphmem.kernel.registry import OPERATIONS
from graphmem.names import visible

RECORD = "graphmem://record/"
CONTEXT, STATS = "graphmem://context", "graphmem://stats"
PLAIN = "text/plain"
RESOURCES = [
    types.Resource(uri=uri, name=name, description=description, mime_type=PLAIN)
    for uri, name, description in (
        (CONTEXT, "context", "Current task, constraints, decisions, preferences"),
        (STATS, "stats", "How much the project remembers, and what is due"),
    )
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template=f"{RECORD}{{ref}}",
        name="record",
        description="One record with its edges; ref as kind/name",
        mime_type=PLAIN,
    )
]
OBJECTIVE = str(OPERATIONS["context"].request.model_fields["objective"].description)
PROMPTS = [
    types.Prompt(
        name="recall",
        description="Put what the project remembers for an objective before the work",
        arguments=[types.PromptArgument(name="objective", description=OBJECTIVE, required=True)],
    ),
    types.Prompt(name="retro", description="Look back: report what helped, and record what was learned"),
    types.Prompt(name="prune", description="Look over the memories that are worth least"),
]
RETRO = """Look back at this session and put what it taught into the project's memory.

1. For every record that recall returned and you tried: feedback, with helped, and with asked from that answer.
2. For every error that was understood and fixed: remember, kind failure, with trigger, fix and symptom.
3. For what works and will be needed again: remember, kind pattern. For every decision: remember, kind decision.
4. If the task is done: remember, kind experience.

Record only what is certain and holds beyond this session, never a secret. Then list what you recorded."""


def read(memory: Memory, uri: str) -> str:
    """Return the text of a resource; raise ``NotFound`` for one that there is not."""
    if uri == CONTEXT:
        return replied("sessions.show", memory.sessions.show(), WHOLE).text
    if uri == STATS:
        return replied("stats", memory.stats(), WHOLE).text
    if uri.startswith(RECORD):
        return replied("get", memory.get(unquote(uri.removeprefix(RECORD))), WHOLE).text
    raise NotFound(f"no resource {uri!r}", hint=f"one of: {CONTEXT}, {STATS}, {RECORD}{{ref}}")


def recall(memory: Memory, given: dict[str, str]) -> str:
    """Return what the project remembers for an objective, and the objective."""
    objective = given.get("objective", "")
    if not objective.strip():
        raise Usage("argument 'objective' is missing", hint=OBJECTIVE)
    text = memory.context(objective).text or "The project's memory holds nothing for this objective."
    return f"{text.rstrip()}\n\nThe objective: {objective}"


def _prune(memory: Memory, given: dict[str, str]) -> str:
    """Return which memories would go, and how to let them go."""
    found = memory.store.prune().records
    if not found:
        return "No memory is worth so little that it should go. Say so."
    lines = [f"- {visible(one.ref)}: {visible(one.reason)}" for one in found]
    ask = "Look at each with the tool get, and ask the user which to keep before anything is archived."
    how = "After the user agreed, run: graphmem prune --yes. An archived record comes back with: graphmem restore REF."
    return "\n".join(["These memories are worth least:", *lines, "", ask, how])


MADE: dict[str, Callable[[Memory, dict[str, str]], str]] = {
    "recall": recall,
    "retro": lambda memory, given: RETRO,
    "prune": _prune,
}
