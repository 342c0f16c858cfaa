"""
Make ``rows.ndjson`` of the demo again from the public data sets: the excerpt that ``graphmem demo`` loads.

usage: python tests/demo_excerpt.py DATA graphmem/doors/cli/demo_data

DATA holds the folders ``attackgraph`` (CAPEC) and ``diagnostics`` (ruff, mypy). The same input gives the same bytes.
What is selected and changed is told in ``graphmem/doors/cli/demo_data/NOTICE.md``.
"""

import gzip
import re
import sys
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from graphmem.names import mark, slug

Row = dict[str, Any]

RUFF = "0.17.6"  # the versions the data set was made with
MYPY = "2.4.1"
TEXT_CHARACTERS = 240  # of an explanation; longer ones end at a sentence
INSIGHT_CHARACTERS = 800  # of a mitigation; longer ones are essays, and are left out
MATCH_CHARACTERS = 1_000
TELLING_CHARACTERS = 10  # letters a message must have of its own before it is searched for in logs
COMMONPLACE = re.compile(r"\b(?:call|instead|of|use|with)\b", re.IGNORECASE)  # words that many messages share
MESSAGES = 3  # messages of one rule that its trigger begins with
NARROW = 6  # a weakness exploited by more attack patterns than these says little about any of them
WELL_KNOWN = {  # attack patterns that developers know by name and that the rules below would not choose
    "Cross Site Request Forgery", "Forced Deadlock", "Forceful Browsing",
    "Leveraging Race Conditions", "Log Injection-Tampering-Forging", "Overflow Buffers", "Phishing",
    "Server Side Request Forgery", "Session Fixation",
}  # fmt: skip
AGAINST = 3  # failures that the trigger of a pattern names

# Rules that many projects switch on, and of these the ones that were met in the packages ruff was run on.
COMMON_RUFF = re.compile(r"F[0-9]+|E[4579][0-9]+|W[0-9]+|(B|I|SIM)[0-9]+|UP0(0[67]|15|3[125]|45)|RUF0(05|12|15|59)")
# Rules of flake8-bandit, but for those that say once more, of another module or function, what a neighbour says.
SECURITY_RUFF = re.compile(r"S(?!112|31[3567]|320|40[0-9]|60[46])[0-9]+")
# Sentences of mypy's documentation that say what to do.
MYPY_FIX = re.compile(
    r"(?:You can (?:often )?(?:work around|assign|fix)|To (?:work around|fix) |Fix the error by|"
    r"In some cases, these errors can be fixed|You should instead use|In a case like this you need to)"
    r"[^:]*?(?=[.:](?:\s|$))"
)
ALSO_MYPY = ("import-untyped",)  # not met there, and often met by others
PARENT_CODE = re.compile(r"subcode of the (?:more general|wider|generic) ``\[([a-z-]+)\]``")
CHILD_CODES = re.compile(r"parent error code of `([a-z-]+)` and `([a-z-]+)`")
PHASE = re.compile(r"(Assurance|Configuration|Design|Implementation|Operation|Usage): +")
PHASES = {"Implement: ": "Implementation: ", "Operational: ": "Operation: "}


