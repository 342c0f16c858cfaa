"""Canonical NDJSON: what a line is, and what is said of one that is none."""

import json
import math
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.kernel.ledger.row import canonical_line, entry, is_plain_edge, plain_edge, read_entry, time_text
from graphmem.kernel.model import Relation
from graphmem.kernel.ndjson import BadLine, decode, encode
from graphmem.names import row_id

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False, width=64).filter(
    lambda value: abs(value) < 2**53
)
characters = st.characters(exclude_categories=["Cs"])
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(characters),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(characters), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(characters), values, max_size=6))
def test_a_row_is_read_back_as_it_was_written(row: dict[str, Any]) -> None:
    assert decode(encode(row)) == row


@given(st.dictionaries(st.text(characters), values, max_size=6))
def test_a_row_is_read_the_same_however_it_is_spaced_escaped_and_ordered(row: dict[str, Any]) -> None:
    reordered = dict(reversed(row.items()))
    for line in (json.dumps(reordered), json.dumps(reordered, ensure_ascii=False, separators=(" , ", " :  "))):
        assert decode(line.encode()) == row
        assert encode(decode(line.encode())) == encode(row)


def test_keys_are_sorted_without_spaces_and_text_is_not_escaped() -> None:
    assert (
        encode({"b": 1, "a": "é🙂/", "B": [1, 0.5, None, True]}) == '{"B":[1,0.5,null,true],"a":"é🙂/","b":1}'.encode()
    )


CREATED = '"created_at":"2026-11-01T09:30:00.000Z"'


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ('"cost":12.0', '"cost":12'),
        ('"cost":1e2', '"cost":100'),
        ('"cost":0.50', '"cost":0.5'),
        ('"cost":12', '"cost":12'),
        ('"flaky":false', ""),
        ('"fix":null', ""),
        ('"tags":[]', ""),
        ('"edited":{}', ""),
        ('"helped":0', ""),
        ('"tags":["b","a","b","Z"]', '"tags":["Z","a","b"]'),
        ('"key":"boom"', ""),
        ('"fix":"\\u00e9"', '"fix":"é"'),
        ('"archived_at":"2026-11-01T10:30:00+01:00"', '"archived_at":"2026-11-01T09:30:00.000Z"'),
        ('"archived_at":"2026-11-01T09:30:00.123999Z"', '"archived_at":"2026-11-01T09:30:00.123Z"'),
        ('"unknown":null', '"unknown":null'),
        ('"unknown":[2,1,2.0]', '"unknown":[2,1,2]'),
    ],
)
def test_a_row_has_one_canonical_form(given: str, canonical: str) -> None:
    def line(part: str) -> bytes:
        parts = [CREATED, '"kind":"failure"', '"name":"boom"', '"trigger":"t"', *([part] if part else [])]
        return ("{" + ",".join(sorted(parts)) + "}").encode()

    found = canonical_line(line(given), frozenset())
    assert found == line(canonical)
    assert canonical_line(found, frozenset()) == found


def test_the_canonical_form_of_a_plain_edge_has_a_canonical_time() -> None:
    line = (
        b'{"to":"failure/b","type":"causes","kind":"relation","from":"failure/a","created_at":"2026-11-01T10:30+01:00"}'
    )
    assert canonical_line(line + b"\r", frozenset()) == (
        b'{"created_at":"2026-11-01T09:30:00.000Z","from":"failure/a","kind":"relation","to":"failure/b","type":"causes"}'
    )


@pytest.mark.parametrize(
    ("given", "weight"),
    [("1", "1"), ("1.0", "1"), ("0.50", "0.5"), ("1e-1", "0.1"), ("1.25", "1.25"), ("2", "2"), ("0", None),
     ("0.0", None), ("2.5", None), ("-1", None), ('"1"', None), ("0.123456789012345", "0.123456789012345")],
)  # fmt: skip
def test_the_canonical_form_of_an_edge_keeps_its_weight(given: str, weight: str | None) -> None:
    line = (
        '{"created_at":"2026-11-01T10:30+01:00","from":"failure/a","kind":"relation","to":"failure/b","type":"causes",'
        f'"weight":{given}}}'
    ).encode()
    if weight is None:
        with pytest.raises(BadLine):
            canonical_line(line, frozenset())
        return
    assert canonical_line(line, frozenset()) == (
        b'{"created_at":"2026-11-01T09:30:00.000Z","from":"failure/a","kind":"relation","to":"failure/b","type":"causes",'
        b'"weight":%b}' % weight.encode()
    )


