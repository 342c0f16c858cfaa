"""The benchmark counts what it should, through the real query path, on a set small enough to reckon by hand."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphmem.errors import Unavailable
from tests.bench.__main__ import run
from tests.bench.peers import peer
from tests.bench.quality import Bm25, Fts5, fuse, measure, measures, order
from tests.sample import data

CONVERTER = """
import json, pathlib, sys
src, out = map(pathlib.Path, sys.argv[1:])
for sort in ("entities", "relations"):
    (out / "types" / sort).mkdir(parents=True)
rows = [json.loads(line) for line in (src / "memories.ndjson").read_text().splitlines()]
with open(out / "rows.ndjson", "w") as file:
    for row in rows:
        made = {"kind": "failure", "name": row["id"], "trigger": row["text"], "match": "cheese"}
        print(json.dumps(made), file=file)
    print(json.dumps({"kind": "relation", "from": "failure/a", "type": "causes", "to": "failure/b"}), file=file)
(out / "refs.json").write_text(json.dumps({row["id"]: "failure/" + row["id"] for row in rows}))
"""
TEXTS = {"a": "the moon is made of cheese", "b": "a database has run out of connections", "c": "a lunar rock"}


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    folder = tmp_path / "sets" / "small"
    folder.mkdir(parents=True)
    (folder.parent / "to_graphmem.py").write_text(CONVERTER)
    memories = [{"id": name, "kind": "failure", "text": text, "group": name == "c"} for name, text in TEXTS.items()]
    queries = [
        {"task": "find", "query": "moon cheese", "gold": ["a"]},
        {"task": "find", "query": "moon cheese", "gold": ["c"], "group": True},
        {"task": "find", "query": "moon cheese connections", "gold": ["b"], "exclude": ["a"]},
        {"task": "no answer", "query": "moon", "gold": []},
    ]
    for name, rows in (("memories", memories), ("queries", queries)):
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder.parent


def test_a_ranking_is_measured_by_its_right_places() -> None:
    found = measures(["x", "a", "y", "z", "w", "v", "b"], {"a", "b"})
    assert found.ndcg_10 == pytest.approx((0.6309 + 0.3333) / (1 + 0.6309), abs=1e-3)
    assert (found.recall_5, found.recall_10, found.mrr) == (0.5, 1.0, 0.5)
    assert measures([], {"a"}).mrr == 0.0


def test_bm25_ranks_by_rare_words_and_fusion_by_both_places() -> None:
    words = Bm25(["red red car", "blue car", "blue the the"])
    assert order(words.scores("the blue car")).tolist() == [1, 2, 0]
    assert words.scores("the unknown").tolist() == [0, 0, 0]
    assert fuse([order(words.scores("red")), order(words.scores("red blue"))])[0] == 0


def test_fts5_knows_the_stems_of_words_and_takes_any_text_as_a_query() -> None:
    words = Fts5(["failing workers", "a red car", "a blue car"])
    assert order(words.scores("the worker failed"))[0] == 0
    assert words.scores('"NEAR(" -- ?').tolist() == [0, 0, 0]


def test_group_and_exclude_are_respected_and_all_systems_run(sets: Path, tmp_path: Path) -> None:
    quality = measure([sets / "small"], tmp_path / "stores", with_match=False)
    (task,) = quality.tasks
    assert (task.set, task.task, task.queries) == ("small", "find", 3)
    assert (task.graphmem.mrr, task.bm25.mrr, task.rrf.mrr) == (1.0, 1.0, 1.0)
    assert task.model.mrr == pytest.approx((1 + 1 + 1 / 2) / 3)  # the moon, to a model, is near the lunar rock
    best = max(getattr(task, name).ndcg_10 for name in ("bm25", "fts5", "model", "rrf"))
    assert task.ratio == pytest.approx(task.graphmem.ndcg_10 / best)
    assert quality.ratio == task.ratio


def test_the_command_prints_a_table_and_keeps_its_stores(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--data", str(sets), "--stores", str(tmp_path / "kept")]
    assert run(command) == 0
    told = capsys.readouterr().out
    assert "| small | find | 3 | 1.000 |" in told
    assert b"match" not in data(tmp_path / "kept" / "texts" / "small", "failure").read_bytes()
    (sets / "to_graphmem.py").unlink()  # the stores are there: it is not asked again
    assert run(command) == 0
    assert capsys.readouterr().out == told
    assert run([*command, "--match"]) == 2
    assert "has no to_graphmem.py" in capsys.readouterr().err
    assert run([*command, "--set", "smal"]) == 2
    assert "no set 'smal'" in capsys.readouterr().err


PACKAGE = """
class Embeddings:
    def __init__(self, transform, **options):
        self.transform = transform

    def index(self, rows):
        self.rows = [(number, *self.transform([text])) for number, text, _ in rows]

    def search(self, sql, limit, parameters):
        (query,) = self.transform([parameters["text"]])
        alike = [(sum(a * b for a, b in zip(row, query)), number) for number, row in self.rows]
        return [{"id": str(number)} for _, number in sorted(alike, reverse=True)[:limit]]

    def close(self):
        del self.rows
"""
COMMAND = """
import json, os, sys, urllib.request
from pathlib import Path

def vectors(texts):
    asked = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/embeddings", json.dumps({"input": texts}).encode())
    return [row["embedding"] for row in json.load(urllib.request.urlopen(asked))["data"]]

