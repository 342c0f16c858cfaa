"""Which step of a workflow needs which (docs/concepts/campaigns.md, "Prerequisites")."""

from collections.abc import Collection, Mapping

from graphmem.errors import BadInput

Workflow = Mapping[str, tuple[str, ...]]  # by step, the steps that it needs complete

# Where a project declares none.
USUAL: Workflow = {"explore": (), "plan": ("explore",), "build": ("plan",), "observe": ("build",)}


def missing(workflow: Workflow, step: str, done: Collection[str]) -> list[str]:
    """
    Return what a step needs, directly or through others, and is not done, in the order to do it.

    What comes before a step that is done no longer matters.

    Raises:
        BadInput: steps need each other.
    """
    found: list[str] = []
    under_way: list[str] = []

    def visit(current: str) -> None:
        if current in under_way:
            around = " → ".join([*under_way[under_way.index(current) :], current])
            raise BadInput(f"the workflow has a cycle: {around}", hint="take one of these needs out")
        under_way.append(current)
        for need in workflow.get(current, ()):
            if need not in done and need not in found:
                visit(need)
                found.append(need)
        under_way.pop()

    visit(step)
    return found
