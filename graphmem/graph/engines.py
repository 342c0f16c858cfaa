"""Which graph engine a store has. It loads when it is asked for: most commands need none."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.constants import LOCK_TIMEOUT_S
from graphmem.graph.port import GraphMirror

if TYPE_CHECKING:
    from graphmem.catalog.catalog import Catalog
    from graphmem.graph.kuzu.engine import Engine

ENGINE: "Engine" = "kuzu"
OTHER: "Engine" = "ladybug"  # the continuation of Kuzu, which has wheels for more systems


def open_mirror(
    folder: Path, catalog: "Catalog", *, lock_timeout_s: float = LOCK_TIMEOUT_S, engine: "Engine | None" = None
) -> GraphMirror:
    """
    Return the graph of a store whose derived files are in ``folder``; this reads and builds nothing yet.

    Args:
        engine: None for the one that is installed, Kuzu where both are.
    """
    from graphmem.graph.kuzu.mirror import KuzuMirror  # noqa: PLC0415 - only what asks the graph pays for it

    if engine is None:
        engine = OTHER if not find_spec(ENGINE) and find_spec(OTHER) else ENGINE
    return KuzuMirror(folder, catalog, lock_timeout_s=lock_timeout_s, engine=engine)
