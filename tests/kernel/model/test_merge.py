"""Merging two branches: what each rule does, and that the order of merges never matters."""

import itertools
import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from graphmem.kernel.git.merge_driver import rule_table
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.authors import changed_by
from graphmem.kernel.model.merge import Rules, merged
from graphmem.kernel.ndjson import encode
from graphmem.kernel.versions import by_name, pairs
from tests.generate_schema import row_names

TABLE = rule_table()["kinds"]
FAILURE = Rules.of(TABLE["failure"])
State = Mapping[str, dict[str, Any]]


def time(second: float) -> str:
    """Return a moment, counted in seconds from the first."""
    return f"2026-11-01T09:{int(second) // 60:02}:{int(second) % 60:02}.{round(second % 1 * 1000):03}Z"


def failure(created: float = 0, edited: Any = None, **fields: Any) -> dict[str, Any]:
    row = {"kind": "failure", "name": "a", "trigger": "t", "created_at": time(created), **fields}
    return {**row, "edited": {name: time(at) for name, at in edited.items()}} if edited else row


def aside(field: str, text: str, at: float | None = None) -> dict[str, str]:
    return {"field": field, "text": text} | ({} if at is None else {"at": time(at)})


def test_every_field_of_every_kind_has_its_rule() -> None:
    for kind, model in MODELS.items():
        assert set(row_names(model)) == set(TABLE[kind]["fields"])


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        pytest.param(
            failure(fix="a"), failure(fix="b", edited={"fix": 5}), failure(fix="a", cost=3, edited={"cost": 4}),
            failure(fix="b", cost=3, edited={"fix": 5, "cost": 4}),
            id="each side changed another field",
        ),
        pytest.param(
            failure(fix="a"), failure(fix="b", edited={"fix": 5}), failure(fix="c", edited={"fix": 6}),
            failure(fix="c", edited={"fix": 6}, alternates=[aside("fix", "b")]),
            id="both changed one text: the later, and the other is kept aside",
        ),
        pytest.param(
            failure(fix="a"), failure(fix="b", edited={"fix": 5}), failure(fix="c", edited={"fix": 5}),
            failure(fix="c", edited={"fix": 5}, alternates=[aside("fix", "b")]),
            id="at the same time: the greater",
        ),
        pytest.param(
            failure(cost=1), failure(cost=2, edited={"cost": 5}), failure(cost=10, edited={"cost": 5}),
            failure(cost=2, edited={"cost": 5}),
            id="of numbers nothing is kept aside",
        ),
        pytest.param(
            failure(tags=["a", "b"]), failure(tags=["b", "c"], edited={"tags": 5}),
            failure(tags=["a", "b", "d"], edited={"tags": 4}),
            failure(tags=["b", "c", "d"], edited={"tags": 5}),
            id="sets: what either added, less what either removed",
        ),
        pytest.param(
            failure(cites=["a.py:f#1"]), failure(cites=["a.py:f#2"], edited={"cites": 5}),
            failure(cites=["a.py:f#1", "b.py#1"], edited={"cites": 4}),
            failure(cites=["a.py:f#2", "b.py#1"], edited={"cites": 5}),
            id="cites: code cited anew here, other code cited there",
        ),
        pytest.param(
            failure(versions={"p": "1", "q": "1"}), failure(versions={"p": "2", "q": "1"}, edited={"versions": 5}),
            failure(versions={"p": "3", "r": "1"}, edited={"versions": 4}),
            failure(versions={"p": ["2", "3"], "r": "1"}, edited={"versions": 5}),
            id="versions: two of one package are both kept, what one side removed is gone",
        ),
        pytest.param(failure(), None, failure(fix="b", edited={"fix": 5}), failure(fix="b", edited={"fix": 5}),
                     id="deleted here, changed there: the change"),
        pytest.param(failure(), failure(), None, None, id="deleted there, as it was here: gone"),
        pytest.param(
            None, failure(1, fix="ours"), failure(2),
            failure(1, fix="ours", edited={"name": 2, "trigger": 2}),
            id="added on both sides: what only one of them says stays",
        ),
        pytest.param(
            None, failure(1, fix="ours"), failure(2, fix="theirs"),
            failure(1, fix="theirs", edited={"fix": 2, "name": 2, "trigger": 2},
                    alternates=[aside("fix", "ours")]),
            id="added on both sides: the later text, and the other is kept aside",
        ),
        pytest.param(
            failure(),
            failure(archived_at=time(5), archive_reason="old", edited={"archived_at": 5, "archive_reason": 5}),
            failure(fix="b", edited={"fix": 6}),
            failure(archived_at=time(5), archive_reason="old", fix="b",
                    edited={"archived_at": 5, "archive_reason": 5, "fix": 6}),
            id="archived here, edited there: both",
        ),
        pytest.param(
            failure(archived_at=time(1), archive_reason="old", edited={"archived_at": 1, "archive_reason": 1}),
            failure(edited={"archived_at": 6, "archive_reason": 6}),
            failure(archived_at=time(1), archive_reason="gone", edited={"archived_at": 1, "archive_reason": 5}),
            failure(edited={"archived_at": 6, "archive_reason": 6}),
            id="restored here, another reason there: one of the two states, whole",
        ),
        pytest.param(
            failure(new={"x": 1}), failure(new={"x": 2}, edited={"new": 5}), failure(new={"x": 3}, edited={"new": 6}),
            failure(new={"x": 3}, edited={"new": 6}, alternates=[aside("new", '{"x":2}')]),
            id="a field that this version does not know: like a text",
        ),
        pytest.param(
            failure(), failure(name="b", key="a", aliases=["a2"], edited={"name": 5, "aliases": 5}),
            failure(fix="x", edited={"fix": 6}),
            failure(name="b", key="a", aliases=["a2"], fix="x", edited={"name": 5, "aliases": 5, "fix": 6}),
            id="renamed here, edited there: one record",
        ),
        pytest.param(
            failure(1), failure(1, fix="a", edited={"fix": 5}),
            {**failure(1, fix="b"), "edited": {"fix": "2026-11-01T10:00:06+01:00"}},
            failure(1, fix="b", edited={"fix": 6}, alternates=[aside("fix", "a")]),
            id="times are compared as instants",
        ),
        pytest.param(
            failure(fix="secret"), failure(9, fix="from the vault"), failure(fix="secret 2", edited={"fix": 12}),
            failure(9, fix="from the vault"),
            id="destroyed and created again here, edited there: nothing of the destroyed one comes back",
        ),
        pytest.param(
            failure(alternates=[aside("fix", "a"), aside("fix", "b")]),
            failure(alternates=[aside("fix", "a"), aside("fix", "c", 5)]),
            failure(alternates=[aside("fix", "a"), aside("fix", "b"), aside("fix", "d", 6)]),
            failure(alternates=[aside("fix", "a"), aside("fix", "c"), aside("fix", "d")]),
            id="alternates: what either added, less what either removed, without times",
        ),
    ],
)  # fmt: skip
def test_a_rule(base: Any, ours: Any, theirs: Any, expected: Any) -> None:
    for a, b in ((ours, theirs), (theirs, ours)):
        found = merged(base, a, b, FAILURE)
        assert (found and encode(found)) == (expected and encode(expected))


