"""
A FalkorDB server with one graph a project: each is replaced as a whole, and asked read-only.

A graph is derived from a memory, as the local one is. It is a key of Redis, so a new one is filled beside it and takes
its name in one step; whoever asks meanwhile has the old one or the new one.
Decision: docs/decisions/0055-cypher-over-many-projects.md.
"""

import contextlib
import secrets
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import orjson

from graphmem.errors import BadInput, NotFound, Unavailable
from graphmem.features.cypher.engines.falkordb.values import json_of, literal
from graphmem.features.cypher.engines.kuzu.guard import tokens
from graphmem.features.cypher.engines.kuzu.rows import edge_columns, node_columns
from graphmem.features.cypher.engines.kuzu.schema import columns, edge_kinds, model_of, schema_version
from graphmem.features.cypher.stored_query import quoted
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.suggest import did_you_mean
from graphmem.names import label, relation_label
from graphmem.patterns import lazy_re

if TYPE_CHECKING:
    from redis import Redis

CLIENT = "falkordb"
SCHEMES = {"falkordb": "redis", "falkordbs": "rediss"}  # of an address of ours: what the client calls them
GRAPH = lazy_re(r"graphmem:\{([a-z0-9_.-]{1,120})\}")  # the keys of a project have one slot of a cluster
CONNECT_S, WRITE_S, GRACE_S = 5.0, 120.0, 3.0
REFUSALS = ("unknown command", "NO", "WRONGPASS", "MISCONF", "OOM", "READONLY", "LOADING", "CLUSTERDOWN")
ROWS = 1_000  # that one statement writes
DRAFT_S = 3_600  # seconds until a draft goes that nobody finished
Row = dict[str, Any]


