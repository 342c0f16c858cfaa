"""The settings that hold for a store, and where each comes from."""

import difflib

from pydantic import Field

from graphmem.errors import NotFound
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.git import commands
from graphmem.kernel.registry import operation
from graphmem.kernel.request import Request
from graphmem.kernel.settings.address import ServerAddress, is_server
from graphmem.kernel.settings.config import Settings, gathered, sections, variable_of
from graphmem.kernel.settings.folders import user_store
from graphmem.kernel.store.runtime import Client


class ConfigRequest(Request):
    """Which settings to return."""

    name: str | None = Field(None, description="Return this setting only, or those of this section")


class Setting(Part):
    """A setting: its value, and what gave it: ``default``, a file, a variable, or an option of the command."""

    name: str
    value: bool | int | float | str
    origin: str
    default: bool | int | float | str | None


class ConfigShown(Answer):
    """The settings that hold here; ``ignored`` is what the project asks for and may not have, with the reason."""

    settings: list[Setting]
    ignored: list[str] = []


BY, USER_STORE = "by", "user_store"


@operation(
    "config",
    not_over_http="it names files and variables of the user who runs the service",
    example="graphmem config retrieval",
    arguments=1,
    help="""
    Show the settings that hold here, and where each value comes from.

    They are changed in files or by variables; docs/reference/config.md says what each means.
    """,
)
def config(client: Client, request: ConfigRequest) -> ConfigShown:
    """
    Return the settings that hold here, and what gave each.

    Raises:
        NotFound: no setting and no section has the name that is asked for.
    """
    runtime, settings = client.runtime, client.settings
    _, origins, *_ = gathered(client.layout.config, runtime.options, runtime.environment)
    if settings.by is None:
        settings, origins[BY] = settings.model_copy(update={BY: commands.user_name(client.root)}), "git"
    if user_store() is None:
        settings, origins[USER_STORE] = settings.model_copy(update={USER_STORE: False}), variable_of(USER_STORE)
    if is_server(address := settings.stores.organisation):  # without a password
        stores = settings.stores.model_copy(update={"organisation": ServerAddress.parse(address).shown})
        settings = settings.model_copy(update={"stores": stores})
    shown = [
        Setting(
            name=name,
            value=getattr(getattr(settings, section), key) if section else getattr(settings, key),
            origin=origins.get(name, "default"),
            default=(sections()[section] if section else Settings).model_fields[key].default,
        )
        for section, key, name in _every_name()
        if request.name is None or request.name in (name, section)
    ]
    if not shown and request.name is not None:
        known = [*sections(), *(name for *_, name in _every_name())]
        near = difflib.get_close_matches(request.name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"sections: {', '.join(sections())}"
        raise NotFound(f"no setting is called {request.name!r}", hint=hint)
    return ConfigShown(settings=shown, ignored=[*settings.ignored, *(one.text for one in settings.wrong)])


def _every_name() -> list[tuple[str, str, str]]:
    """Return section, key and name of each setting; no section for those at the top of a file."""
    found = [(section, key, f"{section}.{key}") for section, model in sections().items() for key in model.model_fields]
    return [*found, *(("", name, name) for name in (BY, USER_STORE))]
