"""Events of all clients in one form."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.features.hooks.events import INTERRUPTED, MOST_TEXT, HookEvent, ends_of, parsed, start_said


def after(response: object, name: str = "PostToolUse", **more: Any) -> HookEvent:
    given = {"hook_event_name": name, "session_id": "s", "tool_name": "Bash", "tool_response": response, **more}
    found = parsed(given)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("response", "status"),
    [
        ({"stdout": "Exit code: 1", "stderr": ""}, 0),
        ({"stdout": "", "interrupted": True}, INTERRUPTED),
        ({"stdout": "", "exit_code": 3}, 3),
        ({"metadata": {"exitCode": 2}}, 2),
        ({"exit_code": True, "error": "gone"}, 1),
        ("Exit code: 4\nOutput:\n", 4),
        ("Process exited with code 5\n", 5),
        ({"llmContent": "Output: (empty)\nExit Code: 6\n"}, 6),
        ({"llmContent": "Output: ok\nCode: 404\n"}, None),
        ({"stdout": "", "backgroundTaskId": "b1"}, None),
        ("x" * 1000 + "\nexit code: 7\n" + "y" * 1000, None),
        ("3 passed", None),
        (None, None),
    ],
)
def test_the_status_is_what_the_client_says(response: object, status: int | None) -> None:
    assert after(response).status == status


@pytest.mark.parametrize(
    ("values", "command"),
    [
        ({"command": "ls -l"}, "ls -l"),
        ({"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ({"cmd": ["ls", "-l"]}, "ls -l"),
        ({"command": []}, ""),
        ({"command": [1]}, ""),
        ({}, ""),
        ("ls", ""),
    ],
)
def test_a_command_is_a_text_or_a_list_of_words(values: object, command: str) -> None:
    assert after("", tool_input=values).command == command


def test_the_files_of_an_edit_are_found_in_each_clients_form() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n*** Delete File: b.py\n*** End Patch"
    forms = (("Edit", {"file_path": "x.py"}, ("x.py",)), ("apply_patch", {"input": patch}, ("a.py", "b.py")),
             ("Bash", {"file_path": "x.py"}, ()))  # fmt: skip
    for tool, values, paths in forms:
        given = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": values}
        found = parsed(given)
        assert found is not None
        assert found.paths == paths


@pytest.mark.parametrize(
    ("output", "text", "status"),
    [('{"stdout":"boom","exitCode":1}', "boom", 1), ("{boom", "{boom", None), ("boom", "boom", None)],
)
def test_the_output_of_cursor_is_json_in_a_text(output: str, text: str, status: int | None) -> None:
    found = after(None, tool_output=output)
    assert (found.text, found.status) == (text, status)


def test_of_a_very_long_output_the_beginning_and_the_end_are_kept() -> None:
    text = ends_of("first" + "x" * 2 * MOST_TEXT + "last")
    assert len(text) == MOST_TEXT + 1
    assert (text[:5], text[-4:]) == ("first", "last")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from(["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "AfterTool", "SessionEnd", "x"]),
    st.dictionaries(
        st.sampled_from(["tool_name", "tool_input", "tool_response", "tool_output", "prompt", "source", "error"]), JSON
    ),
)
def test_any_object_is_an_event_or_none(name: str, fields: dict[str, Any]) -> None:
    found = parsed({"hook_event_name": name, "session_id": "s", **fields})
    assert (found is None) == (name == "x")


@pytest.mark.parametrize(
    ("client", "event", "is_told"),
    [
        ("claude-code", {"hook_event_name": "SessionStart", "session_id": "s"}, True),
        ("cursor", {"hook_event_name": "sessionStart", "conversation_id": "s"}, True),
        ("claude-code", {"hook_event_name": "PreToolUse", "session_id": "s"}, False),
        ("claude-code", {"hook_event_name": "SessionStart"}, False),
        ("nobody", {"hook_event_name": "SessionStart", "session_id": "s"}, False),
        ("claude-code", ["SessionStart"], False),
    ],
)
def test_only_the_start_of_a_session_is_told_why_the_memory_is_silent(
    client: str, event: object, *, is_told: bool
) -> None:
    said = start_said(client, json.dumps(event), "why")
    assert ("why" in said) == is_told
    assert start_said(client, json.dumps(event)[:-1], "why") == ""