def create_entities(entities):
    Path(os.environ["MEMORY_FILE_PATH"]).write_text(json.dumps(entities))

def search_nodes(query):
    entities = json.loads(Path(os.environ["MEMORY_FILE_PATH"]).read_text())
    return {"entities": [one for one in entities if query.split()[0] in one["observations"][0]]}

def search_notes(query, page_size, **options):
    ((asked,), notes) = vectors([query]), json.loads(Path(os.environ["BASIC_MEMORY_CONFIG_DIR"]).read_text())
    alike = sorted(notes, key=lambda name: -sum(a * b for a, b in zip(notes[name], asked)))
    return {"result": {"results": [{"file_path": name} for name in alike[:page_size]]}}

if sys.argv[1:] == ["reindex"]:
    notes = sorted(Path(os.environ["BASIC_MEMORY_HOME"]).glob("*.md"))
    texts = [note.read_text().split("---")[2].strip() for note in notes]
    rows = {note.name: row for note, row in zip(notes, vectors(texts))}
    sys.exit(Path(os.environ["BASIC_MEMORY_CONFIG_DIR"]).write_text(json.dumps(rows)) and 0)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        params, result = message["params"], {}
        if message["method"] == "tools/call":
            result = {"structuredContent": globals()[params["name"]](**params["arguments"])}
        print(json.dumps({"method": "notifications/message"}))
        print(json.dumps({"id": message["id"], "result": result}), flush=True)
Path(__file__).with_suffix(".ended").touch()
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of the PATH with a program that stands for each peer that is one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("basic-memory", "mcp-server-memory"):
        (folder / name).write_text(f"#!{sys.executable}{COMMAND}")
        (folder / name).chmod(0o700)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


def test_a_peer_gets_the_same_vectors_and_is_measured_beside(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["--data", str(sets), "--json", "--peer"]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "txtai.py").write_text(PACKAGE)  # stands for the package, which is no part of the tests
    monkeypatch.delitem(sys.modules, "txtai", raising=False)
    assert run([*command, "txtai"]) == 0
    (task,) = json.loads(capsys.readouterr().out)["quality"]["tasks"]
    assert task["peers"] == {"txtai": task["model"]}
    del sys.modules["txtai"]


def test_a_peer_may_be_a_program_that_asks_for_vectors(
    sets: Path, commands: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--data", str(sets), "--json", "--peer", "basic-memory", "--peer", "mcp-memory"]) == 0
    (task,) = json.loads(capsys.readouterr().out)["quality"]["tasks"]
    assert task["peers"]["basic-memory"] == task["model"]
    assert task["peers"]["mcp-memory"]["mrr"] == pytest.approx(1 / 3)  # the others' answers hold no word of the query
    assert len(list(commands.glob("*.ended"))) == 2


def test_a_query_that_a_peer_refuses_finds_nothing(
    sets: Path, commands: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusing = COMMAND.replace('{"results": ', '"# Search Failed" or {"results": ')
    (commands / "basic-memory").write_text(f"#!{sys.executable}\n{refusing}")
    assert run(["--data", str(sets), "--json", "--peer", "basic-memory"]) == 0
    (task,) = json.loads(capsys.readouterr().out)["quality"]["tasks"]
    assert task["peers"]["basic-memory"]["mrr"] == 0


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("raise SystemExit('no more disk')", "basic-memory did not make its index"),
        ("import sys; sys.argv[1:] == ['mcp'] and sys.exit()", "basic-memory ended before it answered initialize"),
        (
            COMMAND.replace('{"structuredContent"', '{"content": "too long", "isError": True, "structuredContent"'),
            "search_notes of basic-memory failed: 'too long'",
        ),
        (COMMAND.replace('"result": result', '"error": "not now"'), "basic-memory refuses initialize: 'not now'"),
    ],
)
def test_what_a_peer_could_not_do_is_told(
    program: str, told: str, sets: Path, commands: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (commands / "basic-memory").write_text(f"#!{sys.executable}\n{program}")
    assert run(["--data", str(sets), "--peer", "basic-memory"]) == 4
    assert told in capsys.readouterr().err


def test_a_peer_that_is_unknown_or_missing_is_named(
    sets: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["--data", str(sets), "--peer", "memo"]) == 2
    assert "known: basic-memory, graphiti, mcp-memory, mem0, txtai" in capsys.readouterr().err
    if find_spec("mem0") is None:
        assert run(["--data", str(sets), "--peer", "mem0"]) == 4
        assert "pip install 'mem0ai" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(sets))
    assert run(["--data", str(sets), "--peer", "mcp-memory"]) == 4
    assert "npm install -g" in capsys.readouterr().err
    assert run(["--peer", "mem0"]) == 2
    assert "--data" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["basic-memory", "graphiti", "mcp-memory", "mem0", "txtai"])
def test_an_installed_peer_finds_texts_and_lets_go(name: str, tmp_path: Path) -> None:
    """Skipped in CI, which installs no peer."""
    try:
        opened = peer(name)
    except Unavailable as missing:
        pytest.skip(str(missing))
    texts = list(TEXTS.values())

    def encode(text: str) -> NDArray[np.float32]:
        return np.array([text.count(word) for word in ("moon", "database", "lunar")], dtype=np.float32)

    with opened(tmp_path, texts, encode) as search:
        assert search("moon", 3)[0] == 0
        assert search("lunar", 1) == [2]
