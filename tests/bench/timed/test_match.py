"""
Logs of 50 MB against 504 expressions, beside RE2 alone: ``pytest -m bench -s tests/bench/timed/test_match.py``.

And what is found on the public sets, against Python's own `re`. Results with machine and date:
docs/benchmarks/diagnosis.md.
"""

import json
import random
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import re2

from graphmem import Memory
from graphmem.core.search.expressions import Matcher, blocks, pieces
from tests.bench.timed.test_quality import DATA
from tests.public_sets import read
from tests.runners import RUNNERS

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public sets are not beside the checkout"),
]
SIZE = 50_000_000  # bytes of a log


def stored(name: str, folder: Path) -> dict[str, str]:
    """Store a set, and return its expressions by reference."""
    script = [sys.executable, str(DATA / "to_graphmem.py"), str(DATA / name), str(folder / "rows")]
    subprocess.run(script, check=True, capture_output=True)
    Memory.init(folder)
    with Memory(folder) as memory, open(folder / "rows" / "rows.ndjson", "rb") as rows:
        memory.add_rows(rows)
    lines = [json.loads(line) for line in (folder / "rows" / "rows.ndjson").read_text().splitlines()]
    return {f"failure/{row['name']}": row["match"] for row in lines if row.get("match")}


def hits_everywhere() -> Iterator[bytes]:
    """Yield a log of whose lines all hit something."""
    lines = [row["query"].encode() for row in read(DATA / "logtrig", "queries")]
    size, chosen = 0, random.Random(1)
    while size < SIZE:
        line = chosen.choice(lines)
        size += len(line) + 1
        yield line


