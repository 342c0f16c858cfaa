"""The front answers as the SDK would, or leaves it to the SDK."""

import json
import re
from pathlib import Path
from threading import Thread
from typing import Any, TextIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from graphmem.doors.mcp.front import ANSWERS, CAPABILITIES, INFO, RESERVED, VERSION, Front, whole
from tests.doors.mcp.answers import CLIENT, LISTS, mcp_answers, request
from tests.doors.mcp.conversation import Pipe, conversation
from tests.pace import examples

KNOWN: dict[str, Any] = json.loads(Path(ANSWERS).read_text("utf-8"))
LEGACY, MODERN = LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


def both(*lines: str) -> tuple[list[Any], list[Any], bool]:
    """Return what a client gets with the front and from the SDK alone, and whether the SDK was needed with it."""
    answers, is_needed = conversation(lines, KNOWN)
    alone, _ = conversation(lines)
    return [json.loads(answer) for answer in answers], [json.loads(answer) for answer in alone], is_needed


def test_the_answers_are_those_of_the_server() -> None:
    assert Path(ANSWERS).read_bytes() == mcp_answers(), "run: python -m tests.generate"


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, "1999-01-01", ""])
def test_a_handshake_and_the_lists_need_no_sdk_in_any_version(version: str) -> None:
    lines = [request(1, "initialize", version), INITIALIZED, request("two", "ping", LEGACY)]
    lines += [request(10 + number, method, LEGACY) for number, method in enumerate(LISTS)]
    answers, alone, is_needed = both(*lines)
    assert answers == alone
    assert len(answers) == 6
    assert not is_needed


def test_discovery_and_the_lists_need_no_sdk_without_a_handshake() -> None:
    answers, alone, is_needed = both(
        *(request(number, method, MODERN) for number, method in enumerate(("server/discover", *LISTS)))
    )
    assert answers == alone
    assert len(answers) == 5
    assert not is_needed


def test_what_a_client_can_do_is_looked_at_as_the_sdk_does() -> None:
    """What Claude Code, VS Code and Gemini CLI were seen to declare needs no SDK."""
    declared: list[dict[str, Any]] = [
        {"roots": {}, "elicitation": {"form": {}, "url": {}}},
        {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}},
        {"experimental": {"x": {"y": 1}}, "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}},
    ]
    for able in declared:
        answers, alone, is_needed = both(
            request(1, "initialize", LEGACY, capabilities=able), request(2, "ping", LEGACY)
        )
        assert answers == alone
        assert not is_needed


@pytest.mark.parametrize(
    "line",
    [
        "\n",
        "not JSON\n",
        "[]\n",
        '{"jsonrpc":"2.0","id":null,"method":"ping"}\n',
        '{"jsonrpc":"2.0","id":1.0,"method":"ping"}\n',
        '{"jsonrpc":"1.0","id":7,"method":"ping"}\n',
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":null}\n',
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}\n',
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":null}}\n',
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"progressToken":true}}}\n',
        '{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}\n',
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"x":NaN,"y":-Infinity}}}\n',
        '{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}\n',
        '{"jsonrpc":"2.0","id":true,"method":"ping"}\n',
        '{"jsonrpc":"2.0","id":7,"result":{}}\n',
        '{"jsonrpc":"2.0","id":7,"method":"no/such"}\n',
        '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}\n',
        '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":7}}\n',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n',
        '{"jsonrpc":"2.0","method":"no/such","params":{}}\n',
        request(7, "initialize", LEGACY),
        request(7, "initialize", LEGACY, capabilities=None),
        request(7, "initialize", LEGACY, capabilities={"roots": {"listChanged": "x"}}),
        request(7, "initialize", LEGACY, capabilities={"roots": {"listChanged": {}}}),
        request(7, "initialize", LEGACY, capabilities={"sampling": {"tools": True}}),
        request(7, "initialize", LEGACY, capabilities={"tasks": {"requests": {"sampling": {"createMessage": True}}}}),
        request(7, "initialize", LEGACY, clientInfo={"name": "x"}),
        request(7, "initialize", LEGACY, clientInfo={**CLIENT, "icons": [7]}),
        request(7, "initialize", LEGACY, protocolVersion=7),
        request(7, "server/discover", MODERN),
        request(7, "tools/list", "2099-01-01", _meta={VERSION: "2099-01-01", CAPABILITIES: {}}),
        request(7, "tools/list", MODERN, _meta={VERSION: 7, CAPABILITIES: {}}),
        request(7, "tools/list", MODERN, _meta={VERSION: MODERN}),
        request(7, "tools/list", MODERN, _meta={VERSION: MODERN, CAPABILITIES: {"sampling": 7}}),
        request(7, "tools/list", MODERN, _meta={VERSION: MODERN, CAPABILITIES: {}, INFO: {"name": 7}}),
        request(7, "tools/list", MODERN, _meta={VERSION: MODERN, CAPABILITIES: {}, f"{RESERVED}logLevel": "loud"}),
        request(7, "ping", MODERN),
        request(7, "tools/call", LEGACY, name="status", arguments={}),
        request(7, "tools/call", LEGACY, name="no-such"),
        request(7, "tools/call", LEGACY, name="status", arguments=[]),
        request(7, "tools/call", MODERN, name="status"),
    ],
)
@pytest.mark.parametrize("era", ["none", "legacy", "modern"])
def test_an_odd_line_gets_what_the_sdk_gives_it_and_so_does_the_next(line: str, era: str) -> None:
    opening = {"none": [], "legacy": [request(1, "initialize", LEGACY), INITIALIZED],
               "modern": [request(1, "server/discover", MODERN)]}[era]  # fmt: skip
    after = [request(8, "tools/list", MODERN if era == "modern" else LEGACY), request(9, "ping", LEGACY)]
    answers, alone, _ = both(*opening, line, *after)
    assert answers == alone


