"""What ``config`` takes and returns."""

from pydantic import Field

from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.request import Request


class ConfigRequest(Request):
    """Which settings to return."""

    name: str | None = Field(None, description="Return this setting only, or those of this section")


class Setting(Part):
    """A setting: its value, and what gave it: ``default``, a file, a variable, or an option of the command."""

    name: str
    value: bool | int | float | str
    origin: str
    default: bool | int | float | str


class ConfigShown(Answer):
    """The settings that hold here; ``ignored`` is what the project asks for and may not have, with the reason."""

    settings: list[Setting]
    ignored: list[str] = []