def hits_rarely() -> Iterator[bytes]:
    """Yield a log of a test run: passing tests, and an error in a thousand lines."""
    rare = [row["query"].encode() for row in read(DATA / "logtrig", "queries")]
    usual = b"tests/test_%05d.py::test_that_it_holds PASSED [ %3d%%] %09x"
    for number in range(SIZE // 66):
        yield usual % (number % 99991, number % 100, number) if number % 1000 else rare[number // 1000 % len(rare)]


@pytest.mark.parametrize("log", [hits_everywhere, hits_rarely])
def test_a_long_log(log: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    expressions = stored("logtrig", tmp_path)
    path = tmp_path / "log"
    with open(path, "wb") as file:
        for line in log():  # type: ignore[operator]  # one of the two above
            file.write(line + b"\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "graphmem", "--dir", str(tmp_path), "match", str(path), "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ours = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    began = time.process_time()
    options = re2.Options()
    options.never_capture = True
    alone = re2.Filter()
    for expression in expressions.values():
        alone.Add(f"(?m){expression}", options)
    alone.Compile()
    with open(path, "rb") as file:
        raw = sum(len(alone.Match(line) or ()) for line in file)
    seconds = time.process_time() - began
    print(f"\n{log.__name__}: {path.stat().st_size:,} bytes, {answer['lines']:,} lines, {len(answer['results'])} found")  # type: ignore[attr-defined]
    print(f"| match | {ours:.1f} s | {after.ru_maxrss // 1024} MB |\n| RE2 alone, {raw:,} hits | {seconds:.1f} s |")


@pytest.mark.parametrize("name", ["logtrig", "cmdfix", "pyerrors", "diagnostics"])
def test_every_line_is_found(name: str, tmp_path: Path) -> None:
    """A log of all queries of a set, line by line, against what Python's `re` finds in each."""
    expressions = dict(enumerate(stored(name, tmp_path).values()))
    oracle = {key: re.compile(expression, re.MULTILINE) for key, expression in expressions.items()}
    lines = [line for row in read(DATA / name, "queries") for line in row["query"].splitlines()]
    matcher = Matcher(expressions.items(), seconds=60.0)
    found = {
        (key, line.number)
        for block in blocks(pieces(line.encode() for line in lines))
        for key, line in matcher.find(block)
    }
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(lines, 1):
        numbers.setdefault(line, []).append(number)
    want = {(k, n) for line, at in numbers.items() for k, e in oracle.items() if e.search(line) for n in at}
    often = {key for key, count in Counter(key for key, _ in want).items() if count >= 1000}
    missed = {hit for hit in want - found if hit[0] not in often}
    across = found - want
    print(
        f"\n| {name} | {len(lines)} lines | {len(want)} hits | {len(missed)} missed | {len(across)} only across lines |"
    )
    assert not missed
    assert len(across) <= 0.01 * len(found)


def public_triggers(count: int = 60) -> list[str]:
    """Return texts of the public sets as people paste them: lines, whole outputs, tracebacks."""
    issues = [row for row in read(DATA / "swefix", "memories") if row["kind"] == "failure"]
    outputs = [row["query"].partition("\n")[2] for row in read(DATA / "cmdfix", "queries")]
    sources = [
        [line for text in outputs for line in text.splitlines()],
        [text for text in outputs if text.count("\n") < 15],
        [text for row in issues for text in re.findall(r"Traceback \(most.*?\n(?=\S)[^\n]*", row["text"], re.DOTALL)],
        [row["title"] for row in issues],
        [row["text"] for row in read(DATA / "citrig", "memories")],
        *([row["query"] for row in read(DATA / name, "queries")] for name in ("pyerrors", "diagnostics", "logtrig")),
    ]
    chosen = random.Random(7)
    found = (sorted({text.strip("\n") for text in texts if text.strip() and len(text) < 4000}) for texts in sources)
    return [text for texts in found for text in chosen.sample(texts, min(count, len(texts)))]


def lines_found(memory: Memory, log: list[str]) -> dict[str, list[int]]:
    """Return the lines of a log that are stored triggers, by the names of these."""
    answer = memory.match(line.encode() for line in log)
    return {hit.ref.removeprefix("failure/"): hit.lines for hit in answer.results if hit.by == "line"}


def test_triggers_behind_prefixes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every trigger behind every prefix; and lines that only hold a trigger, which are not it."""
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    triggers = public_triggers()
    others = [line for row in read(DATA / "dupbugs", "memories") for line in row["text"].splitlines()]
    others = [line.strip() for line in others if len(re.findall(r"(?<!\S)[A-Za-z]{2,}(?!\S)", line[:200])) >= 3]
    chosen = random.Random(3)
    Memory.init(tmp_path)
    with Memory(tmp_path) as memory:
        rows = ({"kind": "failure", "name": f"t{place}", "trigger": text} for place, text in enumerate(triggers))
        memory.add_rows(json.dumps(row).encode() for row in rows)
        shares = {}
        for name, runner in RUNNERS.items():
            log, places = list[str](), dict[str, range]()
            for place, text in enumerate(triggers):
                before = len(log) + 1
                log += [f"ok {place}", *"\n".join(runner(text.splitlines())).split("\n")]
                places[f"t{place}"] = range(before + 1, len(log) + 1)
            found = lines_found(memory, log)
            shares[name] = sum(not set(places[name]).isdisjoint(found.get(name, ())) for name in places) / len(places)
        for name, share in sorted(shares.items(), key=lambda item: item[1])[:10]:
            print(f"| {name} | {share:.1%} |")
        print(f"| all {len(shares)} prefixes, {len(triggers)} triggers | {sum(shares.values()) / len(shares):.2%} |")
        short = [text for text in triggers if "\n" not in text]
        count = wrong = 0
        for sign in (" ", ": ", " - ", " | ", "; ", ", ", "] "):
            log = [chosen.choice(others)[:200] + sign + text for text in short for _ in range(20)]
            log += [text + sign + chosen.choice(others)[:200] for text in short for _ in range(20)]
            count += len(log)
            wrong += sum(map(len, lines_found(memory, log).values()))
        print(f"| lines that only hold a trigger, {count:,} | {wrong} are taken for it |")
    assert sum(shares.values()) / len(shares) >= 0.99
    assert wrong <= 0.001 * count