@given(
    st.one_of(st.integers(-3, 5), st.floats(0, 2.5), st.floats(allow_nan=False), st.booleans(), st.none(), st.text()),
    st.sampled_from(["2026-11-01T10:30+01:00", "2026-11-01T09:30:00.000Z"]),
)
def test_an_edge_that_no_model_checked_is_the_one_that_its_model_makes(weight: object, created: str) -> None:
    row: dict[str, Any] = {
        "created_at": created,
        "from": "failure/a",
        "kind": "relation",
        "to": "failure/b",
        "type": "causes",
        "weight": weight,
    }
    try:
        oracle = Relation.model_validate(row)
    except ValueError:
        assert not is_plain_edge(row)
        return
    assert is_plain_edge(row) == (weight is not None)
    if weight is not None:
        canonical = plain_edge({**row, "created_at": time_text(created)}, frozenset())
        assert canonical.line == entry(oracle, frozenset()).line
        assert canonical.row == entry(oracle, frozenset()).row


@pytest.mark.parametrize(
    ("line", "code", "column"),
    [
        (b'{"a":1,"a":2}', "repeated_key", 8),
        ('{"é":"🙂","a":1,"a":2}'.encode(), "repeated_key", 16),
        (b'{"a":{"b":1,"b":1}}', "repeated_key", 13),
        (b'[{"a":1}]', "bad_json", 1),
        (b'"a"', "bad_json", 1),
        (b'{"a":9007199254740993}', "bad_json", 6),
        (b'{"a":[-9007199254740993]}', "bad_json", 7),
        (b'{"a":123456789012345678901234567890}', "bad_json", 6),
        (b'{"a":"\\ud800"}', "bad_utf8", None),
        (b'{"a":"\\udc00x"}', "bad_utf8", None),
        (b'{"a":NaN}', "bad_json", None),
        (b'{"a":Infinity}', "bad_json", None),
        (b'{"a":1', "bad_json", None),
        (b'{"a":1}}', "bad_json", 8),
        (b'{"a":"\xff"}', "bad_utf8", 7),
        (b'{"a":"\xed\xa0\x80"}', "bad_utf8", 7),
        (b"<<<<<<< HEAD", "conflict_marker", 1),
        (b"=======", "conflict_marker", 1),
        (b">>>>>>> branch", "conflict_marker", 1),
        (b"||||||| base", "conflict_marker", 1),
        (b'{"a":' + b"[" * 32 + b"]" * 32 + b"}", "too_deep", 1),
        (b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", "too_deep", 1),
        (b'{"a":' * 33 + b"1" + b"}" * 33, "too_deep", 1),
    ],
)
def test_a_line_that_is_no_row_is_refused_with_its_place(line: bytes, code: str, column: int | None) -> None:
    with pytest.raises(BadLine) as bad:
        decode(line)
    assert bad.value.code == code
    assert bad.value.expected
    if column is not None:
        assert bad.value.column == column


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":9007199254740992,"b":-9007199254740992}',
        b'{"a":' + b"[" * 31 + b"]" * 31 + b"}",
        b'{"a":"\\ud83d\\ude42"}',
        b'{"a":"{\\"a\\":1,\\"a\\":2}"}',
        b'{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}',
        b'{"a":{"b":1},"b":{"a":1}}',
        b' {"a" : "b\\\\" , "c":"\\": "}\t',
    ],
)
def test_a_line_that_only_looks_strange_is_read(line: bytes) -> None:
    assert decode(line) == json.loads(line)