@pytest.mark.parametrize("kind", ["feedback", "event"])
def test_of_two_reports_of_one_thing_the_later_counts(kind: str) -> None:
    first, second = ({"kind": kind, "ref": "failure/a", "task": "task/c/001-x", "at": time(s), "helped": h}
                     for s, h in ((5, True), (6, False)))  # fmt: skip
    for a, b in ((first, second), (second, first)):
        assert merged(None, a, b, Rules()) == second


def test_a_run_keeps_what_either_side_saw() -> None:
    first, second = ({"kind": "run", "run": "r", "at": time(s), "seen": seen} for s, seen in ((5, ["b"]), (6, ["a"])))
    assert merged(None, first, second, Rules()) == merged(None, second, first, Rules()) == {**first, "seen": ["a", "b"]}


# --- the order of merges -----------------------------------------------------------------------------------------

TEXTS = ("fix", "trigger", "new")


def changed(row: dict[str, Any], field: str, value: Any, now: float) -> dict[str, Any]:
    """Return a row with another value, as ``edit`` leaves it: later than what it replaces, also with a clock back."""
    before = row.get("edited", {}).get(field, row["created_at"])
    later = max(time(now), before[:-4] + f"{int(before[-4:-1]) + 1:03}Z")
    after = {**row, "edited": {**row.get("edited", {}), field: later}, field: value}
    return {name: found for name, found in after.items() if found is not None}


def put_aside(row: dict[str, Any], texts: set[tuple[str, str]]) -> dict[str, Any]:
    """Return a row with more alternates, as ``add`` leaves it."""
    known = {(other["field"], other["text"]) for other in row.get("alternates", ())}
    kept = known | {(field, text) for field, text in texts if row.get(field) != text}
    return {**row, "alternates": [aside(*pair) for pair in sorted(kept)]} if kept else row


