"""
What whole commands cost as a memory grows: CPU seconds and peak memory of each, as a child process, without a model.

usage: python -m tests.bench.growth [ROWS]…

Records of three kinds with texts of 100 to 400 characters and three relations each, every tenth to one of ten hubs.
"""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphmem.kernel.ndjson import encode
from tests.bench.speed import WORDS

SIZES = (10_000, 30_000, 100_000)
HUBS = 10
MB = 1024  # of the kilobytes of ru_maxrss
COUNT = "MATCH (a:Failure) RETURN count(a)"
COMMANDS = {
    "add --ndjson": ["add", "--ndjson", "rows.ndjson"],
    "validate": ["validate"],
    "first graph": ["cypher", COUNT],
    "next cypher": ["cypher", COUNT],
    "first match": ["match", "log.txt"],
    "next match": ["match", "log.txt"],
    "first query": ["query", "babababa bababade"],
    "next query": ["query", "babababa bababade"],
    "related of a hub, 20": ["related", "failure/f0", "--limit", "20"],
    "add the same again": ["add", "--ndjson", "rows.ndjson"],
    "dump": ["dump", "--output", "dump.ndjson"],
    "import of the dump": ["import", "file", "dump.ndjson"],
    "dump --to graphml": ["dump", "--to", "graphml", "--output", "out.graphml"],
    "export --check": ["export", "--check"],
    "vacuum": ["vacuum"],
    "rebuild": ["rebuild"],  # last: it makes what the first of each command would make
    "doctor": ["doctor"],
    "stats": ["stats"],
}


def made(size: int) -> Iterator[dict[str, Any]]:
    """Yield records of three kinds in turn, the first ten of which are hubs, then their relations."""
    draw = random.Random(size)
    weights = [1 / (rank + 10) for rank in range(len(WORDS))]
    refs = []
    for number in range(size):
        words = draw.choices(WORDS, weights, k=draw.randint(12, 44))
        text, rest = f"{' '.join(words[:-6])} {number}", " ".join(words[-6:])
        kind = ("failure", "pattern", "file")[number % 3]
        refs.append(f"{kind}/f{number}")
        fields = {"failure": {"trigger": text, "fix": rest}, "pattern": {"trigger": text, "insight": rest}}
        yield {
            "name": f"f{number}",
            **fields.get(kind, {"kind": "entity", "type": kind, "value": text}),
            **({"kind": kind} if kind in fields else {}),
        }
    for number, source in enumerate(refs):
        targets = {draw.randrange(HUBS if (number + which) % 10 == 0 else size) for which in range(3)}
        for target in sorted(targets - {number}):
            yield {"kind": "relation", "from": source, "type": "causes", "to": refs[target]}


def measured(command: list[str], folder: Path) -> tuple[float, float]:
    """Return the CPU seconds and the peak megabytes of one command and its children."""
    with Path(folder, "answer.txt").open("wb") as answer:
        child = subprocess.Popen([sys.executable, "-m", "graphmem", *command], cwd=folder, stdout=answer, stderr=answer)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        raise SystemExit(f"{command}: {Path(folder, 'answer.txt').read_text()[-500:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / MB


def main(sizes: list[int]) -> None:
    """Measure every command at each size and print one row a command and size."""
    os.environ["GRAPHMEM_EMBEDDING_MODEL"] = "none"
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            folder.joinpath("rows.ndjson").write_bytes(b"".join(encode(row) + b"\n" for row in made(size)))
            folder.joinpath("log.txt").write_text("error: babababa bababade failed\n" * 20)
            measured(["init"], folder)
            measured(["type", "add", "entity", "file"], folder)
            for name, command in COMMANDS.items():
                cpu, memory = measured(command, folder)
                print(f"{size:,} | {name} | {cpu:.1f} s | {memory:.0f} MB", flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or list(SIZES))
