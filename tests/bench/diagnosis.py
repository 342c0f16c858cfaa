"""
Diagnosis: how often what tools print is read rightly, and the same failure known, beside a rule of ten lines.

Asked are real outputs of tools (`toolout` of the public sets, or a folder made like it), repeats and look-alikes of
records (`judge4`), and near misses written by two hands (`near_misses.json`, `other_hand.json`).

usage: python -m tests.bench.diagnosis --data FOLDER [--by family|tool] [--wrong FILE]
"""

import argparse
import gzip
import json
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphmem.core.logs.comparison import judged
from graphmem.core.logs.diagnosis import Diagnosis, Reader, diagnose, statement
from graphmem.core.logs.prefixes import without_escapes
from tests.sample import open_memory

HERE = Path(__file__).parent
LABELS = ("same", "same_rule", "other")
STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z ")
HEAD = (
    "| | same | known | crude | same_rule | shown | known | other | known | crude right | right"
    " | outputs | read | passes | read |"
)
QUIET = 20 << 20  # bytes of a log in which nothing is wrong
Rows = list[dict[str, Any]]


def rows(file: Path) -> Rows:
    """Return the rows of a file of NDJSON, compressed or not."""
    if not file.exists():
        file = file.with_name(f"{file.name}.gz")
    raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [json.loads(line) for line in raw.decode().split("\n") if line]


def shown(line: str) -> str:
    """Return a line as a terminal shows it."""
    return STAMP.sub("", without_escapes(line))


def recorded(output: Mapping[str, Any]) -> str:
    """Return what somebody records of an output: what it says, with the line of the function or test that tells it."""
    gold = output["gold"]
    text = str(gold.get("statement") or shown(gold["telling"][0]).strip())
    who = gold.get("own_frame") or gold.get("test")
    if who and who not in text:
        lines = [shown(line) for line in output["output"].split("\n")]
        at = gold["telling_lines"][0] - 1
        text += "".join(f"\n{line.strip()}" for line in [*lines[at + 1 : at + 16], *lines[:at][::-1]] if who in line)[
            :400
        ]
    return text


def crude(line: str) -> str:
    """Return a line without digits and paths, in one spelling of spaces: the rule of ten lines."""
    line = re.sub(r"(?:[\w.@+-]*/)+[\w.@+-]*|\b[\w-]+\.[a-z]{1,5}(?=[:(\s\"']|$)", "", shown(line))
    return " ".join(re.sub(r"\d+", "", line).split())


def is_crudely_known(text: str, output: str) -> bool:
    """Return whether every line of a text is also one of an output, as ``crude`` has them."""
    wanted = [key for line in text.split("\n") if (key := crude(line))]
    return bool(wanted) and {crude(line) for line in output.split("\n")}.issuperset(wanted)


@lru_cache(4_096)
def read(output: str) -> Diagnosis:
    """Return what an output tells."""
    return diagnose(output)


def verdict(text: str, output: str) -> str:
    """Return the verdict of an output on what was recorded; of one that tells no problem, by its lines."""
    return judged(statement(text), read(output).problems or statement(output)).verdict


def is_read(output: Mapping[str, Any]) -> bool:
    """Return whether a telling line of an output is among what was read as a problem."""
    gold = [output["gold"], *output["gold"].get("others", [])]
    telling = [" ".join(shown(line).split()) for one in gold for line in one["telling"]]
    lines = [" ".join(line.split()) for one in read(output["output"]).problems[:20] for line in one.trigger.split("\n")]
    return any(len(line) > 3 and (line in one or (one in line and len(one) > 8)) for line in telling for one in lines)