def live(state: State, rng: random.Random, steps: int, since: int) -> State:  # noqa: PLR0912 - one case a kind of work
    """Return a state after some random work."""
    rows, signed = dict(state), dict(state)
    work = ["edit"] * 4 + [
        "aside",
        "aside",
        "replace",
        "unset",
        "cost",
        "new",
        "new",
        "archive",
        "restore",
        "tag",
        "version",
        "delete",
        "rename",
    ]
    for step in range(steps + 1):
        for name in [name for name, row in rows.items() if row is not signed.get(name)] if rng.random() < 0.9 else ():
            author = rng.choice(("ana", "bo")), rng.choice(("cli", "mcp"))
            signed[name] = rows[name] = changed_by(author, signed.get(name), rows[name])
        if step == steps:
            break
        now = since + rng.randrange(20)
        key = rng.choice(sorted(rows)) if rows else None
        match rng.choice(work):
            case "new":
                name = f"n{rng.randrange(4)}"
                given = {field: rng.choice("abc") for field in TEXTS if field == "trigger" or rng.random() < 0.5}
                rows.setdefault(name, {**failure(now, **given), "name": name})
            case _ if key is None:
                continue
            case "edit":
                row, field, text = rows[key], rng.choice(TEXTS), rng.choice("abc")
                is_known = any(other["field"] == field and other["text"] == text for other in row.get("alternates", ()))
                after = changed(row, field, text, now)
                rows[key] = put_aside(after, {(field, row[field])} if is_known and field in row else set())
            case "aside":
                rows[key] = put_aside(rows[key], {("fix", rng.choice("abc"))})
            case "replace":
                old = {("fix", rows[key]["fix"])} if "fix" in rows[key] else set()
                rows[key] = put_aside(changed(rows[key], "fix", rng.choice("abc"), now), old)
            case "unset":
                rows[key] = changed(rows[key], "fix", None, now)
            case "cost":
                rows[key] = changed(rows[key], "cost", rng.randrange(3), now)
            case "archive":
                row = changed(rows[key], "archived_at", time(now), now)
                rows[key] = changed(row, "archive_reason", rng.choice("ab"), now)
            case "restore" if "archived_at" in rows[key]:
                rows[key] = changed(changed(rows[key], "archived_at", None, now), "archive_reason", None, now)
            case "tag":
                tags = set(rows[key].get("tags", ())) ^ {rng.choice("xyz")}
                rows[key] = changed(rows[key], "tags", sorted(tags) or None, now)
            case "version":
                versions = pairs(rows[key].get("versions", {})) ^ {(rng.choice("pq"), rng.choice("12"))}
                rows[key] = changed(rows[key], "versions", by_name(versions) or None, now)
            case "rename":
                rows[key] = changed({**rows[key], "key": key}, "name", f"m{rng.randrange(3)}", now)
            case "delete" if rng.random() < 0.5:
                del rows[key]
    return rows


def merge(base: State, ours: State, theirs: State) -> State:
    keys = {*base, *ours, *theirs}
    found = {key: merged(base.get(key), ours.get(key), theirs.get(key), FAILURE) for key in keys}
    return {key: row for key, row in found.items() if row is not None}


@pytest.mark.long
def test_the_order_in_which_three_branches_are_merged_never_matters() -> None:
    for seed in range(4_000):
        rng = random.Random(seed)
        base = live({}, rng, 12, 0)
        branches = [live(base, rng, rng.randrange(1, 7), 100) for _ in range(3)]
        results = {
            json.dumps(merge(base, merge(base, branches[a], branches[b]), branches[c]), sort_keys=True)
            for a, b, c in itertools.permutations(range(3))
        }
        assert len(results) == 1, f"seed {seed}"


def test_what_only_one_side_changed_is_there_afterwards() -> None:
    for seed in range(2_000):
        rng = random.Random(seed)
        base = live({}, rng, 8, 0)
        ours = live(base, rng, rng.randrange(1, 7), 100)
        for key, row in merge(base, ours, base).items():
            assert row == ours[key]
        theirs = {key: changed(row, "cost", 99, 300) for key, row in base.items()}
        for key, row in merge(base, ours, theirs).items():
            if key in ours and key in base:
                for field in ("fix", "trigger", "new", "tags", "archived_at", "name"):
                    assert row.get(field) == ours[key].get(field), (seed, key, field)
