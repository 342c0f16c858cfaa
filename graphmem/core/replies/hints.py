"""Hints that name what a client of MCP has: tools and their parameters, where a shell has commands and options."""

import re

from graphmem.patterns import lazy_re

CHOSEN = {  # by what follows ``graphmem`` in a shell: the tool, and the value that chooses among what it does
    "list": "recall",
    "query": "recall",
    "match": "recall, intent match",
    "context": "recall, intent context",
    "get": "get",
    "related": "related",
    "solutions": "related, intent solutions",
    "path": "related, intent path",
    "add failure": "remember, kind failure",
    "add pattern": "remember, kind pattern",
    "session decide": "remember, kind decision",
    "feedback": "feedback",
    "campaign ready": "task, action ready",
    "campaign complete": "task, action finish",
    "task start": "task, action start",
    "task complete": "task, action complete",
    "task block": "task, action block",
    "stats": "status",
}
COMMAND = lazy_re(rf"\bgraphmem ({'|'.join(CHOSEN)})(?![\w-])(?: (?=[^-\s])([^\s:;,]+))?(.*)")
OPTION = lazy_re(r" --([a-z][a-z-]*)")
QUOTE = "  > "  # begins a line of a stored text


def in_tools(text: str) -> str:
    """Return lines of graphmem's own with its commands as tools; what no tool does stays a command of a shell."""
    return "\n".join(line if line.startswith(QUOTE) else COMMAND.sub(_as_tool, line) for line in text.split("\n"))


def _as_tool(found: re.Match[str]) -> str:
    """Return a command, with what follows it on its line, as a call of a tool."""
    words, argument, rest = found.groups()
    options = OPTION.sub(lambda option: f", {option[1].replace('-', '_')}", rest)
    return f"the tool {CHOSEN[words]}{f', for {argument}' if argument else ''}{in_tools(options)}"