def measured(folder: Path, by: str, wrong: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """Return counts by family or tool, and of all; what was wrong is added to ``wrong``."""
    outputs = {row["id"]: row for row in rows(folder / "outputs.ndjson")}
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in rows(folder / "pairs.ndjson"):
        one, other = outputs[pair["a"]], outputs[pair["b"]]["output"]
        text, label = recorded(one), pair["label"]
        answer, is_same = verdict(text, other), is_crudely_known(text, other)
        is_known = answer == "same" and not pair.get("rule_is_enough")
        is_right = (label == "same") == is_known
        for name in (one[by], "total"):
            count = found[name]
            count[label] += 1
            count[f"{label} known"] += is_known
            count[f"{label} shown"] += answer in ("same_rule", "unclear") or (answer == "same" and not is_known)
            count[f"{label} crude"] += is_same and not pair.get("rule_is_enough")
            count["right"] += is_right
            count["crude right"] += (label == "same") == (is_same and not pair.get("rule_is_enough"))
        if not is_right:
            wrong.append({**pair, "tool": one["tool"], "answer": answer, "recorded": text})
    for output in outputs.values():
        for name in (output[by], "total"):
            found[name]["outputs"] += 1
            found[name]["read"] += is_read(output)
        if not is_read(output):
            wrong.append(
                {"a": output["id"], "tool": output["tool"], "answer": "not read", "recorded": recorded(output)}
            )
    for output in rows(folder / "passes.ndjson"):
        told = [problem.trigger for problem in read(output["output"]).problems]
        for name in (output[by], "total"):
            found[name]["passes"] += 1
            found[name]["passes read"] += bool(told)
        if told:
            wrong.append({"a": output["id"], "tool": output["tool"], "answer": "read", "told": told[:3]})
    return dict(found)


def share(count: Counter[str], part: str, whole: str) -> str:
    """Return a share with two digits."""
    return f"{count[part] / count[whole]:.2f}" if count[whole] else "-"


def table(found: Mapping[str, Counter[str]]) -> Iterable[str]:
    """Yield the table of Markdown."""
    yield HEAD
    yield "|" + " --- |" * (HEAD.count("|") - 1)
    for name in [*sorted(found.keys() - {"total"}), "total"]:
        count = found[name]
        count["pairs"] = sum(count[label] for label in LABELS)
        cells = [
            name, count["same"], share(count, "same known", "same"), share(count, "same crude", "same"),
            count["same_rule"], share(count, "same_rule shown", "same_rule"),
            share(count, "same_rule known", "same_rule"),
            count["other"], share(count, "other known", "other"),
            share(count, "crude right", "pairs"), share(count, "right", "pairs"),
            count["outputs"], share(count, "read", "outputs"), count["passes"], share(count, "passes read", "passes"),
        ]  # fmt: skip
        yield "| " + " | ".join(map(str, cells)) + " |"


def by_hand(folder: Path) -> Iterable[str]:
    """Yield how repeats, look-alikes and near misses that people wrote are told apart."""
    if (folder / "judge4/pairs.json").exists():
        pairs = [
            one for one in json.loads((folder / "judge4/pairs.json").read_text("utf-8")) if one["kind"] == "failure"
        ]
        same = [verdict(one["first"], one["second"]) == "same" for one in pairs if one["merge"]]
        other = [verdict(one["first"], one["second"]) == "same" for one in pairs if not one["merge"]]
        yield f"judge4: repeats the same {sum(same)} of {len(same)}, look-alikes the same {sum(other)} of {len(other)}"
    for name in ("near_misses", "other_hand"):
        asked = json.loads((HERE / f"{name}.json").read_text("utf-8"))
        counts: dict[str, Sequence[str]] = {
            label: [verdict(one["trigger"], text) for one in asked for text in one[label]]
            for label in ("same", "other")
        }
        told = ", ".join(
            f"{label} called the same {said.count('same')} of {len(said)}" for label, said in counts.items()
        )
        yield f"{name} (re-wordings are among the same): {told}"


def speed() -> float:
    """Return how many MB of a log in which nothing is wrong are read in a second of the processor."""
    lines = [
        f"2026-05-0{n % 9 + 1} 10:00:{n % 60:02d} INFO worker {n} handled request /api/items/{n} in {n % 300} ms, 200"
        for n in range(QUIET // 100)
    ]
    reader, began = Reader(), time.process_time()
    for number, line in enumerate(lines, 1):
        reader.read(number, line)
    return sum(map(len, lines)) / (time.process_time() - began) / 1e6


def match_speed() -> float:
    """Return the same of `match` as a whole, with 1,000 failures, of which 100 have an expression."""
    lines = [
        f"2026-11-27T10:{n // 60 % 60:02}:{n % 60:02}Z worker-{n % 7} handled call {n} of user {n % 97} in {n % 300} s"
        for n in range(QUIET // 85)
    ]
    failures = [
        {"kind": "failure", "name": f"f{n}", "fix": "set it", "trigger": f"Error: widget {n} lacks part-{n * 7}"}
        | ({"match": rf"widget {n} (broke|failed) at \d+"} if n % 10 == 0 else {})
        for n in range(1_000)
    ]
    with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder)) as memory:
        memory.add_rows([json.dumps(row).encode() for row in failures])
        raw = [line.encode() for line in lines]
        memory.match(raw[:1])
        began = time.process_time()
        assert not memory.match(raw).results
        return sum(map(len, raw)) / (time.process_time() - began) / 1e6


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="a folder with outputs, pairs and passes, or the public sets"
    )
    parser.add_argument("--by", choices=("family", "tool"), default="family")
    parser.add_argument("--wrong", type=Path, help="write what was wrong here, a line of JSON each")
    given = parser.parse_args()
    folder = given.data.resolve()
    wrong: list[dict[str, Any]] = []
    tools = folder if any(folder.glob("outputs.ndjson*")) else folder / "toolout"
    print(*table(measured(tools, given.by, wrong)), sep="\n")
    print(*by_hand(folder), sep="\n")
    print(f"read line by line: {speed():.1f} MB a second of the processor; by `match`: {match_speed():.1f}")
    if given.wrong:
        given.wrong.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in wrong), "utf-8")


if __name__ == "__main__":
    main()
