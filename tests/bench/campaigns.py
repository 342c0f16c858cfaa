"""
Campaigns on real histories, at scale, and the expressions that blocks become: what is right, and what it costs.

    python -m tests.bench.campaigns --data /work/shared/data

The data are the public sets `beads`, `campaigns`, `pyerrors`, `cmdfix`, `diagnostics` and `logtrig`.
"""

import argparse
import json
import random
import re
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx

from graphmem import Memory
from graphmem.core.logs.derivation import expression_of
from graphmem.core.logs.diagnosis import statement
from graphmem.core.logs.volatile import stable
from graphmem.core.records.dedup import QUOTED
from graphmem.errors import Refused
from tests.features.work.replay import LARGEST, Snapshot, Tally, replay, snapshots, store
from tests.public_sets import read
from tests.sample import trust_all


def histories(data: Path) -> None:
    """Print what came of the histories of both sets."""
    for name in ("campaigns", "beads"):
        for tracker, versions in snapshots(data / name).items():
            tally, began = Tally(), time.process_time()
            with store() as memory:
                for part in parts(versions):
                    replay(memory, part, tally)
                found = memory.store.validate().findings
            seconds = time.process_time() - began
            print(
                f"{tracker}: {tally.snapshots} versions, {tally.items} items, {tally.moves} moves, {seconds:.0f} s CPU;"
                f" ready and states right in {tally.right} of {tally.snapshots}; findings of validate: {len(found)}"
            )
            print(f"    begun before what they need was done, which start refuses: {tally.begun_early} items")
            for text in tally.wrong:
                print(f"    wrong: {text}")


def parts(versions: Sequence[Snapshot]) -> Iterator[list[Snapshot]]:
    """Yield versions in groups that fit into one plan each."""
    part: list[Snapshot] = []
    for one in versions:
        if part and len({item for each in (*part, one) for item in each.states}) > LARGEST:
            yield part
            part = []
        part.append(one)
    yield part


def workflows(data: Path, most: int) -> None:
    """Print how workflow runs went through a campaign: all that is ready at once, until nothing is left."""
    right, tasks, errors, cycles = 0, 0, [], 0
    rows = [row for row in read(data / "campaigns", "workflow_dags") if len(row["tasks"]) <= most]
    for row in rows:
        numbers = {one[0]: place for place, one in enumerate(row["tasks"])}
        plan = [
            {"seq": numbers[one], "slug": "job", "objective": name, "depends": [numbers[need] for need in needs]}
            for one, name, _, needs in row["tasks"]
        ]
        with store() as memory:
            name = memory.campaigns.create(row["id"]).ref
            cycles += is_cycle_refused(memory, name, plan)
            memory.campaigns.add_tasks(name, plan)
            waves = 0
            while ready := memory.campaigns.ready(name).ready:
                waves += 1
                for task in ready:
                    memory.tasks.start(task.ref)
                    memory.tasks.complete(task.ref, delivered="done")
            state = memory.campaigns.status(name).state
        tasks += len(plan)
        right += (state, waves) == ("complete", row["facts"]["levels"])
        errors += [] if state == "complete" else [row["id"]]
    print(
        f"workflow runs: {len(rows)} of {tasks} tasks; as many waves as the run has levels, and complete: {right};"
        f" refused with a cycle put in: {cycles} {errors or ''}"
    )


def is_cycle_refused(memory: Memory, campaign: str, plan: Sequence[dict[str, Any]]) -> bool:
    """Return whether a plan with one edge turned into a cycle is refused, and the message shows a way round."""
    graph = nx.DiGraph([(need, one["seq"]) for one in plan for need in one["depends"]])
    first, last = nx.dag_longest_path(graph)[0], nx.dag_longest_path(graph)[-1]
    bad = [{**one, "depends": [*one["depends"], last]} if one["seq"] == first else one for one in plan]
    try:
        memory.campaigns.add_tasks(campaign, bad)
    except Refused as refused:
        around = [int(seq) for seq in str(refused.details["cycle"]).split(" → ")]
        needs = {one["seq"]: one["depends"] for one in bad}
        return around[0] == around[-1] and all(b in needs[a] for a, b in pairwise(around))
    return False


# --- what the loop teaches --------------------------------------------------------------------------------------------


