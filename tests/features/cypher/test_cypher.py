"""Queries of others: what `check` lets through runs in the engine, what it refuses could do harm."""

from collections.abc import Iterator
from pathlib import Path

import kuzu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import Refused
from graphmem.features.cypher.engines.kuzu.guard import FUNCTIONS, require_read, tokens

SCHEMA = (
    "CREATE NODE TABLE `Set`(ref STRING, key STRING, name STRING, kind STRING, `delete` INT64, PRIMARY KEY(ref))",
    "CREATE NODE TABLE Task(ref STRING, key STRING, name STRING, kind STRING, PRIMARY KEY(ref))",
    "CREATE REL TABLE `CREATE`(FROM `Set` TO Task, FROM Task TO Task, copy DOUBLE, merge DOUBLE)",
)

HARMLESS = """
MATCH (n:Set) RETURN n.delete AS load ORDER BY load
WITH 1 AS copy RETURN copy
MATCH (set)-[merge:`CREATE`]->(delete) WHERE set.name = '1' RETURN set, merge, delete
RETURN {`create`: 1, set: 2, load: 3, 'delete': 4}
RETURN 'DROP TABLE x; // ', "it's; SET", 'a\\'; DELETE ', "/* "
RETURN 1; // CREATE (n); DELETE n
RETURN /* MERGE; */ 1 /***/ SET n.x = 1 /* closed here */ AS x
MATCH (`SET`:`Set` {name: 'x'}) RETURN `SET`.`name` AS `DELETE n; CREATE`
WITH 1 AS set, 2 AS delete, 3 AS merge, 4 AS load, 5 AS call RETURN set + delete * merge - load / call
WITH [1] AS set UNWIND set AS detach RETURN detach, set, -detach, detach IN set, set[1], set[1:1]
WITH 1 AS as, 2 AS by, 3 AS return, 4 AS match, 5 AS limit RETURN as AS as, by, return, match, limit ORDER BY by, as
MATCH match = (set:Set)-[call:`CREATE` *1..2]->(load:Task) RETURN match, call, load
OPTIONAL MATCH (n:Set) WHERE n.name CONTAINS 'CREATE' RETURN DISTINCT n.name SKIP 0 LIMIT 5
MATCH (n) WHERE n.name STARTS WITH 'SET' OR NOT n.name ENDS WITH 'DELETE' AND n.ref IS NOT NULL RETURN count(*)
WITH 'SET' AS set RETURN CASE set WHEN 'a' THEN set ELSE set END AS delete
WITH 1 AS set RETURN CASE WHEN set = 1 THEN set WHEN set > 1 THEN 2 END
RETURN list_transform([1, 2], set -> set + 1), list_filter([1], (load) -> load > 0)
RETURN all(set IN [1, 2] WHERE set > 0), any(load IN [1] WHERE load = 1)
MATCH (a)-[e:`CREATE`* SHORTEST 1..3 (set, load | WHERE set.copy >= 0 | {set.copy}, {load.name})]->(b) RETURN e
MATCH (a)-[e* ALL SHORTEST 1..3]->(b) RETURN length(e)
MATCH (a)-[e:`CREATE`* WSHORTEST(copy)]->(b) RETURN cost(e)
MATCH (a)-[e*TRAIL 1..2]->(b) RETURN count(e)
MATCH (a)-[e]->(b) HINT (a JOIN e) JOIN b RETURN a.name
MATCH (n) WHERE EXISTS { MATCH (n)-[set]->(load) WHERE set.merge > 0 } RETURN n.ref
MATCH (n) RETURN COUNT { MATCH (n)-[:`CREATE`]->(delete:Task) } AS create_
MATCH (count {name: 'SET'}) RETURN count.name
MATCH (n) WITH * RETURN *
MATCH (n) WITH *, 1 AS set RETURN n.*, set * 2 AS delete
RETURN 5! AS set
RETURN 1 /****/ AS x /* SET */
RETURN cast('1' AS INT64) AS set, cast([1] AS INT64[]), cast({set: 1} AS STRUCT(set INT64)) AS s
RETURN 1 AS set UNION ALL RETURN 2 AS set
RETURN 1 AS set UNION RETURN 2 AS set
RETURN $set, $`$`, $1
RETURN $load AS load, $delete, $set + 1
UNWIND [1, 2] AS set WITH set AS load, count(*) AS delete RETURN load, delete ORDER BY load DESC, delete ASC LIMIT 3
CALL show_tables() RETURN *
CALL `SHOW_tables`() RETURN name
CALL Table_Info('Set') WHERE name = 'ref' RETURN *
MATCH (n:Set) CALL table_info('Set') RETURN n.ref, type
CALL show_connection('CREATE') RETURN *
CALL show_functions() WHERE name = 'ABS' RETURN signature AS call
CALL show_indexes() RETURN *
CALL db_version() YIELD version AS load RETURN load
CALL current_setting('threads') RETURN *
EXPLAIN MATCH (n) RETURN n
EXPLAIN LOGICAL RETURN 1
PROFILE RETURN 1
RETURN\u2003\u00a01\u180eAS\u3000set
RETURN 1 AS größe, 2 AS set\u0301, 3 AS s€t, 4 AS ſet, 5 AS _set, 6 AS a$b
MATCH (a)\u2010[set]\u2010\u27e9(b) RETURN set
\ufeffRETURN 1.5e-3, .5, 1e5, 0, 12, 1.5
RETURN '\\u0053ET', 'nul \0 inside'
return 1 as Set order by Set;
""".strip().split("\n")
UNREADABLE = {"RETURN $set, $`$`, $1"}  # the engine reads it, graphmem wants plain names of parameters

