"""A project's own stored queries: files below ``.graphmem/queries/``, read and checked like graphmem's."""

import time
from collections.abc import Iterator, Mapping

from graphmem.core.vocabulary.retyping import QUERY_BYTES
from graphmem.errors import GraphmemError, Refused
from graphmem.features.cypher.stored_query import Stored, all_stored, parse
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.graph import GraphMirror
from graphmem.kernel.ledger.files.layout import QUERY_FILE, Layout
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files

MOST_QUERIES = 1_000  # files that are read
ONE_CHECK_S = 1.0  # seconds that the engine may look at a query: a branch can bring one that takes it hours to read
CHECK_S = 6.0  # for all of them
FORM = "the form of docs/guides/own-queries.md"
SAMPLE = {"label": "Failure", "from": "Failure", "to": "Failure", "relation": "CAUSES"}  # for placeholders in a check


def project_queries(layout: Layout, graph: GraphMirror) -> tuple[dict[str, Stored], list[Finding]]:
    """Return the stored queries of a project by name, and what is wrong with the files that give none."""
    queries: dict[str, Stored] = {}
    findings: list[Finding] = []
    files = sorted(file for file in layout.look(layout.queries).files if file.endswith(".cypher"))
    for file in files[:MOST_QUERIES]:
        try:
            found = QUERY_FILE.fullmatch(file)
            if found is None:
                raise ValueError("its path is not queries/NOUN/VERB.cypher, in a-z 0-9 _")
            query = parse(found[1], safe_files.text(layout.store / file, QUERY_BYTES).replace("\r\n", "\n"))
            _refuse_wrong(query, graph)
            queries[query.name] = query
        except (ValueError, OSError) as error:
            findings.append(Finding.of(file, Code.BAD_QUERY, str(error), FORM))
        except Refused as error:
            findings.append(Finding.of(file, Code.BAD_QUERY, error.message, error.hint or FORM))
    if len(files) > MOST_QUERIES:
        message = f"{len(files):,} queries; the first {MOST_QUERIES:,} are read"
        findings.append(Finding.of("queries", Code.BAD_QUERY, message, "fewer files"))
    return queries, findings


def wrong_queries(client: Client) -> list[Finding]:
    """Return what is wrong with the stored queries of a project; the graph is asked where there is an engine."""
    queries, findings = project_queries(client.layout, client.graph)
    is_asked = queries and client.graph.is_installed
    return findings + (list(_unprepared(queries, client.graph)) if is_asked else [])


def _refuse_wrong(query: Stored, graph: GraphMirror) -> None:
    """Raise ``ValueError`` or ``Refused`` for a query that is not as its header says, or does anything but read."""
    if query.name in all_stored():
        raise ValueError(f"{query.name!r} is a query of graphmem's own, which is the one that runs")
    if query.is_write:
        raise ValueError("it says that it writes; the files are the truth, and a query only reads")
    used = graph.require_read(query.filled(SAMPLE)).parameters
    for name in sorted(used ^ query.parameters.keys()):
        missing = "used and not declared" if name in used else "declared and not used"
        raise ValueError(f"parameter {name!r} is {missing}")
    if not query.columns:
        raise ValueError("no column is declared")


def _unprepared(queries: Mapping[str, Stored], graph: GraphMirror) -> Iterator[Finding]:
    """Yield the queries that the engine refuses, such as for a label that there is not; nothing of them is run."""
    end = time.monotonic() + CHECK_S
    for name, query in queries.items():
        file, left_s = f"queries/{name}.cypher", end - time.monotonic()
        if left_s <= 0:
            yield Finding.of(file, Code.BAD_QUERY, f"not checked: those before it took {CHECK_S:g} s", "simpler ones")
            continue
        try:
            graph.cypher(f"EXPLAIN {query.filled(SAMPLE)}", {}, timeout_s=min(left_s, ONE_CHECK_S), limit=1)
        except GraphmemError as error:
            yield Finding.of(file, Code.BAD_QUERY, error.message, error.hint or FORM)
