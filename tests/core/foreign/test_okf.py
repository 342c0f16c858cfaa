"""Open Knowledge Format: concepts by their type, links, provenance, trust and lifecycle."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.features.exchange.importers.real import ARE_THERE, SAMPLES, SHARED
from tests.sample import open_memory

BUNDLES = ("acme_retail", "crypto_bitcoin", "ga4")


def write(folder: Path, **notes: str) -> Path:
    for name, text in notes.items():
        path = folder / "bundle" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder / "bundle"


def test_the_sample_becomes_constraints_entities_and_links(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(SAMPLES / "okf")
        assert answer.read == {
            "concept": 5, "index file": 2, "link": 13, "log file": 1, "other file": 1,
        }  # fmt: skip
        assert answer.created == {"constraint": 2, "entity": 3, "feedback": 5, "relation": 13 - answer.dangling}
        old: Any = memory.get("metric/metrics/gross-margin-legacy").record
        assert (old.archive_reason, old.archived_at is not None) == ("deprecated", True)
        policy: Any = memory.list("constraint").results[0].record
        assert policy.constraint.startswith("Acme Retail")
        assert policy.x_okf["body"].startswith("# Acme Retail")
        again = memory.imports.file(SAMPLES / "okf")
        assert (again.created, again.updated) == ({}, {})


def test_a_concept_is_a_record_of_the_kind_that_its_type_says(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        use_kuzu="---\ntype: Decision\ntitle: Use Kuzu\ndescription: d\nsources:\n- resource: https://x.y\n---\n"
        "It is fast.\n",
        retry="---\ntype: Pattern\ntitle: Retry\ndescription: a call fails\ntags: [net]\n"
        "stale_after: 2027-01-31T00:00:00Z\nverified: {by: 'human:a', at: 2026-01-01T00:00:00Z}\n---\n"
        "Wait, then try again. See [it](use_kuzu.md#why).\n",
        table="---\ntype: BigQuery Table\ndescription: d\nnot: [{term: x, why: y}]\n---\n"
        "[gone](nothing.md) `[code](a.md)`\n",
        plain="no front matter\n",
        broken="---\ntype: [\n---\n",
    )  # fmt: skip
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.created == {"decision": 1, "entity": 1, "feedback": 1, "pattern": 1, "relation": 1}
        assert answer.dangling == 2
        reasons = {one.place: one.reason for one in answer.skipped}
        assert reasons["plain.md"] == "its front matter has no type"
        assert reasons["broken.md"].startswith("it cannot be read: its front matter is not YAML")
        decision: Any = memory.list("decision").results[0].record
        assert (decision.decision, decision.reasoning) == ("Use Kuzu", "It is fast.")
        assert decision.sources == ("https://x.y", "okf:use_kuzu")
        pattern: Any = memory.list("pattern").results[0].record
        assert (pattern.trigger, pattern.tags, pattern.check_after) == ("a call fails", ("net",), "2027-01-31")
        assert pattern.helped == 1
        table: Any = memory.get("big_query_table/table").record
        assert table.x_okf["not"] == [{"term": "x", "why": "y"}]


def test_pages_of_before_links_were_written_are_read_as_they_were(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        duck='---\ntype: pattern\ntitle: duck\ndescription: it goes boom\n---\n\nDuck.\n\n## Related\n\n'
        'See [it](plan.md).\n\n<!-- graphmem: {"ref":"pattern/duck","relations":[{"type":"prerequisite",'
        '"to":"decision/plan"}]} -->\n',
        plan="---\ntype: Decision\ntitle: Use the cart\ndescription: d\n---\nIt is fast.\n",
        oops="---\ntype: Failure\ntitle: Oops\ndescription: d\n---\nText.\n",
    )  # fmt: skip
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.created == {"decision": 1, "entity": 1, "pattern": 1, "relation": 1}
        duck: Any = memory.get("pattern/duck")
        assert duck.record.insight == "Duck.\n\n## Related\n\nSee [it](plan.md)."
        assert [(edge.type, edge.target.partition("/")[0]) for edge in duck.relations] == [("prerequisite", "decision")]
        assert memory.list("their_failure").total == 1


def test_links_out_of_the_folder_and_links_of_the_file_system_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("---\ntype: Secret\ndescription: s\n---\n")
    path = write(tmp_path, a="---\ntype: Note\ndescription: d\n---\n[up](../secret.md)\n")
    (path / "link.md").symlink_to(tmp_path / "secret.md")
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert (answer.created, answer.dangling) == ({"entity": 1}, 1)


@ARE_THERE
@pytest.mark.parametrize("name", BUNDLES)
def test_a_whole_bundle_is_accounted_for(name: str, tmp_path: Path) -> None:
    told = json.loads((SHARED / "okf" / "expected.json").read_bytes())[name]
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(SHARED / "okf" / name)
        made = {kind: number for kind, number in answer.created.items() if kind not in ("feedback", "relation")}
        assert sum(made.values()) == answer.read["concept"] == told["concepts"]
        assert answer.created["relation"] == answer.read["link"] == told["links_between_concepts"]
        assert answer.dangling == len(told["broken_links"])
        assert answer.read.get("index file", 0) == told["index_files"]
        assert answer.read.get("log file", 0) == told["log_files"]
        assert answer.read.get("other file", 0) == len(told["other_files"])
        verified = told["trust"].get("human-reviewed", 0)
        assert answer.created.get("feedback", 0) == verified
        archived = sum(memory.list(kind, archived=True).total for kind in (None,))
        assert archived == told["status"].get("deprecated", 0)
        assert memory.store.validate().ok
