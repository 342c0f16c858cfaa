"""Cycles of tasks that wait for each other."""

from collections.abc import Iterable, Mapping

from graphmem.errors import Refused


def refuse_cycle(needs: Mapping[str, Iterable[str]]) -> None:
    """Raise ``Refused`` where tasks wait for each other; the message is the way round, from its lowest number."""
    for around in cycles(needs):
        path = " → ".join(around)
        raise Refused(
            f"the plan has a cycle: {path}", hint="take one of these dependencies out", details={"cycle": path}
        )


def cycles(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return a way round for each group of tasks that wait for each other, from its lowest and back to it."""
    import networkx as nx  # noqa: PLC0415 - 160 ms that only plans and stats need

    graph = nx.DiGraph([(task, need) for task, found in needs.items() for need in found])
    found = []
    for group in nx.strongly_connected_components(graph):
        part = graph.subgraph(group)
        if part.number_of_edges():
            around = [edge[0] for edge in nx.find_cycle(part)]
            first = around.index(min(around))
            found.append([*around[first:], *around[:first], around[first]])
    return sorted(found)