CHANGES = """
CREATE (n:Task {ref: 'x'})
MERGE (n:Task {ref: 'x'})
MATCH (n:Task) SET n.name = 'x'
MATCH (n) REMOVE n.name
MATCH (n) DELETE n
MATCH (n) DETACH DELETE n
DROP TABLE Task
ALTER TABLE Task ADD x STRING
COMMENT ON TABLE Task IS 'x'
COPY Task FROM 'x.csv'
COPY (MATCH (n) RETURN n) TO 'x.csv'
EXPORT DATABASE 'x'
IMPORT DATABASE 'x'
LOAD FROM '/etc/passwd' (file_format='csv') RETURN *
LOAD WITH HEADERS (a STRING) FROM '/etc/passwd' (file_format='csv') RETURN *
LOAD EXTENSION 'x.so'
LOAD vector
ATTACH 'x.kz' AS x (dbtype kuzu)
DETACH x
USE x
INSTALL httpfs
FORCE INSTALL httpfs
UNINSTALL httpfs
UPDATE httpfs
CALL timeout=0
CALL `threads` = 64
CALL read_csv_serial('/etc/passwd') RETURN *
CALL json_scan('/etc/passwd') RETURN *
CALL create_fts_index('Task', 'i', ['name'])
CALL project_graph('g', ['Task'], [])
CALL count(*)
CHECKPOINT
BEGIN TRANSACTION
BEGIN TRANSACTION READ ONLY
COMMIT
ROLLBACK
CREATE MACRO m(x) AS x + 1
CREATE SEQUENCE s
RETURN nextval('s')
RETURN `NextVal` ('s')
EXPLAIN CREATE (n:Task {ref: 'x'})
PROFILE COPY (RETURN 1) TO 'x.csv'
RETURN 1; CREATE (n:Task {ref: 'x'})
RETURN 1; RETURN 2
""".strip().split("\n")

