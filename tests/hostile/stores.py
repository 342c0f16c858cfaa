"""
Hostile stores: each attack changes the working tree of a stranger, which is then committed by force and cloned.

An attack gets the folder of the project; what it leaves there is what the branch brings.
"""

import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from tests.sample import CREATED, edge, failure, line, pattern

Attack = Callable[[Path], None]
ATTACKS: dict[str, Attack] = {}
HIDDEN = "\U000e0049\U000e0067\u061c\u206a\u200b\u202e\u2066\u00ad\ufeff\ufff9"
STEERING = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\x00\x7f\u2028\u0085"
SHELL = "$(touch PWNED)`touch PWNED`;touch PWNED;'\"touch PWNED|&"


def attack(made: Attack) -> Attack:
    ATTACKS[made.__name__] = made
    return made


def store(folder: Path) -> Path:
    return folder / ".graphmem"


def put(folder: Path, name: str | bytes, data: bytes) -> None:
    """Write a file of the store, by its path below it."""
    path = os.path.join(os.fsencode(store(folder)), os.fsencode(name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def append(folder: Path, name: str, *rows: bytes) -> None:
    path = store(folder) / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(b"".join(rows))


# --- names of files ------------------------------------------------------------------------------------------------


@attack
def names_of_files_that_are_commands(folder: Path) -> None:
    for number, name in enumerate(
        (
            "$(touch PWNED)",
            "a';touch PWNED;'",
            "`touch PWNED`",
            "-rf",
            "--output=PWNED",
            "a\nb",
            "\x1b[31m",
            HIDDEN,
            " ",
            "~",
            "*",
            "%s",
            "x" * 200,
        )
    ):
        put(folder, f"data/failure/{name}.ndjson", failure(f"named-{number}"))
        put(folder, f"data/entities/{name}.ndjson", line(kind="entity", type="x", name="y"))
        put(folder, f"types/entities/{name}.md", b"---\ntype: x\n---\n")
        put(folder, f"types/relations/{name}.md", b"---\ntype: y\n---\n")


@attack
def names_that_are_no_utf8(folder: Path) -> None:
    for name in (
        b"data/failure/\xff.ndjson",
        b"types/entities/\xff.md",
        b"data/entities/\xff\xfe.ndjson",
        b"\xff",
        b"data/\xff/x.ndjson",
        b"data/\xff.ndjson",
    ):
        put(folder, name, failure("odd"))


@attack
def names_of_types_that_are_commands(folder: Path) -> None:
    for name in ("$(touch PWNED)", "x;touch PWNED", HIDDEN, "a b", "-x"):
        text = f'---\ntype: uses\nsources: ["{name}"]\ntargets: [any]\n---\n'
        put(folder, f"types/relations/uses_{len(name)}.md", text.replace("uses", f"uses_{len(name)}", 1).encode())
    append(folder, "entities/missing.ndjson", line(kind="entity", type="missing", name=SHELL))


@attack
def hundreds_of_files(folder: Path) -> None:
    for number in range(500):
        put(folder, f"data/failure/f{number}.ndjson", failure(f"small-{number}"))


@attack
def folders_a_hundred_deep(folder: Path) -> None:
    put(folder, f"data/failure/{'d/' * 100}x.ndjson", failure("deep"))
    put(folder, f"types/entities/{'d/' * 100}x.md", b"---\ntype: x\n---\n")


@attack
def names_that_differ_in_case_or_in_accents(folder: Path) -> None:
    for name in ("Caf\u00e9", "Cafe\u0301", "caf\u00e9"):
        put(folder, f"data/failure/{name}.ndjson", failure("cafe"))


# --- what is not what it should be ---------------------------------------------------------------------------------


@attack
def folders_in_the_place_of_files(folder: Path) -> None:
    for name in ("config.toml", "schema.json", "data/pattern.ndjson", "types/entities/x.md", ".gitignore"):
        path = store(folder) / name
        path.unlink(missing_ok=True)
        put(folder, f"{name}/inner", b"x")


@attack
def files_in_the_place_of_folders(folder: Path) -> None:
    for name in ("data/entities", "types", "local", "state"):
        path = store(folder) / name
        os.system(f"rm -rf '{path}'")
        path.write_bytes(b"x")


@attack
def a_file_in_the_place_of_the_store(folder: Path) -> None:
    os.system(f"rm -rf '{store(folder)}'")
    store(folder).write_bytes(b"x")


@attack
def links_to_everywhere(folder: Path) -> None:
    for name, target in (
        ("data/lesson.ndjson", "../../../secret"),
        ("types/entities/x.md", "../../../../secret"),
        ("schema.json", "/dev/zero"),
        ("data/insight.ndjson", "/dev/zero"),
        ("local/at", "../../.."),
        ("state/undo", "../../.."),
        ("local/store.lock", "../../../secret"),
        ("local/vectors", "../../../sibling"),
    ):
        path = store(folder) / name
        if path.is_dir() and not path.is_symlink():
            os.system(f"rm -rf '{path}'")
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


@attack
def a_store_that_is_a_link(folder: Path) -> None:
    store(folder).rename(folder / "elsewhere")
    store(folder).symlink_to("elsewhere")


# --- what git ignores ----------------------------------------------------------------------------------------------


@attack
def a_forged_catalog(folder: Path) -> None:
    path = store(folder) / "local/catalog.sqlite"
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    made = sqlite3.connect(path)
    made.executescript(
        "CREATE VIEW meta AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x AS name, x AS value"
        " FROM c; PRAGMA user_version = 8"
    )
    made.close()


@attack
def a_forged_state(folder: Path) -> None:
    put(folder, "state/journal.json", b"[1]")
    put(folder, "state/undo/9999999999.json", b"{}")
    put(folder, "state/undo/0000000001.json", b'{"at":1}')
    put(folder, "state/state.db", b"SQLite format 3\0" + b"\xff" * 5_000)
    put(folder, "local/graph.json", b'{"schema":' + b"[" * 50_000)
    put(folder, "local/graph.kuzu", b"KUZU" + b"\xff" * 50_000)
    put(folder, "local/models.json", b"{" * 50_000)
    put(folder, "local/vectors/x.f32", b"\xff" * 4_096)
    put(folder, f"local/at/{'a' * 40}/.graphmem/data/failure.ndjson", failure("phantom"))


@attack
def a_journal_that_is_a_folder(folder: Path) -> None:
    for name in ("state/journal.json", "local/store.lock", "local/catalog.sqlite"):
        (store(folder) / name).unlink(missing_ok=True)
    put(folder, "state/journal.json/x", b"")
    put(folder, "local/store.lock/x", b"")
    put(folder, "local/catalog.sqlite/x", b"")


# --- rows ----------------------------------------------------------------------------------------------------------


@attack
def texts_that_steer_or_hide(folder: Path) -> None:
    text = f"error {STEERING} {HIDDEN} {SHELL}"
    append(
        folder,
        "failure.ndjson",
        failure("hidden-text", text, fix=text, tags=[HIDDEN + "tag"], sources=[text[:100]], files=[f"src/{HIDDEN}.py"]),
    )
    append(folder, "failure.ndjson", failure(f"n{HIDDEN}{STEERING[3:6]}", "named oddly", fix="x"))
    append(folder, "pattern.ndjson", pattern("hidden-pattern", framework=HIDDEN, sources=[SHELL]))
    append(folder, "lesson.ndjson", line(kind="lesson", name="l", description=text, frequency=9))
    append(folder, "decision.ndjson", line(kind="decision", name="d", decision=text, reasoning=text))
    append(folder, "constraint.ndjson", line(kind="constraint", name="c", constraint=text, source=text[:100]))
    append(folder, "campaign.ndjson", line(kind="campaign", name="c", objective=text))
    append(folder, "relations/causes.ndjson", edge("failure/hidden-text", "causes", "failure/mine", note=text))


@attack
def rows_that_are_bombs(folder: Path) -> None:
    number = b"9" * 5_000
    append(
        folder,
        "failure.ndjson",
        b'{"kind":"failure","name":"a","trigger":"x","cost":' + number + b"}\n",
        b'{"kind":"failure","name":"b","trigger":"x","deep":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n",
        b"[" * 1_000_000 + b"\n",
        b"\xff\xfe\n",
        b"\0" * 5_000 + b"\n",
        b'{"kind":"failure","name":"c","trigger":"' + b"x" * 5_000_000 + b'"}\n',
        b"{}\n",
        b"1e999999\n",
        b"nul\n",
        failure("many-tags", tags=[f"t{n}" for n in range(5_000)]),
        failure("e" * 1_000),
        b'{"kind":[]}\n',
    )
    append(folder, "pattern.ndjson", b"\n" * 1_000_000)


@attack
def times_at_the_ends_of_time(folder: Path) -> None:
    times: tuple[Any, ...] = (
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "2026-13-01",
        "",
        "now",
        "2026-11-01T09:30:00.000000000000000000001Z",
        5,
        None,
        [],
        {},
    )
    for number, time in enumerate(times):
        row = {"kind": "failure", "name": f"time-{number}", "trigger": f"time {number}", "created_at": time}
        append(folder, "failure.ndjson", orjson.dumps(row) + b"\n")
    append(folder, "failure.ndjson", failure("edited", edited={"fix": "0001-01-01T00:00:00+23:59"}, fix="x"))


@attack
def rows_of_wrong_shapes(folder: Path) -> None:
    for row in fuzzed(random.Random(13), 300):
        kind = row.get("kind")
        known = kind if isinstance(kind, str) and kind.isalpha() and len(kind) < 20 else "failure"
        append(folder, f"{known}.ndjson", orjson.dumps(row, option=orjson.OPT_NON_STR_KEYS) + b"\n")


def fuzzed(chance: random.Random, number: int) -> Iterator[dict[str, Any]]:
    """Yield rows that were well, with a value or two of another kind."""
    rows: list[dict[str, Any]] = [
        {
            "kind": "failure",
            "name": "a",
            "trigger": "x",
            "fix": "y",
            "tags": ["t"],
            "cost": 1.5,
            "edited": {"fix": CREATED},
        },
        {
            "kind": "pattern",
            "name": "a",
            "trigger": "x",
            "insight": "y",
            "alternates": [{"field": "insight", "text": "z"}],
        },
        {"kind": "lesson", "name": "a", "description": "x", "frequency": 3, "runs": ["r"]},
        {
            "kind": "task",
            "name": "c/001-a",
            "objective": "x",
            "campaign": "c",
            "status": "open",
            "depends_on": ["c/001-a"],
        },
        {"kind": "campaign", "name": "c", "objective": "x", "status": "active"},
        {"kind": "feedback", "ref": "failure/mine", "helped": True, "id": "i", "at": CREATED},
        {"kind": "run", "run": "r", "seen": ["lesson/a"], "at": CREATED},
        {"kind": "event", "id": "e", "subject": "failure/mine", "at": CREATED},
        {"kind": "purge", "salt": "s", "hash": "h", "at": CREATED},
        {"kind": "insight", "name": "a", "statement": "x", "category": "process", "derived_from": ["experience/x"]},
    ]
    values: list[Any] = [
        None,
        True,
        -1,
        2**53 + 1,
        1e308,
        "",
        " ",
        "\0",
        [],
        {},
        [[]],
        [{}],
        {"a": {"b": []}},
        "x" * 300_000,
        ["x"],
        "../x",
        "failure/mine",
        "/",
        "a/b/c",
        HIDDEN,
        STEERING,
        {"": ""},
        "2026-11-01T09:30:00Z",
        0.1,
    ]
    for place in range(number):
        row = {"created_at": CREATED, **chance.choice(rows)}
        for field in chance.sample(sorted(row), chance.randint(1, 3)):
            row[field] = chance.choice(values)
        if isinstance(row.get("name"), str) and place % 2:
            row["name"] = f"{row['name']}-{place}"[:500]
        yield row


@attack
def expressions_that_never_end(folder: Path) -> None:
    rows = [failure(f"slow-{n}", f"slow {n}", match=f"(?:a|aa)+(?!x{n})[c-z]{{{n % 7 + 1}}}") for n in range(200)]
    rows += [failure(f"deep-{n}", f"deep {n}", match="(" * (10 * n) + "a" + ")*" * (10 * n)) for n in range(1, 20)]
    rows += [failure("huge", "huge", match="(?:a{1,1000}){1,1000}b"), failure("back", "back", match=r"(a*)*\1*b")]
    append(folder, "failure.ndjson", *rows)


@attack
def cites_of_what_is_not_the_project(folder: Path) -> None:
    for number, cite in enumerate(
        (
            "../../secret:x#0123456789abcdef",
            "/etc/passwd:root#0123456789abcdef",
            "/dev/zero:x",
            "-p:x#0123456789abcdef",
            "--output=PWNED:x@0123456789ab",
            "gone.py:f#0123456789abcdef",
            ".git/config:core",
            "a\nb:c",
            f"{HIDDEN}:x",
            "x" * 1_000,
        )
    ):
        append(folder, "failure.ndjson", failure(f"cite-{number}", cites=[cite]))


@attack
def circles(folder: Path) -> None:
    rows = [
        line(kind="task", name=f"c/{n:03d}-t", objective=f"t{n}", campaign="c", depends_on=[f"c/{(n + 1) % 50:03d}-t"])
        for n in range(50)
    ]
    append(folder, "campaign.ndjson", line(kind="campaign", name="c", objective="c"))
    append(folder, "task.ndjson", *rows)
    append(
        folder,
        "failure.ndjson",
        *(failure(f"s{n}", superseded_by=f"failure/s{(n + 1) % 5}", archived_at=CREATED) for n in range(5)),
    )
    append(
        folder,
        "relations/causes.ndjson",
        *(edge(f"failure/s{a}", "causes", f"failure/s{b}") for a in range(5) for b in range(5)),
    )


# --- settings and types --------------------------------------------------------------------------------------------


@attack
def settings_that_are_bombs(folder: Path) -> None:
    put(folder, "config.toml", b"format = 1\n[retrieval]\ncandidates = " + b"9" * 4_000 + b"\n")


@attack
def settings_nested_deep(folder: Path) -> None:
    put(folder, "config.toml", b"format = 1\nx = " + b"[" * 5_000 + b"]" * 5_000 + b"\n")


@attack
def settings_that_raise_the_limits(folder: Path) -> None:
    put(
        folder,
        "config.toml",
        b"format = 1\n[cypher]\ntimeout = 86400\nlimit = 1000000000\n[retrieval]\nrrf_k = 1\n"
        b"half_life_days = 1e-300\n[store]\nlock_timeout = 1e300\n[embedding]\nmodel = './evil'\n",
    )


@attack
def settings_of_the_future(folder: Path) -> None:
    put(folder, "config.toml", b"format = 99\n")


@attack
def settings_that_are_no_text(folder: Path) -> None:
    put(folder, "config.toml", bytes(range(256)) * 10)


@attack
def extractors_that_want_to_run(folder: Path) -> None:
    put(folder, "types/entities/thing.md", b"---\ntype: thing\n---\n")
    put(folder, "extractors/mine.md", b"---\ncommand: [touch, ../PWNED]\nwrites: [thing]\n---\n")
    put(folder, "extractors/up.md", b"---\ncommand: [touch, PWNED]\ncwd: a/../..\nwrites: [thing]\n---\n")
    put(folder, "extractors/huge.md", b"---\ncommand: [sh]\nwrites: [thing]\n---\n" + b"x" * 5_000_000)
    put(folder, "extractors/deep.md", b"---\ncommand: " + b"[" * 10_000 + b"\n---\n")
    put(folder, "extractors/bomb.md", b"---\na: &a [x]\ncommand: [*a, *a]\nwrites: [thing]\n---\n")
    put(folder, "extractors/hidden.md", b"---\ncommand: [" + HIDDEN.encode() + b"]\nwrites: [thing]\n---\n")
    put(
        folder,
        "extractors/steer.md",
        b"---\ncommand: [sh]\nwrites: [thing]\ndescription: " + HIDDEN.encode() + b"\n---\n",
    )
    put(folder, "extractors/python.md/x", b"")
    put(folder, "../deep.py", b"x = " + b"(" * 90_000)
    put(folder, "../ast.py", b"open('../PWNED', 'w')\n")
    (folder / "..py").symlink_to("/etc/passwd")


@attack
def scopes_and_queries_that_are_bombs(folder: Path) -> None:
    put(folder, "scopes/mine.toml", b'read = ["failure"]\ndescription = "' + HIDDEN.encode() + b'"\n')
    put(folder, "scopes/deep.toml", b"read = " + b"[" * 10_000)
    put(folder, "scopes/dots.toml", b".".join([b"a"] * 10_000) + b" = 1\n")
    put(folder, "scopes/huge.toml", b"# " + b"x" * 5_000_000)
    put(folder, "scopes/bytes.toml", b"\xff\xfe\x00")
    put(folder, "scopes/many.toml", b"read = [" + b'"x",' * 10_000 + b"]\n")
    put(folder, "scopes/Odd Name.toml", b"read = []\n")
    put(folder, "scopes/folder.toml/x", b"")
    (folder / ".graphmem" / "scopes" / "passwd.toml").symlink_to("/etc/passwd")
    head = b"// " + HIDDEN.encode() + b"\n// column a STRING\n"
    put(folder, "queries/failure/steer.cypher", head + b"MATCH (f:Failure) RETURN f.name AS a")
    put(folder, "queries/failure/writes.cypher", head + b"MATCH (f:Failure) DELETE f RETURN 1 AS a")
    put(folder, "queries/failure/files.cypher", head + b"LOAD FROM '/etc/passwd' RETURN * LIMIT 1")
    put(folder, "queries/failure/install.cypher", head + b"INSTALL httpfs")
    put(folder, "queries/failure/deep.cypher", head + b"RETURN " + b"(" * 20_000 + b"1 AS a")
    put(folder, "queries/failure/huge.cypher", head + b"RETURN '" + b"x" * 5_000_000 + b"' AS a")
    put(folder, "queries/failure/bytes.cypher", b"\xff\xfe\x00")
    put(folder, "queries/failure/params.cypher", head + b"// param\n// param a\nRETURN $a AS a")
    (folder / ".graphmem" / "queries" / "failure" / "passwd.cypher").symlink_to("/etc/passwd")


@attack
def types_that_are_bombs(folder: Path) -> None:
    for number, text in enumerate(
        (
            b"x: 0b" + b"1" * 60_000,
            b"x: " + b"1:" * 20_000 + b"1",
            b"x: " + b"[" * 10_000,
            b"a: &a [x]\nb: [*a, *a]",
            b"x: " + b"9" * 5_000,
            b"x: 1e400",
            b"<<: 1",
            b"? ? ? ?",
            b"x: !!python/object/apply:os.system ['touch PWNED']",
            b"x: \xff",
            b"type: " + HIDDEN.encode(),
            b"description: " + STEERING.encode(),
            b"x: 2026-99-99",
            b"- " * 5_000,
        )
    ):
        put(folder, f"types/entities/t{number}.md", b"---\ntype: t%d\n" % number + text + b"\n---\n")
    put(folder, "types/entities/huge.md", b"---\ntype: huge\n---\n" + b"x" * 5_000_000)
    put(folder, "schema.json", b"[" * 100_000)


@attack
def hundreds_of_types(folder: Path) -> None:
    for number in range(300):
        put(folder, f"types/entities/e{number}.md", f"---\ntype: e{number}\n---\n".encode())


# --- git -----------------------------------------------------------------------------------------------------------


@attack
def a_store_within_a_git_directory(folder: Path) -> None:
    """The project itself looks like a git directory, whose configuration runs programs."""
    config = """[core]
        bare = false
        worktree = .
        fsmonitor = "touch PWNED; false"
        pager = touch PWNED
        [filter "x"]
        clean = touch PWNED
        [diff]
        external = touch PWNED
        [alias]
        ls-files = !touch PWNED
    """
    files = {"HEAD": "ref: refs/heads/main\n", "refs/heads/x": "", "objects/info/x": "", "config": config}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / ".gitattributes").write_text("* filter=x diff=x\n")
    append(folder, "failure.ndjson", failure("cited", cites=["gone.py:f#0123456789abcdef"]))