TEXTS = st.sampled_from(["", "x", "é", "\n", '"'])
ANY = st.recursive(st.none() | st.booleans() | st.integers(-2, 2) | TEXTS, lambda inner: st.lists(inner, max_size=2)
                   | st.dictionaries(TEXTS, inner, max_size=2), max_leaves=4)  # fmt: skip
ABLE = ANY | st.dictionaries(
    st.sampled_from(["roots", "sampling", "elicitation", "experimental", "extensions", "tasks", "other"]),
    ANY | st.dictionaries(st.sampled_from(["listChanged", "form", "url", "tools", "list", "x"]), ANY, max_size=2),
    max_size=3,
)
WHO = st.just(CLIENT) | st.dictionaries(st.sampled_from(["name", "version", "title", "icons"]), ANY, max_size=4)
VERSIONS = st.sampled_from([LEGACY, MODERN, "2025-06-18", "x"]) | ANY
META = st.fixed_dictionaries({}, optional={VERSION: VERSIONS, CAPABILITIES: ABLE, INFO: WHO, "progressToken": ANY,
                                           f"{RESERVED}other": ANY, "other": ANY})  # fmt: skip
PARAMS = st.fixed_dictionaries(
    {}, optional={"_meta": META | ANY, "protocolVersion": VERSIONS, "capabilities": ABLE, "clientInfo": WHO,
                  "cursor": ANY, "other": ANY},
)  # fmt: skip
METHODS = st.sampled_from(["initialize", "ping", "server/discover", *LISTS, "notifications/initialized", "other"])
LINES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS},
    optional={"id": st.integers(100, 103) | TEXTS | ANY, "params": PARAMS},
).map(lambda message: json.dumps(message, ensure_ascii=False) + "\n")
USUAL = st.sampled_from(
    [request(1, "initialize", LEGACY), INITIALIZED, request(2, "ping", LEGACY), request(3, "tools/list", LEGACY),
     request(4, "server/discover", MODERN), request(5, "prompts/list", MODERN), "\n", "x\n"]
)  # fmt: skip


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(USUAL | LINES, min_size=1, max_size=5))
@pytest.mark.long
def test_whatever_a_client_sends_it_gets_what_the_sdk_gives(lines: list[str]) -> None:
    answers, alone, _ = both(*lines)
    assert answers == alone


def test_the_end_of_the_input_ends_it_without_the_sdk() -> None:
    assert conversation([], KNOWN) == ([], False)
    assert not conversation([request(1, "initialize", LEGACY)], KNOWN)[1]


def test_the_sdk_reads_on_once_it_has_answered_the_opening_which_is_not_written() -> None:
    pipe = Pipe([])
    front = Front(cast(TextIO, pipe), cast(TextIO, pipe), KNOWN)
    front.opening, front.kept = "opening\n", ["next\n"]
    assert front.readline() == "opening\n"
    read: list[str] = []
    reader = Thread(target=lambda: read.append(front.readline()))
    reader.start()
    reader.join(0.05)
    assert read == []
    front.write("the answer to the opening\n")
    reader.join()
    front.write("the next answer\n")
    assert read == ["next\n"]
    assert pipe.answers == ["the next answer\n"]


@given(
    st.lists(st.sampled_from(["a", "\\", '"', "\ud83d", "\ude00", "\U0001f600", "u", "d83d", "\n", "é"]), max_size=12)
)
def test_half_a_character_in_a_line_is_replaced_and_all_else_stays(parts: list[str]) -> None:
    text = json.loads(json.dumps("".join(parts)))  # two halves beside each other are one character
    line = json.dumps({"text": text})
    found = whole(line)
    assert json.loads(found) == {"text": re.sub("[\ud800-\udfff]", "\ufffd", text)}
    assert text.isascii() is False or found == line
