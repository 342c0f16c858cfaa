"""Which step of a workflow needs which (docs/concepts/campaigns.md, "Prerequisites")."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from graphmem.errors import BadInput

Need = str | Sequence[str]  # a step, or several of which one is enough
Workflow = Mapping[str, Sequence[Need]]  # by step, what it needs complete

# Where a project declares none.
USUAL: Workflow = {"explore": (), "plan": ("explore",), "build": ("plan",), "observe": ("build",)}


def missing(workflow: Workflow, step: str, done: Collection[str]) -> list[str]:
    """
    Return what a step needs, directly or through others, and is not done, in the order to do it.

    What comes before a step that is done no longer matters. Of several of which one is enough, the first is missing
    where none is done.
    """
    needs = {name: [_chosen(need, done) for need in found] for name, found in workflow.items()}
    return _ordered(needs, (step,), set(done) - {step}, "the workflow")[:-1]


def _chosen(need: Need, done: Collection[str]) -> str:
    """Return the step that fulfils a need, or is to fulfil it."""
    return need if isinstance(need, str) else next((step for step in need if step in done), need[0])


def steps_in(needs: Sequence[Need]) -> list[str]:
    """Return every step that some needs name."""
    return [step for need in needs for step in ([need] if isinstance(need, str) else need)]


def refuse_cycle(workflow: Workflow, what: str) -> None:
    """Raise ``BadInput`` where steps need each other; ``what`` begins the message."""
    _ordered({step: steps_in(needs) for step, needs in workflow.items()}, workflow, frozenset(), what)


def _ordered(
    workflow: Mapping[str, Sequence[str]], steps: Iterable[str], done: Collection[str], what: str
) -> list[str]:
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
