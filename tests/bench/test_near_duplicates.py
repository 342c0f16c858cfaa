"""
Wrong merges and missed duplicates: ``pytest -m bench -s tests/bench/test_near_duplicates.py``.

Texts of the public sets are stored, then look-alikes and re-wordings of them, made by rule, are added (dry), each
through `add` with the model. Results with machine and date: docs/benchmarks.md.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from graphmem import Memory
from graphmem.benchmark.data import read
from tests.bench.test_quality import DATA

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public sets are not beside the checkout"),
]
SETS = ("swefix", "dupbugs", "citrig", "cmdfix", "pyerrors", "diagnostics", "neardup")
OF_A_SET = 40  # texts

# What a look-alike has in another's place; the first stands in the stored text.
ENDINGS = {
    "library": ("with numpy", "with scipy"),
    "library in front": ("using requests", "using httpx"),
    "version": ("in version 3.4.1", "in version 3.5.0"),
    "path": ("in src/auth/token.py", "in src/auth/session.py"),
    "number": ("on port 5432", "on port 6379"),
    "count": ("after three retries", "after five retries"),
    "code": ("with E0382", "with E0502"),
    "symbol": ("in parse_header", "in parse_footer"),
    "quoted": ("for 'orders'", "for 'users'"),
    "verb": ("on GET /items", "on POST /items"),
    "system": ("on Linux", "on Windows"),
    "status": ("with status 404", "with status 500"),
    "antonym": ("before the cache is enabled", "before the cache is disabled"),
    "order": ("before a restart", "after a restart"),
    "change": ("when the timeout increases", "when the timeout decreases"),
    "negation": ("and the flag is set", "and the flag is not set"),
}
# The same said again: what stands in the stored text, and what is added.
AGAIN: dict[str, tuple[Callable[[str], str], Callable[[str], str]]] = {
    "white space": (lambda t: t, lambda t: "  " + t.replace(" ", "  ") + "\n"),
    "first letter": (lambda t: t, lambda t: t[:1].swapcase() + t[1:]),
    "lower case": (lambda t: t, str.lower),
    "full stop": (lambda t: t, lambda t: t.rstrip(".") + ("" if t.endswith(".") else ".")),
    "commas": (lambda t: t, lambda t: t.replace(",", "").replace(";", "")),
    "quotes": (lambda t: t + ' for "orders"', lambda t: t + " for `orders`"),
    "articles": (lambda t: "When the job runs, " + t, lambda t: "When job runs, " + re.sub(r"\b(?:the|a|an) ", "", t)),
    "line number": (lambda t: t + " at app.py:12", lambda t: t + " at app.py:340"),
    "line in words": (lambda t: t + ", line 7", lambda t: t + ", line 1201"),
    "address": (lambda t: t + " at 0x7f3a20", lambda t: t + " at 0x55d0e1"),
    "time": (lambda t: "2026-11-02 10:00:01 " + t, lambda t: "2026-11-09 23:59:59,120 " + t),
    "temporary path": (lambda t: t + " in /tmp/a81/x", lambda t: t + " in /tmp/zz9/x"),
    "home": (lambda t: t + " in /home/ann/shop/x.py", lambda t: t + " in /home/bob/shop/x.py"),
    "duration": (lambda t: t + " after 1.5 s", lambda t: t + " after 12 s"),
    "id": (lambda t: t + " (request 9f86d081884c7d65)", lambda t: t + " (request 1b4f0e9851971998)"),
    "clauses": (lambda t: "When the build starts, " + t, lambda t: t + " when the build starts"),
    "synonym": (lambda t: "The job fails: " + t, lambda t: "The job breaks: " + t),
    "paraphrase": (lambda t: "It cannot be started: " + t, lambda t: "It can't be started: " + t),
    "re-worded": (lambda t: "There is an error: " + t, lambda t: "We get an error: " + t),
    "in other words": (lambda t: "The build fails because " + t, lambda t: "The build does not work, since " + t),
}


def texts() -> Iterator[str]:
    """Yield the first sentences of records, a short one each."""
    for name in SETS:
        seen: set[str] = set()
        rows = [row for row in read(DATA / name, "memories") if row["kind"] in ("failure", "task")]
        for row in rows[:: max(1, len(rows) // (3 * OF_A_SET))]:
            lines = [line.strip(" #") for line in f"{row.get('title') or ''}\n{row['text']}".splitlines()]
            found = [line for line in lines if 30 <= len(line) <= 160 and line.count(" ") >= 4]
            if found and found[0] not in seen and len(seen) < OF_A_SET:
                seen.add(found[0])
                yield found[0]


def outcome(memory: Memory, stored: str, added: str) -> str:
    """Return what became of a text that was added: merged into the stored one, into another, or none of it."""
    answer = memory.failures.add(added, dry_run=True)
    if answer.action in ("unchanged", "updated"):
        return "merged"
    if answer.merged_into is None:
        return "variant" if answer.variants else "new"
    return "merged" if getattr(answer.record, "trigger", "") == stored else "merged elsewhere"


@pytest.mark.parametrize("kind", ["look-alike", "duplicate"])
def test_rates(kind: str, tmp_path: Path) -> None:
    found = list(texts())
    merged: Counter[str] = Counter()
    pairs: dict[str, list[tuple[str, str]]] = {}
    if kind == "look-alike":
        for place, (name, (first, other)) in enumerate(ENDINGS.items()):
            pairs[name] = [(f"{text} {first}", f"{text} {other}") for text in found[place % 5 :: 5]]
    else:
        for place, (name, (once, again)) in enumerate(AGAIN.items()):
            pairs[name] = [(once(text), again(text)) for text in found[place % 5 :: 5]]
    for name, chosen in pairs.items():
        Memory.init(folder := tmp_path / name)
        with Memory(folder) as memory:
            for stored, _ in chosen:
                memory.failures.add(stored, dedup=False)
            for stored, added in chosen:
                what = outcome(memory, stored, added)
                merged[name] += what.startswith("merged")
                if what.startswith("merged") == (kind == "look-alike") and merged["shown"] < 40:
                    merged["shown"] += 1
                    print(f"\n{what}: {stored!r}\n    {added!r}")
        print(f"| {kind} | {name} | {merged[name]} of {len(chosen)} |")
    rate = sum(merged[name] for name in pairs) / sum(map(len, pairs.values()))
    print(f"| {kind} | all | {rate:.2%} |")
    assert rate <= 0.01 if kind == "look-alike" else rate >= 0.95


def test_public_pairs(tmp_path: Path) -> None:
    """Edited versions of stored notes, notes made again under another id, and new ones; all of beads."""
    Memory.init(tmp_path)
    rows = read(DATA / "neardup", "memories")
    questions = read(DATA / "neardup", "queries")
    wanted = {gold for question in questions for gold in question["gold"]}
    names = {row["id"]: f"n{place}" for place, row in enumerate(rows) if row["id"] in wanted or place % 4 == 0}
    kept = [row for row in rows if row["id"] in names]
    lines = [
        orjson.dumps({"kind": "failure", "name": names[row["id"]], "trigger": f"{row['title']}\n{row['text']}"[:4000]})
        for row in kept
    ]
    became: Counter[tuple[str, str]] = Counter()
    with Memory(tmp_path) as memory:
        memory.add_rows(lines)
        for question in questions:
            answer = memory.failures.add(question["query"][:4000], dry_run=True)
            gold = {f"failure/{names[found]}" for found in question["gold"] if found in names}
            right = "" if answer.merged_into is None else " right" if answer.merged_into in gold else " wrong"
            became[question["task"], answer.action + right] += 1
    for (task, what), count in sorted(became.items()):
        print(f"| {task} | {what} | {count} |")
    assert became["new_item", "merged wrong"] <= 0.01 * sum(task == "new_item" for task, _ in became.elements())