class GraphServer:
    """A connection to a server; it is closed at the end of a ``with`` block."""

    def __init__(self, address: str, password: str = "", timeout_s: float = WRITE_S) -> None:
        if find_spec(CLIENT) is None:
            raise Unavailable(f"graphs of many projects need {CLIENT}", hint="pip install 'graphmem[team]'")
        parts = urlsplit(address)
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        url = f"{SCHEMES.get(parts.scheme, parts.scheme)}{address.removeprefix(parts.scheme)}"
        once = import_module("redis.retry").Retry(import_module("redis.backoff").NoBackoff(), 0)
        limits: dict[str, Any] = {"socket_connect_timeout": CONNECT_S, "socket_timeout": timeout_s + GRACE_S}
        with self.answering():
            opened = import_module(CLIENT).FalkorDB.from_url
            self.client = opened(url, **limits, retry=once, password=password or None)
        self.redis: Redis = self.client.connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        if pool := getattr(self.redis, "connection_pool", None):
            pool.disconnect()  # which the client leaves open

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Turn what the client raises into errors of ours; none of them holds a password."""
        errors = import_module("redis.exceptions")
        try:
            yield
        except (errors.RedisError, OSError) as error:
            said = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
            if "timed out" in said and isinstance(error, errors.ResponseError):
                raise Unavailable("the query took longer than it may", hint="raise --timeout") from None
            if isinstance(error, errors.ResponseError) and not said.startswith(REFUSALS):
                raise BadInput(f"the engine refuses the query: {said}", details={"findings": [said]}) from None
            how = "refuses" if isinstance(error, errors.ResponseError) else "does not answer"
            hint = "a Redis without FalkorDB?" if "command" in said else "is it running, and is the address right?"
            raise Unavailable(f"the graph server {self.shown} {how}: {said}", hint=hint) from None

    # --- reading ----------------------------------------------------------------------------------------------------

    def projects(self) -> list[str]:
        """Return the projects that have a graph, in name order."""
        with self.answering():
            keys = (GRAPH.fullmatch(str(key)) for key in self.redis.scan_iter(match="graphmem:{*}", count=1_000))
            return sorted({key[1] for key in keys if key})

    def asked(self, names: Collection[str]) -> list[str]:
        """Return the projects that are meant, all that have a graph for ``all``; ``NotFound`` for one without."""
        known = self.projects()
        for name in names:
            if name != "all" and name not in known:
                hint = did_you_mean(name, known) or f"there are: {', '.join(known) or 'none'}"
                raise NotFound(f"project {name!r} has no graph in {self.shown}", hint=hint)
        if not known:
            raise NotFound(f"no project has a graph in {self.shown}", hint="make one with: graphmem graph push")
        return known if "all" in names else list(dict.fromkeys(names))

    def query(
        self, project: str, text: str, parameters: Mapping[str, object], timeout_s: float, most: int
    ) -> tuple[list[str], list[list[object]]]:
        """Run a checked query on the graph of a project; return its columns, and ``most`` rows of JSON values."""
        graph = self.client.select_graph(key_of(project))
        with self.answering():
            result = graph.ro_query(_headed(_bounded(text, most), parameters), timeout=max(1, int(timeout_s * 1000)))
        rows = [[json_of(value) for value in row] for row in result.result_set[:most]]
        return [str(name) for _, name in result.header], rows

    # --- writing ----------------------------------------------------------------------------------------------------

    def push(self, project: str, catalog: Catalog) -> tuple[int, int] | None:
        """Replace the graph of a project by what a catalog holds; count its nodes and edges, None where it has them."""
        key = key_of(project)
        state = orjson.dumps([schema_version(), catalog.identity, *catalog.position, catalog.meta("vocabulary")])
        with self.answering():
            if self.redis.get(f"{key}:state") == state.decode() and self.redis.exists(key):
                return None
            draft = f"{key}:{secrets.token_hex(8)}"
            graph = self.client.select_graph(draft)
            try:
                graph.query("RETURN 1", timeout=int(WRITE_S * 1000))
                self.redis.expire(draft, DRAFT_S)
                counts = self._fill(graph, catalog)
                moved = self.redis.pipeline(transaction=True)
                moved.persist(draft)
                moved.rename(draft, key)
                moved.set(f"{key}:state", state)
                moved.execute()
            except BaseException:
                with contextlib.suppress(Exception):
                    self.redis.delete(draft)
                raise
        return counts

    def _fill(self, graph: Any, catalog: Catalog) -> tuple[int, int]:
        """Write every live record and edge into an empty graph."""

        def write(statement: str, rows: list[Row]) -> int:
            for start in range(0, len(rows), ROWS):
                graph.query(_headed(statement, {"rows": rows[start : start + ROWS]}))
            return len(rows)

        ends: dict[int, tuple[str, str]] = {}
        pairs: dict[tuple[str, str, str], list[tuple[int, int, float, bytes]]] = {}
        edges = 0
        for record_type in catalog.record_types():
            if found := list(catalog.live_rows(record_type)):
                numbers, _, shown, lines = zip(*found, strict=True)
                ends |= {number: (label(record_type), f"{record_type}/{name}") for number, _, name, _ in found}
                made = node_columns(catalog, record_type, numbers, shown, lines)
                name = quoted(label(record_type))
                graph.query(f"CREATE INDEX FOR (n:{name}) ON (n.ref)")
                rows = _rows(made, columns(model_of(record_type)))
                write(f"UNWIND $rows AS row CREATE (n:{name}) SET n = row", rows)
        for kind, src, dst, weight, line in catalog.live_edges():
            pairs.setdefault((kind, ends[src][0], ends[dst][0]), []).append((src, dst, weight, line))
        for (kind, source, target), part in pairs.items():
            kinds = edge_kinds(kind)
            made = edge_columns([orjson.loads(line) for *_, line in part], [one[2] for one in part], kinds)
            made["source"] = [ends[src][1] for src, *_ in part]
            made["target"] = [ends[dst][1] for _, dst, *_ in part]
            match = f"MATCH (a:{quoted(source)} {{ref: row.source}}), (b:{quoted(target)} {{ref: row.target}})"
            create = f"CREATE (a)-[r:{quoted(relation_label(kind))}]->(b) SET r = row"
            edges += write(f"UNWIND $rows AS row {match} {create}", _rows(made, kinds))
        return len(ends), edges


def key_of(project: str) -> str:
    """Return the key of the graph of a project."""
    return f"graphmem:{{{project}}}"


def _rows(made: Mapping[str, list[Any]], kinds: Mapping[str, str]) -> list[Row]:
    """Return the rows of some columns, each without what it lacks, decimals as such."""
    exact = dict(made)
    for name in [name for name in made if kinds.get(name) == "DOUBLE"]:
        exact[name] = [None if value is None else float(value) for value in made[name]]
    rows = (zip(exact, values, strict=True) for values in zip(*exact.values(), strict=True))
    return [{name: value for name, value in row if value is not None} for row in rows]


def _headed(text: str, parameters: Mapping[str, object]) -> str:
    """Return a statement with its parameters, as the server takes them."""
    given = " ".join(f"{name}={literal(value)}" for name, value in parameters.items())
    return f"CYPHER {given} {text}" if given else text


def _bounded(text: str, most: int) -> str:
    """Return a statement that ends after some rows, where its own last words do not say how many."""
    found = list(tokens(text))
    text = text[: found[-1].at] if found[-1].text == ";" else text
    words = [token.word for token in found]
    last = words[len(words) - 1 - words[::-1].index("RETURN") :] if "RETURN" in words else ["LIMIT"]
    return text if "LIMIT" in last or "UNION" in words else f"{text}\nLIMIT {most}"