def taught(data: Path) -> None:
    """Print what observing finished and blocked work of `beads` offers, and how much of it is noise."""
    rows = {row["id"]: row for row in read(data / "beads", "memories")}
    notes = {
        one["dst"]: rows[one["src"]]["text"] for one in read(data / "beads", "relations") if one["type"] == "solves"
    }
    failed = [one for one in notes if one in rows and rows[one]["kind"] == "failure"][:60]
    plain = [one for one in notes if one in rows and rows[one]["kind"] == "task"][:60]
    blocked = [one for one, row in rows.items() if row["kind"] == "failure" and one not in notes][:60]
    plan = [
        {"seq": seq, "slug": "item", "objective": rows[one]["title"][:250], "verify": "exit 1"}
        for seq, one in enumerate((*failed, *plain, *blocked))
    ]
    with store() as memory:
        memory.campaigns.create("What was done", name="work")
        refs = [task.ref for task in memory.campaigns.add_tasks("work", plan).tasks]
        for ref, one in zip(refs, (*failed, *plain, *blocked), strict=True):
            memory.tasks.start(ref)
            if one in failed or one in blocked:
                memory.tasks.block(ref, rows[one]["title"][:1000])
            if one in failed:
                memory.tasks.start(ref)
            if one in notes:
                memory.tasks.complete(ref, delivered=notes[one])
        trust_all(memory)
        first = memory.observe("work", run_verify=True, yes=True)
        again = memory.observe("work", run_verify=True, yes=True)
        offers = {one.task: one for one in first.patterns}
        print(f"observed: {len(failed)} blocked and fixed, {len(plain)} done at once, {len(blocked)} blocked still")
        for what, part in (
            ("blocked and fixed", refs[: len(failed)]),
            ("done at once", refs[len(failed) :][: len(plain)]),
        ):
            scores = Counter(offers[ref].score for ref in part)
            print(
                f"    {what}: {sum(offers[ref].offered for ref in part)} offered; scores {dict(sorted(scores.items()))}"
            )
        verdicts = Counter(one.verdict for one in first.verified)
        with_match = sum(getattr(one.record, "match", None) is not None for one in first.failures)
        merged = sum(one.action != "created" for one in first.failures)
        print(
            f"    verdicts {dict(verdicts)}; failures {len(first.failures)}, merged with known ones {merged},"
            f" with an expression {with_match}; edges {len(first.links)}"
        )
        print(
            f"    a second time: {len(again.failures)} failures, {len(again.links)} edges, {again.feedback} reports,"
            f" {sum(one.ref is None and one.offered for one in again.patterns)} patterns left to write"
        )


# --- scale ------------------------------------------------------------------------------------------------------------


def shaped(shape: str, size: int = LARGEST) -> list[dict[str, Any]]:
    """Return a plan: a chain, a fan behind one task, or one at random."""
    rng, rows = random.Random(1), []
    for seq in range(size):
        depends = [] if not seq else [seq - 1] if shape == "chain" else [0]
        if shape == "random" and seq:
            depends = sorted({rng.randrange(seq) for _ in range(3)})
        rows.append(
            {
                "seq": seq,
                "slug": "step",
                "objective": f"Do step {seq} of the plan in module {seq % 37}",
                "depends": depends or "none",
                "delta": [f"src/module_{seq % 37}.py"],
                "verify": "pytest -q",
            }
        )
    return rows


def cpu(call: Callable[[], object], times: int = 9) -> float:
    """Return the median CPU time of a call in milliseconds."""
    found = []
    for _ in range(times):
        before = time.process_time()
        call()
        found.append(time.process_time() - before)
    return statistics.median(found) * 1000


def scale() -> None:
    """Print what commands cost in a plan of 1,000 tasks with several events each, beside networkx on the same plan."""
    print(
        "| plan | add | start | complete | block | propagate, first | again | status | ready | merge-plan | networkx |"
    )
    print("| --- " * 11 + "|")
    for shape in ("chain", "fan", "random"):
        with store() as memory:
            row = costs(memory, shaped(shape))
            print(
                f"| {shape} | " + " | ".join(f"{value:.0f}" if value >= 10 else f"{value:.1f}" for value in row) + " |"
            )
            commands(memory.store.client.root)


def costs(memory: Memory, plan: Sequence[dict[str, Any]]) -> list[float]:
    """Return what each command costs in a plan, in the order of the table."""
    memory.campaigns.create("A plan of very many steps", name="big")
    row = [cpu(lambda: memory.campaigns.add_tasks("big", plan), 1)]
    memory.tasks.start("big/000")
    memory.tasks.complete("big/000", delivered="ready")
    first, *others = [task.ref for task in memory.campaigns.ready("big").ready]
    row.append(cpu(lambda: memory.tasks.start(first), 1))
    row.append(cpu(lambda: memory.tasks.complete(first, delivered="done"), 1))
    others = [task.ref for task in memory.campaigns.ready("big").ready][:40]
    left = iter(others)
    row.append(cpu(lambda: memory.tasks.block(next(left), "ValueError: no such step"), len(others)))
    row.append(cpu(lambda: memory.campaigns.propagate("big"), 1))
    row.append(cpu(lambda: memory.campaigns.propagate("big")))
    more_events(memory)
    memory.campaigns.status("big")
    row.append(cpu(lambda: memory.campaigns.status("big")))
    row.append(cpu(lambda: memory.campaigns.ready("big")))
    again = [{**one, "objective": f"{one['objective']} again"} for one in plan]
    row.append(cpu(lambda: memory.campaigns.merge_plan("big", again), 1))
    row.append(cpu(lambda: peer(plan)))
    return row


