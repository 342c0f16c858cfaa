"""graphiti without a language model: entities as they are, on Kuzu, its hybrid search."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.peers import Encode, Search

if TYPE_CHECKING:
    from tests.bench.calls import Call, Notes

NEEDS = "graphiti_core"
INSTALL = "pip install 'graphiti-core[kuzu]>=0.31' httpx"
SILENT = {"GRAPHITI_TELEMETRY_ENABLED": "false", "OPENAI_API_KEY": "none"}  # clients are made, and never asked


@contextmanager
def opened(folder: Path, texts: Sequence[str], encode: Encode) -> Iterator[Search]:
    """Yield the search of a graph: Kuzu's BM25 and the given vectors, their ranks fused."""
    os.environ.update(SILENT)
    with asyncio.Runner() as runner:
        graph, recipe = runner.run(filled(str(folder / "graph"), texts, encode))

        def search(text: str, limit: int) -> list[int]:
            asked = graph.search_(text, recipe.model_copy(update={"limit": limit}), query_vector=encode(text).tolist())
            return [int(node.uuid) for node in runner.run(asked).nodes]

        yield search
        runner.run(graph.close())


@contextmanager
def calls(folder: Path, notes: "Notes") -> "Iterator[dict[str, Call]]":
    """Yield the calls of a graph: entities and facts as they are saved, its search, and what is two hops away."""
    os.environ.update(SILENT)
    with asyncio.Runner() as runner:
        graph, recipe = runner.run(filled(str(folder / "graph"), notes.texts, notes.encode))
        from graphiti_core.edges import EntityEdge
        from graphiti_core.nodes import EntityNode
        from graphiti_core.search.search_filters import SearchFilters
        from graphiti_core.search.search_utils import node_bfs_search

        driver, now = graph.driver, datetime.now(UTC)
        vector = notes.vectors[0].tolist()

        def add(n: int) -> None:
            text = notes.new[n]
            made = EntityNode(uuid=f"n{n}", name=text, group_id="benchmark", name_embedding=notes.encode(text).tolist())
            runner.run(made.save(driver))

        def link(ends: tuple[int, int]) -> None:
            made = EntityEdge(source_node_uuid=str(ends[0]), target_node_uuid=str(ends[1]), group_id="benchmark",
                              created_at=now, name="CAUSES", fact="causes", fact_embedding=vector)  # fmt: skip
            runner.run(made.save(driver))

        def query(n: int) -> None:
            text = notes.texts[n]
            runner.run(graph.search_(text, recipe, query_vector=notes.encode(text).tolist()))

        for ends in notes.edges:
            link(ends)
        yield {
            "add": add,
            "link": lambda n: link(notes.new_edges[n]),
            "query": query,
            "related": lambda n: runner.run(
                node_bfs_search(driver, [str(notes.some[n])], SearchFilters(), 2, ["benchmark"], 100)
            ),
            "cypher": lambda n: runner.run(driver.execute_query("MATCH (a:Entity {uuid: $a}) RETURN a.name", a=str(n))),
        }
        runner.run(graph.close())


async def filled(place: str, texts: Sequence[str], encode: Encode) -> tuple[Any, Any]:
    """Return a graph with an entity for each text, and how it is to be searched."""
    from graphiti_core import Graphiti
    from graphiti_core.driver.kuzu_driver import KuzuDriver
    from graphiti_core.nodes import EntityNode
    from graphiti_core.search.search_config_recipes import NODE_HYBRID_SEARCH_RRF

    driver = KuzuDriver(place)
    for number, text in enumerate(texts):
        vector = encode(text).tolist()
        await EntityNode(uuid=str(number), name=text, group_id="benchmark", name_embedding=vector).save(driver)
    await driver.graph_ops.build_indices_and_constraints(driver)  # of words; the graph's own method makes none on Kuzu
    recipe = NODE_HYBRID_SEARCH_RRF.model_copy(deep=True)
    recipe.node_config.sim_min_score = 0.0  # as it comes, what is less alike than 0.6 is found by its words alone
    return Graphiti(graph_driver=driver), recipe
