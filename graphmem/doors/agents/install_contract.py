"""What installing graphmem for a coding agent takes and returns."""

from pathlib import Path
from typing import Literal, get_args

from pydantic import Field

from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.parameters import ClientName
from graphmem.kernel.request import Request

InstallClient = ClientName | Literal["agents-md"]
INSTALL_CLIENTS: tuple[InstallClient, ...] = (*get_args(ClientName), "agents-md")
Scope = Literal["project", "user"]


class InstallRequest(Request):
    """Which coding agent to set up, and where."""

    client: InstallClient = Field(description="The coding agent")
    folder: Path = Field(description="Folder of the project")
    scope: Scope = Field("project", description="Set up this project, or all projects of this user")
    plugin: bool = Field(False, description="Install a plugin by the client's own program, for this user")
    out: Path | None = Field(None, description="Write the plugin to this folder instead, and install nothing")
    dry_run: bool = Field(False, description="Show what would change, and change nothing")


class InstalledFile(Part):
    """A file that an installation touches; ``diff`` is in the unified format, ``link`` where it is a link's target."""

    path: str
    link: str | None = None
    action: Literal["created", "changed", "removed", "unchanged"]
    diff: str


class Installed(Answer):
    """
    What an installation changed, or would change.

    ``ran`` are commands of the client's program that were run, or would be; ``commands`` are left to be typed, and
    ``steps`` to be done in the client by a person.
    """

    client: InstallClient
    scope: Scope
    applied: bool
    files: list[InstalledFile]
    ran: list[str] = []
    commands: list[str]
    steps: list[str] = []


class InstalledAll(Answer):
    """What ``install --all`` did for each client that it found; ``failed`` has what the others say."""

    clients: list[Installed]
    failed: dict[str, str]


class KeptRules(Answer):
    """The files of rules that changed, or would, and how many records of each kind have no room in them."""

    applied: bool
    files: list[InstalledFile]
    left_out: dict[str, int] = {}