@given(st.integers(min_value=2**53 + 1) | st.integers(max_value=-(2**53) - 1))
def test_no_integer_beyond_2_to_the_53_is_read(number: int) -> None:
    with pytest.raises(BadLine):
        decode(f'{{"a":{number}}}'.encode())


@pytest.mark.parametrize(
    ("row", "key_text"),
    [
        ({"kind": "failure", "name": "b", "key": "a", "trigger": "t"}, "failure/a"),
        ({"kind": "failure", "name": "b", "trigger": "t"}, "failure/b"),
        ({"kind": "entity", "type": "part", "name": "A b"}, "part/A b"),
        (
            {"kind": "relation", "from": "failure/b", "type": "causes", "to": "failure/a"},
            "failure/b\tcauses\tfailure/a",
        ),
        (
            {"kind": "relation", "from": "failure/b", "type": "variant", "to": "failure/a"},
            "failure/a\tvariant\tfailure/b",
        ),
        (
            {"kind": "feedback", "ref": "failure/a", "helped": True, "at": "2026-11-01T09:30:00Z", "task": "t"},
            "t\tfailure/a",
        ),
        ({"kind": "feedback", "ref": "failure/a", "helped": True, "at": "2026-11-01T09:30:00Z", "id": "i"}, "i"),
    ],
)
def test_a_row_is_placed_by_the_hash_of_its_key_text(row: dict[str, Any], key_text: str) -> None:
    extra = {} if row["kind"] == "feedback" else {"created_at": "2026-11-01T09:30:00.000Z"}
    assert read_entry(orjson.dumps({**row, **extra}), frozenset({"variant"})).id == row_id(key_text)


@given(st.lists(st.text(characters, min_size=1), min_size=2, unique=True))
def test_the_order_of_numbers_is_the_order_of_the_hashes(keys: list[str]) -> None:
    from hashlib import sha256
    from unicodedata import normalize

    assert sorted(keys, key=row_id) == sorted(keys, key=lambda key: sha256(normalize("NFC", key).encode()).hexdigest())


@pytest.mark.parametrize(
    ("fields", "column", "message"),
    [
        ({"kind": "nonsense"}, 1, "nonsense"),
        ({"trigger": None}, 1, "trigger"),
        ({"cost": -1}, 1, "cost"),
        ({"cost": "1"}, 1, "cost"),
        ({"cost": True}, 1, "cost"),
        ({"flaky": 1}, 1, "flaky"),
        ({"tags": "build"}, 1, "tags"),
        ({"tags": [1]}, 1, "tags"),
        ({"trigger": "  "}, 1, "trigger"),
        ({"match": "("}, 1, "match"),
        ({"name": "Not A Slug"}, 1, "not-a-slug"),
        ({"created_at": "yesterday"}, 1, "created_at"),
        ({"created_at": "2026-11-01T09:30:00"}, 1, "created_at"),
        ({"created_at": 1793525400}, 1, "created_at"),
        ({"edited": {"fix": "never"}}, 1, "edited"),
    ],
)
def test_a_row_that_its_model_refuses_says_which_field(fields: dict[str, Any], column: int, message: str) -> None:
    row = {"kind": "failure", "name": "boom", "trigger": "t", "created_at": "2026-11-01T09:30:00Z", **fields}
    line = encode(row)
    with pytest.raises(BadLine) as bad:
        read_entry(line, frozenset())
    assert message in bad.value.message + bad.value.expected
    assert column <= bad.value.column <= len(line)


def test_the_column_of_a_bad_field_is_where_its_name_stands() -> None:
    line = b'{"created_at":"2026-11-01T09:30:00Z","kind":"failure","name":"boom","trigger":"t","cost":-1}'
    with pytest.raises(BadLine) as bad:
        read_entry(line, frozenset())
    assert bad.value.column == line.index(b'"cost"') + 1


def test_no_number_that_is_none_is_ever_written() -> None:
    for value in (math.nan, math.inf):
        with pytest.raises(Exception):  # noqa: B017 - whichever of the model or the encoder says no
            read_entry(encode({"kind": "failure", "name": "n", "trigger": "t", "created_at": "x", "cost": value}), ())