DISGUISES = """
MATCH (as:Set) WITH as SET as.name = 'x'
MATCH (n) WITH * SET n.name = 'x'
MATCH (n) WHERE $1SET n.name = 'x'
MATCH (n) WHERE 1=1SET n.name = 'x'
MATCH (n) WHERE n.name='a'SET n.name = 'x'
MATCH (n) WITH n, 5! AS f SET n.name = 'x'
MATCH (n) WHERE n.name IS NULL SET n.name = 'x'
MATCH (n) WHERE n.x = $set SET n.name = 'x'
MATCH (n:Set)SET n.name = 'x'
MATCH (n) WITH n ORDER BY n.name DESC SET n.name = 'x'
MATCH (n) WITH n LIMIT 1 SET n.name = 'x'
MATCH (n) WITH n AS set SET set.name = 'x'
MATCH (set) SET set.name = 'x'
MATCH (n) WITH n, CASE WHEN true THEN 1 END AS caſe SET n.name = 'x'
MATCH (n) WITH n, 1 AS caſe WHERE 1 = caſe SET n.name = 'x'
MATCH (`n`) WITH `n` SET n.name = 'x'
MATCH (n) WHERE EXISTS { MATCH (n) } SET n.name = 'x'
MATCH (n) /* // */ SET n.name = 'x'
MATCH (n) // */ /*\\nSET n.name = 'x'
MATCH (n) /**/SET/**/n.name = 'x'
MATCH (n)\u2028SET n.name = 'x'
MATCH (n) WHERE n.name = 'a\\'' SET n.name = "\\""
MATCH (n)-[r]-(m) CREATE (n)-[:`CREATE`]->(m)
MATCH (n) WITH n MERGE (m:Task {ref: 'y'}) RETURN m
MATCH (n) RETURN n UNION MATCH (n) DELETE n
UNWIND [1] AS load LOAD FROM '/etc/passwd' (file_format='csv') RETURN *
MATCH (n:Set) LOAD/**/FROM '/etc/passwd' (file_format='csv') RETURN *
MATCH (n:Set) OPTIONAL LOAD FROM '/etc/passwd' RETURN *
RETURN EXISTS { MATCH (n) SET n.name = 'x' }
RETURN EXISTS { CREATE (n) }
RETURN COUNT { LOAD FROM 'x' RETURN * }
MATCH (n) CALL read_parquet('x') RETURN *
CALL show_tables() CALL timeout=0 RETURN *
CALL `show_tables``x`() RETURN *
CALL ſhow_tables() RETURN *
\ufeffCREATE (n:Task {ref: 'x'})
/* x */ CREATE (n:Task {ref: 'x'})
(n)
explain logical create (n:Task {ref: 'x'})
""".strip().split("\n")
# A name after SET gives a misread away; a pattern in brackets does not, so each is tried with both.
DISGUISES += [
    query.replace("SET n.name = 'x'", "CREATE (m:Task {ref: 'y'})") for query in DISGUISES if "SET n" in query
]

BROKEN = {
    "": "empty",
    " \n ; ": "empty",
    "// only a comment": "empty",
    "RETURN 'x": "not closed",
    "RETURN 'x\\'": "not closed",
    "RETURN `x": "not closed",
    "RETURN 1 /* x": "not closed",
    "RETURN 1 /***/": "not closed",
    "RETURN 1 // x\rSET": "line feed",
    "RETURN 1 \0": "appears in Cypher only in a string",
    "RETURN \u200b1": "appears in Cypher only in a string",
    "RETURN 1 \\ SET": "appears in Cypher only in a string",
    "RETURN 1 \ud800": "appears in Cypher only in a string",
    "RETURN $ x": "parameter",
    "RETURN $`x y`": "parameter",
    "RETURN 1)": "closes nothing",
    "RETURN [1)": "closes nothing",
    ";;": "one statement",
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kuzu.Connection]:
    path: Path = tmp_path_factory.mktemp("cypher") / "graph.kz"
    database = kuzu.Database(path, buffer_pool_size=2**26, max_db_size=2**30)
    connection = kuzu.Connection(database, num_threads=1)
    for statement in SCHEMA:
        connection.execute(statement)
    yield connection
    connection.close()
    database.close()


@pytest.mark.parametrize("query", [query for query in HARMLESS if query not in UNREADABLE])
def test_a_harmless_query_passes_and_runs(connection: kuzu.Connection, query: str) -> None:
    """Each runs in the engine, so no entry is here only because nobody could run it."""
    checked = require_read(query)
    connection.execute(query, dict.fromkeys(checked.parameters, 1))


@pytest.mark.parametrize("query", CHANGES + DISGUISES)
def test_a_query_that_does_more_than_read_is_refused(query: str) -> None:
    with pytest.raises(Refused):
        require_read(query.replace("\\n", "\n"))


@pytest.mark.parametrize(
    "query", [query for query in DISGUISES if "SET" in query and "EXISTS { MATCH (n) SET" not in query]
)
def test_a_disguise_is_one_the_engine_would_follow(connection: kuzu.Connection, query: str) -> None:
    """Where the engine itself stops at the syntax the test above would prove nothing; these it reads and plans."""
    query = query.replace("\\n", "\n")
    values = {token.text[1:]: 1 for token in tokens(query) if token.text.startswith("$")}
    try:
        plan = connection.execute(f"EXPLAIN {query}", values)
    except RuntimeError as error:
        assert "Parser exception" not in str(error), error
    else:
        assert "SET_PROPERTY" in str(plan.get_all())


