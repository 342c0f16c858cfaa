"""Which step of a workflow needs which (docs/concepts/campaigns.md, "Prerequisites")."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from graphmem.errors import BadInput

Workflow = Mapping[str, tuple[str, ...]]  # by step, the steps that it needs complete

# Where a project declares none.
USUAL: Workflow = {"explore": (), "plan": ("explore",), "build": ("plan",), "observe": ("build",)}


def missing(workflow: Workflow, step: str, done: Collection[str]) -> list[str]:
    """
    Return what a step needs, directly or through others, and is not done, in the order to do it.

    What comes before a step that is done no longer matters.
    """
    return ordered(workflow, (step,), set(done) - {step}, "the workflow")[:-1]


def refuse_cycle(workflow: Workflow, what: str) -> None:
    """Raise ``BadInput`` where steps need each other; ``what`` begins the message."""
    ordered(workflow, workflow, frozenset(), what)


def ordered(workflow: Workflow, steps: Iterable[str], done: Collection[str], what: str) -> list[str]:
    """Return steps and all that they need and is not done, each after what it needs."""
    found: dict[str, None] = {}
    for step in steps:
        under_way: dict[str, Iterator[str]] = {} if step in found else {step: iter(workflow.get(step, ()))}
        while under_way:
            current = next(reversed(under_way))
            need = next((one for one in under_way[current] if one not in done and one not in found), None)
            if need is None:
                found[current] = None
                del under_way[current]
            elif need in under_way:
                path = list(under_way)
                around = " → ".join([*path[path.index(need) :], need])
                raise BadInput(f"{what} has a cycle: {around}", hint="take one of these needs out")
            else:
                under_way[need] = iter(workflow.get(need, ()))
    return list(found)
