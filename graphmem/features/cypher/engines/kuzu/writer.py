"""
Brings the graph up to date with the catalog: change by change, or rebuilt.

Runs in a child process (``graph.worker``), which takes the lock of the graph itself.
"""

import json
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from graphmem.errors import DamagedCatalog, GraphmemError, Locked
from graphmem.features.cypher.engines.kuzu.engine import Bulk, unavailable, without_asyncio
from graphmem.features.cypher.engines.kuzu.mirror import KuzuMirror, opened, remove_database
from graphmem.features.cypher.engines.kuzu.rebuild import fill
from graphmem.features.cypher.engines.kuzu.schema import define, schema_version
from graphmem.features.cypher.engines.kuzu.sync import Change, apply_changes
from graphmem.features.cypher.worker import error_fields, read_request, redirect_stdout, scarce, send
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.database import CatalogError, is_damage
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.collector import collector_paused
from graphmem.kernel.system.lock import locked
from graphmem.names import split_ref

MOST_CHANGES = 500  # records and edges above which a rebuild is cheaper than single changes (2 ms each)


def main() -> NoReturn:
    """Do the job that the request on standard input names, and answer with the outcome or the error."""
    request = read_request()
    without_asyncio()
    output = redirect_stdout()
    send(output, json.dumps(_answer(request)).encode())


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return what was done, or why it could not be done."""
    try:
        visible = request["visible"]
        catalog = Catalog(Path(request["catalog"]), replaces_damaged=False, visible=visible)
        mirror = KuzuMirror(Path(request["folder"]), catalog, lock_timeout_s=request["lock_timeout_s"])
        with locked(mirror.lock, timeout_s=mirror.lock_timeout_s), catalog.unchanging():
            if text := catalog.meta("vocabulary"):
                known = Vocabulary.model_validate_json(text)
                catalog.vocabulary = known if visible is None else known.narrowed(visible)
            if request["job"] == "rebuild":
                records, relations = rebuild(mirror)
                return {"records": records, "relations": relations}
            return {"is_rebuilt": catch_up(mirror)}
    except Locked as error:
        return {"locked": error_fields(error)}
    except DamagedCatalog as error:
        return {"damaged": error_fields(error)}
    except GraphmemError as error:
        return {"unavailable": error_fields(error)}
    except (RuntimeError, MemoryError, OSError, ImportError, CatalogError) as error:  # a library may find no memory
        if is_damage(error):
            return {"damaged": error_fields(DamagedCatalog(str(error)))}
        found = unavailable(error, "the graph cannot be written")
        found.hint = found.hint if isinstance(error, ModuleNotFoundError) else scarce(Path(request["folder"]))
        return {"unavailable": error_fields(found)}
    except Exception:  # the boundary of the process: the parent raises it
        return {"fault": traceback.format_exc()}


def catch_up(mirror: KuzuMirror) -> bool:
    """Apply what changed since the graph was left; return whether it was rebuilt instead."""
    catalog = mirror.catalog
    epoch, seq = catalog.position
    stamp = mirror.read_stamp()
    if stamp and mirror.is_current(stamp, (epoch, seq)):
        return False
    ours = schema_version(), catalog.identity, epoch
    if stamp is None or not mirror.can_open(stamp) or (stamp.schema, stamp.catalog, stamp.epoch) != ours:
        rebuild(mirror)
        return True
    changes = [change for change in catalog.changes(stamp.seq) if _is_visible(catalog, change)]
    if len(changes) > MOST_CHANGES:
        rebuild(mirror)
        return True
    mirror.write_stamp(replace(stamp, is_writing=True))
    with opened(mirror.path, read_only=False, needed_bytes=2 * stamp.size) as connection:
        if stamp.vocabulary != mirror.vocabulary_digest():
            define(connection, catalog.vocabulary)
        apply_changes(connection, catalog, changes)
    mirror.write_stamp(mirror.stamp_of_file(epoch, seq))
    return False


def _is_visible(catalog: Catalog, change: Change) -> bool:
    """Return whether a change is of what the graph holds, whose caller may see some kinds and types only."""
    kind, *refs = change
    is_seen = catalog.visible is None or all(split_ref(ref)[0] in catalog.visible for ref in refs if ref is not None)
    return is_seen and (kind is None or kind in catalog.vocabulary.relations)


def rebuild(mirror: KuzuMirror) -> tuple[int, int]:
    """Build the graph beside the old file, which stays until the new one is complete; count its records and edges."""
    epoch, seq = mirror.catalog.position
    fresh = mirror.fresh_path
    remove_database(fresh)
    needed_bytes = mirror.likely_bytes()
    try:
        with (
            opened(fresh, read_only=False, needed_bytes=needed_bytes) as connection,
            collector_paused(),
        ):
            connection.execute("BEGIN TRANSACTION")  # alone, each table is forced to the disk: 0.1 to 0.3 s in all
            define(connection, mirror.catalog.vocabulary)
            connection.execute("COMMIT")
            counts = fill(Bulk(connection, mirror.path.parent), mirror.catalog)
    except BaseException:
        remove_database(fresh)
        raise
    mirror.remove()
    safe_files.replace(fresh, mirror.path)
    mirror.write_stamp(mirror.stamp_of_file(epoch, seq))
    return counts


if __name__ == "__main__":
    main()