def more_events(memory: Memory) -> None:
    """Record three more moves about each task, as work on it and work that was taken back would."""
    rows = []
    with memory.store.client.reading() as snapshot:
        keys = [snapshot.catalog.stored(number).key_ref for number in snapshot.catalog.numbers("task")]
    for place, key in enumerate(keys):
        for turn, (before, after) in enumerate((("pending", "active"), ("active", "blocked"), ("blocked", "pending"))):
            at = f"2026-10-0{turn + 1}T00:00:00.000Z"
            rows.append(
                {
                    "kind": "event",
                    "id": f"more-{place}-{turn}",
                    "at": at,
                    "created_at": at,
                    "subject": key,
                    "type": "task-started",
                    "data": {"from": before, "to": after},
                }
            )
    memory.add_rows([json.dumps(row).encode() for row in rows])


def peer(plan: Sequence[Mapping[str, Any]]) -> int:
    """Do with networkx what status is about: the graph of a plan, what is below a block, what can start."""
    graph: Any = nx.DiGraph()
    for row in plan:
        graph.add_node(row["seq"])
        graph.add_edges_from((need, row["seq"]) for need in (row["depends"] if row["depends"] != "none" else ()))
    blocked = set(list(graph)[1:41])
    lost = {one for start in blocked for one in nx.descendants(graph, start)}
    return len(lost) + sum(all(need == 0 for need in graph.predecessors(one)) for one in graph if one not in lost)


def commands(folder: Path) -> None:
    """Print what a command costs as a process, beside one that only reads its version."""
    for line in (["--version"], ["campaign", "status", "big", "--json"], ["campaign", "ready", "big"]):
        values = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-m", "graphmem", *line], cwd=folder, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            values.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        print(f"    graphmem {' '.join(line)}: {statistics.median(values) * 1000:.0f} ms of CPU")


# --- expressions ------------------------------------------------------------------------------------------------------


def reports(data: Path) -> dict[str, list[tuple[str, str]]]:
    """Return reports of errors by set, each with what it is: two of one error have the same."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in ("pyerrors", "cmdfix", "diagnostics", "logtrig"):
        for row in read(data / name, "queries"):
            text = row["query"]
            if name == "cmdfix":
                text = text.partition("\n")[2]  # without the command
            if text.strip():
                found[name].append((text, " ".join(row["gold"])))
    return found


def quoted_too(expression: str) -> str:
    """Return an expression with its quoted values generalised as well, as the specification says."""
    plain = re.sub(r"\\(['\"`])", r"\1", expression)
    return QUOTED.sub(lambda found: f"{found[0][0]}.*?{found[0][-1]}", plain)


def line_of(text: str) -> str:
    """Return the line of a report that says what went wrong, as far as it is the same from run to run."""
    found = next((one for one in statement(text) if one.is_read), None)
    return stable(found.text if found else next((one.strip() for one in text.splitlines() if one.strip()), ""))


def expressions(data: Path) -> None:
    """Print which share of reports get an expression, which other errors it hits, and which of the same error."""
    print("| set | reports | with an expression | quotes | hits its own | other errors hit | more of its error hit |")
    print("| --- " * 7 + "|")
    for name, rows in reports(data).items():
        texts = sorted(set(rows))[:1500]
        lines = {text: line_of(text) for text, _ in texts}
        made = {row: expression for row in texts if (expression := expression_of(row[0]))}
        for how, change in (("stay", str), ("generalised", quoted_too)):
            own, wrong, pairs, same, of_same = 0, 0, 0, 0, 0
            hitting = 0
            by_gold: dict[str, list[str]] = defaultdict(list)
            for text, gold in texts:
                by_gold[gold].append(text)
            for (text, gold), expression in made.items():
                pattern = re.compile(change(expression))
                own += bool(pattern.search(text))
                others = [
                    bool(pattern.search(other)) for other, kind in texts if kind != gold and lines[other] != lines[text]
                ]
                wrong, pairs, hitting = wrong + sum(others), pairs + len(others), hitting + any(others)
                like = [bool(pattern.search(other)) for other in by_gold[gold] if other != text]
                same, of_same = same + sum(like), of_same + len(like)
            print(
                f"| {name} | {len(texts)} | {len(made) / len(texts):.1%} | {how} | {own / max(1, len(made)):.1%} |"
                f" {wrong} of {pairs}, by {hitting / max(1, len(made)):.1%} | {same / max(1, of_same):.1%} |"
            )


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--most", type=int, default=130, help="largest workflow run to replay, in tasks")
    parser.add_argument("--part", choices=("histories", "workflows", "taught", "scale", "expressions"), action="append")
    options = parser.parse_args()
    all_parts: dict[str, Callable[[], None]] = {
        "histories": lambda: histories(options.data),
        "workflows": lambda: workflows(options.data, options.most),
        "taught": lambda: taught(options.data),
        "scale": scale,
        "expressions": lambda: expressions(options.data),
    }
    for name, part in all_parts.items():
        if options.part is None or name in options.part:
            print(f"\n== {name}")
            part()


if __name__ == "__main__":
    main()