@pytest.mark.parametrize("query", BROKEN)
def test_what_is_not_closed_or_never_valid_is_refused_with_its_place(query: str) -> None:
    with pytest.raises(Refused, match=BROKEN[query]):
        require_read(query)


@pytest.mark.parametrize(
    ("query", "statement", "hint"),
    [
        ("CREATE (n)", "CREATE", "graphmem add"),
        ("MATCH (n) MERGE (m)", "MERGE", "graphmem link"),
        ("MATCH (n) SET n.x = 1", "SET", "graphmem edit"),
        ("MATCH (n) DETACH DELETE n", "DETACH", "graphmem forget"),
        ("COPY (RETURN 1) TO 'x'", "COPY TO", "--format csv"),
        ("COPY T FROM 'x'", "COPY FROM", "graphmem import"),
        ("EXPORT DATABASE 'x'", "EXPORT", "graphmem export"),
        ("CALL timeout=0", "CALL timeout = …", "options"),
        ("CALL wcc('g') RETURN *", "CALL wcc", "show_tables"),
        ("CHECKPOINT", "CHECKPOINT", "nothing to commit"),
        ("INSTALL httpfs", "INSTALL", "network"),
        ("RETURN 1; RETURN 2", ";", "one by one"),
        ("MATCH (n) WERE n.x = 1 RETURN n", "WERE", "MATCH"),
    ],
)
def test_a_refusal_names_the_statement_and_the_command_that_does_it(query: str, statement: str, hint: str) -> None:
    with pytest.raises(Refused) as refused:
        require_read(query)
    assert refused.value.details["statement"] == statement
    assert hint in str(refused.value.hint)


def test_parameters_and_labels_are_told() -> None:
    checked = require_read(
        "MATCH (a:A:`B c` {x: $p, y: b})-[:R|:S|T]->(d) WHERE a.x = $q AND 'y:Z' <> '$r' RETURN {k: $p, l: m}"
    )
    assert checked.parameters == {"p", "q"}
    assert checked.labels == {"A", "B c", "R", "S", "T"}


def test_a_currency_sign_belongs_to_a_name_and_begins_a_parameter_only_alone() -> None:
    assert require_read("WITH 1 AS a$b RETURN a$b").parameters == frozenset()


def test_the_functions_on_the_list_exist(connection: kuzu.Connection) -> None:
    rows = connection.execute("CALL show_functions() WHERE type = 'TABLE FUNCTION' RETURN name").get_all()
    assert {name.upper() for name in FUNCTIONS} <= {row[0] for row in rows}


SPACE = st.sampled_from(
    [" ", "\t", "\n", "\u00a0", "\u3000", "/**/", "/* SET ' \" ` */", "// '\n", "/* // */", "/****/"]
)
GAP = st.lists(SPACE, min_size=1, max_size=3).map("".join)
BEFORE = [
    ("MATCH", "(n:Set)"),
    ("MATCH", "(n)", "WITH", "n", "AS", "as"),
    ("UNWIND", "[1]", "AS", "x"),
    ("MATCH", "(n)", "WHERE", "n.name", "IS", "NULL"),
    ("MATCH", "(n)", "WITH", "*"),
    ("EXPLAIN",),
    (),
]
AFTER = [
    ("SET", "n.name", "=", "1"),
    ("CREATE", "(m:Task)"),
    ("MERGE", "(m:Task)"),
    ("DETACH", "DELETE", "n"),
    ("LOAD", "FROM", "'/etc/passwd'", "RETURN", "*"),
    ("CALL", "timeout", "=", "0"),
    ("DROP", "TABLE", "Task"),
]


@given(st.data(), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_white_space_comments_and_case_hide_nothing(
    data: st.DataObject, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    query = data.draw(st.sampled_from(["", " ", "/**/"]))
    for word in before + after:
        turned = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in word)
        query += turned + data.draw(GAP)
    with pytest.raises(Refused):
        require_read(query)


@given(st.text(alphabet="'\"`\\/*\n SETsetRETURN$1.;(){}[]:|,", max_size=40))
def test_any_text_is_checked_or_refused(text: str) -> None:
    try:
        require_read(text)
    except Refused as refused:
        assert refused.message
