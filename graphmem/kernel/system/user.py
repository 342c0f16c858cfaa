"""
What counts as the user's own: the variables that one process takes over from another, and whose a folder is.

Only the standard library, and little of it: the caller of a running service imports it.
"""

import os

TYPE_CHECKING = False  # as in ``errors``: to import `collections.abc` takes as long as the rest
if TYPE_CHECKING:
    from collections.abc import Mapping

# The stores that are asked beside that of a project, in this order; each name begins the references of its records.
STORES = {"user": "the user's own store", "organisation": "the organisation's store"}
# Variables that say which coding agent runs a command, as each client sets them for the commands that it starts.
AGENTS = {
    "CLAUDECODE": "claude-code",
    "CODEX_THREAD_ID": "codex",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CURSOR_AGENT": "cursor",
    "GEMINI_CLI": "gemini",
    "OPENCODE": "opencode",
}
CALLERS = ("GRAPHMEM_", "GIT_", "XDG_", "VIRTUAL_ENV", "COLUMNS", *AGENTS)  # that a caller brings, by how they begin
# Of those, what no other process has to know, and what would choose the programs that git runs.
SECRETS = ("GRAPHMEM_HTTP_TOKEN", "GRAPHMEM_HTTP_READ_TOKEN")  # by how they begin: a scope's ends with its name
WITHHELD = (*SECRETS, "GIT_EXEC_PATH")
FOREIGN = ("PYTHON", "LD_", "DYLD_")  # variables that choose the code which a process runs, by how they begin
PLACES = ("PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # of them, folders that an installation may need


def coding_agent(variables: "Mapping[str, str]") -> str | None:
    """Return the coding agent that runs a command with these variables; None where a person or a program does."""
    return next((agent for name, agent in AGENTS.items() if variables.get(name)), None)


def callers_own(variables: "Mapping[str, str]") -> dict[str, str]:
    """Return those variables of a caller that count where a service runs its command."""
    own = (name for name in variables if name.startswith(CALLERS) and not name.startswith(WITHHELD))
    return {name: variables[name] for name in own}


def for_a_child(variables: "Mapping[str, str]") -> dict[str, str]:
    """Return the variables for a process of ours in another folder: nothing that it would load from that folder."""
    kept = {name: value for name, value in variables.items() if not name.startswith(FOREIGN)}
    return kept | {name: places for name in PLACES if (places := _absolute(variables.get(name, "")))}


def _absolute(places: str) -> str:
    """Return those folders of a list that are the same ones from every folder."""
    return os.pathsep.join(place for place in places.split(os.pathsep) if os.path.isabs(place))


def store_of(ref: str) -> tuple[str, str]:
    """Return which store a reference names, ``project`` where it names none, and the reference there."""
    store, colon, rest = ref.partition(":")
    return (store, rest) if colon and store in STORES else ("project", ref)


def own_store(variables: "Mapping[str, str]") -> str | None:
    """
    Return the folder that holds the user's own store, whether it is there or not; None where it is turned off.

    ``GRAPHMEM_USER_STORE`` names it, and empty turns it off. A path that counts from the current folder names none: a
    project could be entered that has such a folder.
    """
    named = variables.get("GRAPHMEM_USER_STORE")
    if named is None:
        base = variables.get("XDG_DATA_HOME") or ""
        named = f"{base if os.path.isabs(base) else '~/.local/share'}/graphmem"
    found = os.path.expanduser(named)
    return found if os.path.isabs(found) else None


def own_state(variables: "Mapping[str, str]") -> str:
    """Return the folder for what belongs to the user and this machine and is in no project."""
    return os.path.expanduser(f"{variables.get('XDG_STATE_HOME') or '~/.local/state'}/graphmem")


def is_of_another(owner: int) -> bool:
    """Return whether what a user id owns is another user's; root's is not, and under sudo not that of the caller."""
    user = os.geteuid()
    return owner not in (user, 0) and not (user == 0 and str(owner) == os.environ.get("SUDO_UID"))
