"""
Wrong merges and missed duplicates: ``pytest -m bench -s tests/bench/timed/test_near_duplicates.py``.

Texts of the public sets are stored, then look-alikes and re-wordings of them, made by rule, are added (dry), each
through `add` with the model. Results with machine and date: docs/benchmarks/diagnosis.md.
"""

import hashlib
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from graphmem import Memory
from tests.bench.timed.test_quality import DATA
from tests.public_sets import read
from tests.sample import open_memory

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
    "on, off": ("when the cache is on", "when the cache is off"),
    "in, out": ("after users log in", "after users log out"),
    "up, down": ("while the cluster scales up", "while the cluster scales down"),
    "with, without": ("with a proxy", "without a proxy"),
    "more, less": ("with more than ten users", "with less than ten users"),
    "first, last": ("on the first page", "on the last page"),
    "min, max": ("when the min size is set", "when the max size is set"),
    "from, to": ("when data goes from S3 to disk", "when data goes from disk to S3"),
    "to, from": ("if one converts int to str", "if one converts str to int"),
    "copy": ("when it copies reports to backup", "when it copies backup to reports"),
    "roles": ("when the parent blocks the child", "when the child blocks the parent"),
    "waiting": ("because the writer waits for the reader", "because the reader waits for the writer"),
    "two clauses": ("and passes locally but fails in CI", "and fails locally but passes in CI"),
    # One word more: the first is what stands in the stored text, and here that is nothing.
    "one more: system": ("", "on Windows"),
    "one more: people": ("", "for guests"),
    "one more: browser": ("", "(Safari)"),
    "one more: often": ("", "sometimes"),
    "one more: where": ("", "in production"),
    "one more: with": ("", "with nested transactions"),
    "one more: number": ("", "two"),
}
BY_HAND = Path(__file__).parents[2] / "rules" / "pairs"  # written by an author who had not seen the rules
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


def by_hand(name: str) -> list[tuple[str, str]]:
    rows = [orjson.loads(line) for line in (BY_HAND / f"{name}.ndjson").read_bytes().splitlines()]
    return [(row["left"], row["right"]) for row in rows]


@pytest.mark.parametrize("kind", ["look-alike", "duplicate"])
def test_rates(kind: str, tmp_path: Path) -> None:
    found = list(texts())
    merged: Counter[str] = Counter()
    pairs: dict[str, list[tuple[str, str]]] = {}
    if kind == "look-alike":
        for place, (name, (first, other)) in enumerate(ENDINGS.items()):
            pairs[name] = [(f"{text} {first}".strip(), f"{text} {other}") for text in found[place % 4 :: 4]]
        pairs["by hand"] = by_hand("opposites")
    else:
        for place, (name, (once, again)) in enumerate(AGAIN.items()):
            pairs[name] = [(once(text), again(text)) for text in found[place % 4 :: 4]]
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


def titles() -> Iterator[tuple[str, str]]:
    """Yield the first lines of records, each with its topic: a project, or what the set is of."""
    for name in ("swefix", "dupbugs", "citrig", "diagnostics", "beads", "logtrig"):
        rows = [row for row in read(DATA / name, "memories") if row["kind"] in ("failure", "task")]
        for row in rows[:: max(1, len(rows) // (10 * OF_A_SET))]:
            topic = row["id"].split("__")[0] if name == "swefix" else f"{name} {row.get('group', '')}"
            text = (row.get("title") or row["text"]).strip().split("\n")[0][:200]
            if len(text) >= 15:
                yield topic, text


@pytest.mark.parametrize("half", [0, 1])
def test_other_topics_are_not_linked(half: int, tmp_path: Path) -> None:
    """Half of the topics are added to a store that holds the other half: each link is one too many."""
    found = sorted(set(titles()))
    added_topics = sorted({topic for topic, _ in found})[half::2]
    stored = [text for topic, text in found if topic not in added_topics]
    added = [text for topic, text in found if topic in added_topics]
    linked = 0
    Memory.init(tmp_path)
    with Memory(tmp_path) as memory:
        rows = ({"kind": "failure", "name": f"f{place}", "trigger": text} for place, text in enumerate(stored))
        memory.add_rows(map(orjson.dumps, rows))
        for text in added:
            variants = memory.failures.add(text, dry_run=True).variants
            linked += bool(variants)
            if variants:
                print(f"{text!r}\n    {[stored[int(variant.ref.partition('/f')[2])] for variant in variants]}")
    print(f"| {len(added)} added to {len(stored)} of other topics | {linked} linked, {linked / len(added):.2%} |")
    assert linked <= 0.01 * len(added)


@pytest.mark.parametrize("part", ["title", "all"])
def test_duplicates_stay_linked(part: str, tmp_path: Path) -> None:
    """Reports that a project marked as duplicates of others, added to a store that holds these."""
    texts = {
        row["id"]: f"{row['title']}\n{row['text'] if part == 'all' else ''}"[:4000]
        for row in read(DATA / "dupbugs", "memories")
    }
    of = {row["dst"]: row["src"] for row in read(DATA / "dupbugs", "relations")}
    pairs = {texts[old]: texts[new] for old, new in sorted(of.items())[::4] if old in texts and new in texts}
    stored = {text: f"f{place}" for place, text in enumerate(pairs)}
    became: Counter[str] = Counter()
    Memory.init(tmp_path)
    with Memory(tmp_path) as memory:
        memory.add_rows(orjson.dumps({"kind": "failure", "name": stored[old], "trigger": old}) for old in pairs)
        for old, new in pairs.items():
            answer = memory.failures.add(new, dry_run=True)
            refs = {variant.ref for variant in answer.variants}
            is_merged = answer.merged_into is not None or answer.action != "created"
            became["merged" if is_merged else "linked" if f"failure/{stored[old]}" in refs else "other"] += 1
    print(f"| duplicates, {part} | {len(pairs)} | {dict(became)} |")


class Directions:
    """An encoder that gives every text a random direction: what embedding costs is not measured here."""

    name, fingerprint, dimensions = "directions", "directions", 384

    def encode_documents(self, texts: Sequence[str]) -> Any:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
        rows = np.stack([np.random.default_rng(seed).standard_normal(384) for seed in seeds]).astype("float32")
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_query(self, text: str) -> Any:
        return self.encode_documents([text])[0]


def test_a_row_costs_the_same_among_many(tmp_path: Path) -> None:
    """``add --ndjson --dedup``: CPU a row for 20,000 rows at most twice that for 1,000, in this run."""
    words = "cache token lock queue index worker parser route schema bucket header cursor thread socket".split()
    cost = {}
    for size in (1_000, 20_000):
        rng = random.Random(size)
        lines = []
        for number in range(size):
            first, second, third = rng.choices(words, k=3)
            trigger = f"the {first} of {second} {number} breaks {third}"
            lines.append(orjson.dumps({"kind": "failure", "name": f"f{number}", "trigger": trigger}))
        with open_memory(tmp_path / str(size), embedder=Directions()) as memory:
            before = time.process_time()
            memory.add_rows(lines, dedup=True)
            cost[size] = (time.process_time() - before) / size
        print(f"| --dedup, {size:,} rows | {cost[size] * 1000:.2f} ms a row |")
    assert cost[20_000] <= 2 * cost[1_000]
