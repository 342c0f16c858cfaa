"""What the SDK's server answers to the first messages of a client, as ``graphmem/doors/mcp/answers.json`` has it."""

import json
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from graphmem.doors.mcp.front import CAPABILITIES, INFO, VERSION
from tests.doors.mcp.conversation import conversation

FILE = "graphmem/doors/mcp/answers.json"
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
CLIENT = {"name": "tests", "version": "0"}


def mcp_answers() -> bytes:
    """Return the file."""
    modern = {version: answers_of(version, "server/discover", *LISTS) for version in MODERN_PROTOCOL_VERSIONS}
    legacy = answers_of(LATEST_HANDSHAKE_VERSION, "initialize", "ping", *LISTS)
    found = {"handshake": HANDSHAKE_PROTOCOL_VERSIONS, "legacy": legacy, "modern": modern}
    return (spread(found) + "\n").encode()


def spread(value: Any, indent: str = "") -> str:
    """Return JSON with what is short on one line, such as a tool, so that a diff shows what changed."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= 2_000 or not isinstance(value, dict | list):
        return line
    inner = f"{indent} "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + spread(one, inner) for one in value) + f"\n{indent}]"
    parts = (f"{inner}{json.dumps(name)}: {spread(one, inner)}" for name, one in value.items())
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


def answers_of(version: str, *methods: str) -> dict[str, Any]:
    """Return the results of some methods in a version of the protocol, asked in this order."""
    answers, _ = conversation([request(number, method, version) for number, method in enumerate(methods)])
    return {method: json.loads(answer)["result"] for method, answer in zip(methods, answers, strict=True)}


def request(number: int | str, method: str, version: str, **params: Any) -> str:
    """Return the line of a request as a client of that version sends it."""
    if method == "initialize":
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, **params}
    elif version in MODERN_PROTOCOL_VERSIONS:
        params = {"_meta": {VERSION: version, INFO: CLIENT, CAPABILITIES: {}}, **params}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