def read(data: Path, name: str) -> list[Row]:
    """Return the rows of one file of a data set, compressed or not."""
    (path,) = data.glob(name + ".ndjson*")
    content = path.read_bytes()
    lines = (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines()
    return [orjson.loads(line) for line in lines]


# --- attack patterns ------------------------------------------------------------------------------------------------


def attack_rows(data: Path, weaknesses: set[str]) -> Iterator[Row]:
    """Yield a connected part of CAPEC; ``weaknesses`` are those that diagnostics name (``CWE-78``)."""
    memories = {m["id"]: m for m in read(data, "memories") if m["group"] == "capec"}
    edges = [e for e in read(data, "relations") if e["src"] in memories and e["dst"] in memories]
    chosen = attacks(memories, edges, weaknesses)
    names = {id_: f"failure/{slug(memories[id_]['title'])}" for id_ in chosen}
    yield from (attack(memories[id_]) for id_ in chosen)
    names |= yield from mitigations(memories, edges, chosen)
    names |= yield from weakness_rows(edges, chosen, weaknesses)
    types = {"variant_of": "variant"}
    for edge in edges:
        if edge["src"] in names and edge["dst"] in names:
            kind: str = edge["type"]
            yield relation(names[edge["src"]], types.get(kind, kind), names[edge["dst"]])


def attacks(memories: dict[str, Row], edges: list[Row], weaknesses: set[str]) -> list[str]:
    """Return the chosen attack patterns: of chains of causes, of what a diagnostic warns of, and their ancestors."""
    causes = [(e["src"], e["dst"]) for e in edges if e["type"] == "causes"]
    exploiters = defaultdict(set)
    parents = defaultdict(set)
    for edge in edges:
        if edge["type"] == "exploits":
            exploiters[edge["dst"]].add(edge["src"])
        elif edge["type"] == "child_of":
            parents[edge["src"]].add(edge["dst"])
    chosen = largest_component(causes) | {id_ for id_, memory in memories.items() if memory["title"] in WELL_KNOWN}
    for weakness in weaknesses:
        found = exploiters[f"capec/{weakness}"]
        chosen |= found if len(found) <= NARROW else set()
    todo = list(chosen)
    while todo:
        new = parents[todo.pop()] - chosen
        chosen |= new
        todo += new
    return sorted(id_ for id_ in chosen if memories[id_]["text"])


def largest_component(pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Return the largest set of ends that the pairs connect."""
    near = defaultdict(set)
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    components = []
    left = set(near)
    while left:
        found, todo = set(), {min(left)}
        while todo:
            found |= todo
            todo = {b for a in todo for b in near[a]} - found
        components.append(found)
        left -= found
    return max(components, key=lambda ids: (len(ids), min(ids)))


def attack(memory: Row) -> Row:
    """Return the failure that an attack pattern is."""
    title, text = memory["title"], memory["text"]
    number = memory["id"].removeprefix("capec/")
    return {
        "kind": "failure",
        "name": slug(title),
        "trigger": f"{title}\n{shortened(text)}",
        "tags": ["capec"],
        "sources": [number],
    }


def mitigations(memories: dict[str, Row], edges: list[Row], chosen: list[str]) -> Generator[Row, None, dict[str, str]]:
    """Yield the patterns that solve the chosen failures, equal texts once; return the reference of each id."""
    solved = defaultdict(set)
    for edge in edges:
        if edge["type"] == "solves" and edge["dst"] in chosen:
            solved[edge["src"]].add(edge["dst"])
    by_text = defaultdict(list)
    for id_ in sorted(solved):
        text = memories[id_]["text"]
        if "None are known" not in text and len(text) <= INSIGHT_CHARACTERS:
            by_text[text].append(id_)
    taken: set[str] = set()
    refs: dict[str, str] = {}
    for text, ids in sorted(by_text.items()):
        pattern = mitigation(text, [memories[id_] for id_ in sorted(set[str]().union(*(solved[id_] for id_ in ids)))])
        if pattern["name"] in taken:
            pattern["name"] += f"-{mark(text)}"
        taken.add(pattern["name"])
        refs |= dict.fromkeys(ids, f"pattern/{pattern['name']}")
        yield pattern
    return refs


def mitigation(text: str, against: list[Row]) -> Row:
    """Return the pattern that a mitigation is."""
    for other, phase in PHASES.items():
        text = text.replace(other, phase, 1) if text.startswith(other) else text
    found = PHASE.match(text)
    insight = re.sub(r"^[0-9]+\. ", "", PHASE.sub("", text, count=1) if found else text)
    insight = insight[:1].upper() + insight[1:]
    titles = [memory["title"] for memory in against]
    more = f" and {len(titles) - AGAINST} more" if len(titles) > AGAINST else ""
    return {
        "kind": "pattern",
        "name": slug(re.split(r"(?<=[a-z)])[.:;](?:\s|$)", insight)[0]),
        "trigger": f"Against {', '.join(titles[:AGAINST])}{more}",
        "insight": insight,
        "tags": ["capec", *([found[1].lower()] if found else [])],
        "sources": [memory["id"].removeprefix("capec/") for memory in against],
    }


def weakness_rows(edges: list[Row], chosen: list[str], weaknesses: set[str]) -> Generator[Row, None, dict[str, str]]:
    """Yield the weaknesses that connect two chosen records or more; return the reference of each id."""
    exploiters = defaultdict(set)
    for edge in edges:
        if edge["type"] == "exploits" and edge["src"] in chosen:
            exploiters[edge["dst"]].add(edge["src"])
    refs: dict[str, str] = {}
    for id_, sources in sorted(exploiters.items()):
        number = id_.removeprefix("capec/")
        if len(sources) + (number in weaknesses) >= 2:
            refs[id_] = f"weakness/{number.lower()}"
            page = f"https://cwe.mitre.org/data/definitions/{number.removeprefix('CWE-')}.html"
            yield {"kind": "entity", "type": "weakness", "name": number.lower(), "value": f"{number}, {page}"}
    return refs


# --- diagnostics ----------------------------------------------------------------------------------------------------


def diagnostic_rows(data: Path) -> Iterator[Row]:
    """Yield ruff's and mypy's rules that people meet, and what their documentation says of each other."""
    messages = defaultdict(list)
    for query in read(data, "queries"):
        messages[query["gold"][0]].append(query["query"])
    for memory in read(data, "memories"):
        tool, code = memory["id"].split("/")
        met = messages[memory["id"]]
        cited = re.findall(r"CWE-\d+", memory["text"])
        is_security = SECURITY_RUFF.fullmatch(code) and (cited or met)
        if tool == "ruff" and (is_security or (COMMON_RUFF.fullmatch(code) and met)):
            row = ruff_rule(code, memory, met)
            yield row
            for weakness in sorted(set(cited)):
                yield relation(f"failure/{row['name']}", "detects", f"weakness/{weakness.lower()}")
        elif tool == "mypy" and (met or code in ALSO_MYPY or CHILD_CODES.search(memory["text"])):
            yield mypy_code(code, memory, met)
            yield from mypy_parents(code, memory["text"])


def ruff_rule(code: str, memory: Row, met: list[str]) -> Row:
    """Return the failure that a ruff rule reports; its trigger begins with its messages."""
    name = memory["title"].replace(" ", "-")
    pieces = [re.split(re.escape("(.+?)"), t.removeprefix("^").removesuffix("$")) for t in memory["trigger"]]
    shown = ["…".join(re.sub(r"\\(.)", r"\1", piece) for piece in parts) for parts in pieces]
    shown = sorted({text for text in shown if is_telling(text)}, key=lambda text: (len(text), text))[:MESSAGES]
    text = "\n".join(section(memory["text"], title) for title in ("What it does", "Why is this bad?"))
    row = {
        "kind": "failure",
        "name": slug(f"ruff-{code}-{name}"),
        "trigger": "\n".join([*(shown or [memory["title"]]), f"ruff {code} ({name}): {shortened(text)}"]),
        "tags": ["ruff", slug(memory["tags"][0]), *(["autofix"] if memory["cost"]["fix"] != "None" else [])],
        "sources": [f"ruff {RUFF} rule {code}"],
    }
    if memory["fix"]:
        row["fix"] = re.sub(r"\A```\w*\n(((?!```).)*)\n```\Z", r"\1", memory["fix"].strip(), flags=re.DOTALL).strip(
            "\n"
        )
    found = expression(pieces)
    if found:
        row["match"] = found
        assert all(re.search(found, message) for message in met), (code, found, met)
    return row


def expression(templates: list[list[str]]) -> str:
    """Return an expression that finds any of the messages anywhere in a line; empty where they tell too little."""
    found: list[str] = []
    for parts in sorted(templates, key=lambda parts: len("".join(parts))):
        if not is_telling(COMMONPLACE.sub("", " ".join(re.sub(r"\\.", " ", piece) for piece in parts))):
            return ""
        literals = [re.sub(r"\\([^.^$*+?{}\[\]|()\\])", r"\1", piece) for piece in parts]
        joined = literals[0]
        for before, after in pairwise(literals):
            in_ticks = before.endswith("`") and after.startswith("`")
            joined += ("[^`]+" if in_ticks else ".+?") + after
        joined = joined.removeprefix(".+?").removesuffix(".+?")
        if not any(shorter in joined for shorter in found):
            found.append(joined)
    match = "|".join(found)
    return match if len(match) <= MATCH_CHARACTERS else ""


def is_telling(text: str) -> bool:
    """Return whether a message has enough words of its own."""
    return len(re.findall("[A-Za-z]", text)) >= TELLING_CHARACTERS


def section(text: str, title: str) -> str:
    """Return the prose of one section of a ruff rule's page, without links and examples."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    prose = found[1] if found else ""
    prose = re.sub(r"```.*?```", "", prose, flags=re.DOTALL)
    prose = re.sub(r"^\[[^\]]+\]: .*$", "", prose, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])?", r"\1", prose).strip()


def mypy_code(code: str, memory: Row, met: list[str]) -> Row:
    """Return the failure that an error code of mypy stands for; its trigger begins with messages mypy gave."""
    shapes: dict[str, list[str]] = defaultdict(list)
    for message in met:
        shapes[re.sub(r'"[^"]*"', '"…"', message)].append(message)
    groups = sorted(shapes.values(), key=lambda group: (-len(group), min(map(len, group)), group))
    shown = [min(group, key=lambda text: (len(text), text)) for group in groups[:MESSAGES]]
    text = plain(re.split(r"^\.\. ", memory["text"], maxsplit=1, flags=re.MULTILINE)[0])
    title = plain(memory["title"])
    row = {
        "kind": "failure",
        "name": slug(f"mypy-{code}"),
        "trigger": "\n".join([*(shown or [title]), f"mypy [{code}]: {title}. {shortened(text)}".strip()]),
        "match": rf"error: .+ \[{code}\]",
        "tags": ["mypy"],
        "sources": [f"mypy {MYPY} error code {code}"],
    }
    fix = " ".join(f"{found}." for found in MYPY_FIX.findall(plain(memory["text"], with_colon=True)))
    return {**row, "fix": fix} if fix else row


def mypy_parents(code: str, text: str) -> Iterator[Row]:
    """Yield what the documentation says about which code is a part of which."""
    for parent in PARENT_CODE.findall(text):
        yield relation(f"failure/mypy-{code}", "child_of", f"failure/mypy-{parent}")
    for children in CHILD_CODES.findall(text):
        for child in children:
            yield relation(f"failure/mypy-{child}", "child_of", f"failure/mypy-{code}")


def plain(text: str, *, with_colon: bool = False) -> str:
    """Return reStructuredText as plain prose with code in single backticks, without what leads to an example."""
    text = re.sub(r":[a-z:]+:`([^`<]+?)(?: <[^`]*)?`", lambda found: f"`{found[1].lstrip('~')}`", text)
    text = text.replace("``", "`")
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return "\n".join(part for part in paragraphs if with_colon or not part.endswith(":")).strip()


def shortened(text: str) -> str:
    """Return the first sentences of ``text`` on one line: one at least, others while they fit."""
    kept = ""
    for sentence in re.split(r"(?<=[a-z)`\"][.!?])\s+", " ".join(text.split())):
        if kept and (len(kept) + len(sentence) > TEXT_CHARACTERS or sentence.endswith(":")):
            break
        kept = f"{kept} {sentence}" if kept else sentence
    return kept


# --- together -------------------------------------------------------------------------------------------------------


def relation(source: str, kind: str, target: str) -> Row:
    """Return an edge; a symmetric one with its ends in order, so that each pair stands once."""
    ends = sorted((source, target)) if kind == "variant" else [source, target]
    return {"kind": "relation", "from": ends[0], "type": kind, "to": ends[1]}


def excerpt(data: Path) -> list[bytes]:
    """Return the canonical lines: failures, patterns, entities, relations, each in name order."""
    diagnostics = list(diagnostic_rows(data / "diagnostics"))
    named = {row["to"].removeprefix("weakness/").upper() for row in diagnostics if row.get("type") == "detects"}
    rows = [*diagnostics, *attack_rows(data / "attackgraph", named)]
    refs = {f"{row.get('type', row['kind'])}/{row['name']}" for row in rows if "name" in row}
    assert len(refs) == sum("name" in row for row in rows), "two records have one name"
    kept = [row for row in rows if "name" in row or {row["from"], row["to"]} <= refs]
    for row in kept:
        row.update({field: sorted(set(row[field])) for field in ("tags", "sources") if field in row})
    order = ["failure", "pattern", "entity", "relation"]
    lines = {(order.index(row["kind"]), orjson.dumps(row, option=orjson.OPT_SORT_KEYS)) for row in kept}
    by_name = sorted(lines, key=lambda line: (line[0], orjson.loads(line[1]).get("name", ""), line[1]))
    return [line for _, line in by_name]


def main(data: str, out: str) -> None:
    (Path(out) / "rows.ndjson").write_bytes(b"".join(line + b"\n" for line in excerpt(Path(data))))


if __name__ == "__main__":
    main(*sys.argv[1:3])
