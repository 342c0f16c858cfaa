"""``scope …``: what callers may read and write that do not get all."""

from graphmem.core.vocabulary.scopes import AddScopeRequest, ScopeList, ShowScopeRequest
from graphmem.doors.cli.caller import Invocation, complete_kind
from graphmem.doors.cli.commands import Call, listed, noun, passes
from graphmem.kernel.model.scope import Scope
from graphmem.kernel.registry import Taken

app = noun("Declare and show what callers may read and write.")


@app.command(epilog="Example: graphmem scope add reviewer --read failure,pattern --write pattern")
@passes(
    "scopes.add",
    AddScopeRequest,
    arguments=1,
    read=Taken("T,…", complete_kind),
    write=Taken("T,…", complete_kind),
    description=Taken("D"),
)
def add(invocation: Invocation, call: Call, read: list[str], write: list[str]) -> None:
    """
    Declare a scope, or change what it allows.

    A command, a server or a program is bound to it by --scope NAME, or GRAPHMEM_SCOPE.
    """
    answer: Scope = call(read=listed(read), write=listed(write))
    invocation.answer(answer, described(answer))


@app.command("list", epilog="Example: graphmem scope list")
@passes("scopes.list")
def list_scopes(invocation: Invocation, answer: ScopeList) -> None:
    """List the project's scopes."""
    invocation.answer(answer, "\n".join(map(described, answer.results)))
    if not answer.results:
        invocation.say("no scopes yet; to add one: graphmem scope add NAME --read pattern")


@app.command(epilog="Example: graphmem scope show reviewer")
@passes("scopes.show", ShowScopeRequest, name=Taken("NAME"))
def show(invocation: Invocation, answer: Scope) -> None:
    """Show one scope."""
    invocation.answer(answer, described(answer))


def described(scope: Scope) -> str:
    """Return a scope in one line."""
    what = f"  {scope.description}" if scope.description else ""
    rights = (
        f"{verb}: {', '.join(names) or 'nothing'}" for verb, names in (("reads", scope.read), ("writes", scope.write))
    )
    return f"{scope.name}  {'  '.join(rights)}{what}"
