"""
Brings the graph up to date with the catalog: row by row, or made again.

Runs in a child process (``graph.worker``), which takes the lock of the graph itself.
"""

import json
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from graphmem import safe_files
from graphmem.catalog.catalog import Catalog
from graphmem.catalog.database import CatalogError, is_damage
from graphmem.errors import DamagedCatalog, GraphmemError, Locked
from graphmem.graph.engine import unavailable, without_asyncio
from graphmem.graph.follow import take_in
from graphmem.graph.graph import Graph, opened, remove, schema_version
from graphmem.graph.shape import define
from graphmem.graph.worker import answer_with, request, said, silence
from graphmem.model.vocabulary import Vocabulary
from graphmem.process.collector import uncollected
from graphmem.process.lock import locked

MOST_CHANGES = 500  # records and edges above which a rebuild is cheaper than single changes (2 ms each)


def main() -> NoReturn:
    """Do what the request on standard input says, and answer with what was done or with the error."""
    asked = request()
    without_asyncio()
    output = silence()
    answer_with(output, json.dumps(answer(asked)).encode())


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what was done, or why it could not be done."""
    try:
        catalog = Catalog(Path(asked["catalog"]), replaces_damaged=False)
        graph = Graph(Path(asked["folder"]), catalog, lock_timeout_s=asked["lock_timeout_s"])
        with locked(graph.lock, timeout_s=graph.lock_timeout_s), catalog.unchanging():
            if kept := catalog.meta("vocabulary"):
                catalog.vocabulary = Vocabulary.model_validate_json(kept)
            if asked["what"] == "rebuild":
                records, relations = make_again(graph)
                return {"records": records, "relations": relations}
            return {"is_rebuilt": follow(graph)}
    except Locked as error:
        return {"locked": said(error)}
    except DamagedCatalog as error:
        return {"damaged": said(error)}
    except GraphmemError as error:
        return {"unavailable": said(error)}
    except (RuntimeError, MemoryError, OSError, ImportError, CatalogError) as error:  # a library may find no memory
        if is_damage(error):
            return {"damaged": said(DamagedCatalog(str(error)))}
        return {"unavailable": said(unavailable(error, "the graph cannot be written"))}
    except Exception:  # the boundary of the process: the parent raises it
        return {"fault": traceback.format_exc()}


def follow(graph: Graph) -> bool:
    """Take in what changed since the graph was left; return whether it was made again instead."""
    catalog = graph.catalog
    epoch, seq = catalog.position
    if graph.is_current((epoch, seq)):
        return False
    left = graph.left()
    ours = schema_version(), catalog.identity, epoch
    if left is None or not graph.can_open(left) or (left.schema, left.catalog, left.epoch) != ours:
        make_again(graph)
        return True
    changes = catalog.changes(left.seq)
    if len(changes) > MOST_CHANGES:
        make_again(graph)
        return True
    graph.keep(replace(left, is_writing=True))
    with opened(graph.path, read_only=False, needed_bytes=2 * left.size) as connection:
        if left.vocabulary != graph.vocabulary():
            define(connection, catalog.vocabulary)
        take_in(connection, catalog, changes)
    graph.keep(graph.found(epoch, seq))
    return False


def make_again(graph: Graph) -> tuple[int, int]:
    """Make the graph beside the old file, which stays until the new one is complete; count its records and edges."""
    from graphmem.graph.rebuild import fill  # noqa: PLC0415 - only a bulk copy pays for arrow, 0.2 s

    epoch, seq = graph.catalog.position
    fresh = graph.fresh_path
    remove(fresh)
    try:
        with opened(fresh, read_only=False, needed_bytes=graph.likely_bytes()) as connection, uncollected():
            define(connection, graph.catalog.vocabulary)
            counts = fill(connection, graph.catalog)
    except BaseException:
        remove(fresh)
        raise
    graph.remove()
    safe_files.replace(fresh, graph.path)
    graph.keep(graph.found(epoch, seq))
    return counts


if __name__ == "__main__":
    main()
