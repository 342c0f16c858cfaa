"""``session …``: what is current, decided and to be kept to."""

from graphmem.core.sessions.operations import PreferRequest, SessionContext
from graphmem.core.sessions.text import shown
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, group_of, passes
from graphmem.errors import Usage
from graphmem.kernel.registry import Taken

app = group_of("session", "")

NAME = Taken("NAME", flag="--session")


@app.command(epilog="Example: graphmem session prefer --style terse --approve 'before a push'")
@passes(
    "sessions.prefer",
    PreferRequest,
    name=NAME,
    communication_style=Taken(flag="--style"),
    approval_gates=Taken(flag="--approve"),
    default_model_profile=Taken("NAME", flag="--profile"),
)
def prefer(
    invocation: Invocation,
    call: Call,
    communication_style: str | None,
    approval_gates: str | None,
    default_model_profile: str | None,
) -> None:
    """Note how the user wants to work; an empty text takes a wish back."""
    if (communication_style, approval_gates, default_model_profile) == (None, None, None):
        raise Usage("no preference is given", hint="--style, --approve or --profile")
    answer: SessionContext = call()
    invocation.answer(answer, shown(answer))
