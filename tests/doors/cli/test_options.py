"""The options and arguments of the command line are made from the requests."""

from collections.abc import Iterator
from typing import Any

import typer

from graphmem.doors.cli.app import command_line, common_options
from graphmem.doors.cli.options import limits
from graphmem.doors.cli.verbs import VERBS
from graphmem.doors.service.caller import runs_here
from tests.operations import REQUESTS

# What the command line adds: forms of input and output, two words for a choice, and the fields that edit changes.
ADDED = {
    "view --out", "review show --all", "campaign complete --partial", "check --format", "check --strict",
    "add --ndjson", "add failure --missing-ok", "add failure --no-dedup", "add lesson --missing-ok",
    "add lesson --no-dedup", "add pattern --missing-ok", "add pattern --no-dedup",
    "context --role", "cypher --format", "cypher --list", "cypher --named", "cypher --param", "cypher --projects",
    "cypher query",
    "demo project", "diff --markdown", "doctor --yes", "dump --dry-run", "dump --into", "dump --output",
    "edit --check-after", "edit --cite", "edit --cost",
    "event list --follow", "edit --description", "edit --file", "edit --fix", "edit --flaky", "edit --framework",
    "edit --holds-for", "edit --symptom",
    "edit --insight", "edit --match", "edit --missing-ok",
    "edit --objective", "edit --saved", "edit --set", "edit --source", "edit --trigger", "edit --value",
    "edit --version",
    "export --check", "extract python folder",
    "feedback --failed", "feedback --helped", "feedback --ndjson", "feedback ref", "init project",
    "install --all", "install --dry-run", "install --out", "install --plugin", "install --project", "install --user",
    "install client",
    "uninstall --dry-run", "uninstall --plugin", "uninstall --project", "uninstall --user", "uninstall client",
    "help --all", "help topic",
    "lesson learn events", "list --format", "match --format", "match file", "query --explain", "rebuild --no-embed",
    "stats --impact", "stats --plot",
    "textconv file",
    "serve --detach", "serve --http", "serve --log-format", "serve --logs", "serve --status", "serve --stop",
    "stale --prove",
    "type add entity --no-search", "undo --list", "undo number",
}  # fmt: skip


def parameters(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the options and arguments of a command and of those below it, by path and name."""
    for param in command.params:
        if param not in common_options() and param.name not in ("at", "help"):
            is_option = param.param_type_name == "option"
            yield f"{path} {max(param.opts, key=len) if is_option else param.name}", param
    for name, below in getattr(command, "commands", {}).items():
        yield from parameters(below, f"{path} {name}")


def test_help_and_default_of_an_option_are_those_of_a_field_of_a_request() -> None:
    root = command_line()
    context = typer.main.get_command(typer.Typer(callback=lambda: None, add_completion=False))
    found = [one for name in VERBS for one in parameters(root.get_command(context, name), name)]
    fields = [field for request in set(REQUESTS.values()) for field in request.model_fields.values()]
    made = {field.description: field for field in fields}
    of = {name: next((made[text] for text in made if says(param.help, text)), None) for name, param in found}
    assert {name for name, field in of.items() if field is None} == ADDED
    for name, param in found:
        field = of[name]
        if field is not None:
            assert param.help.endswith(limits(field)), name
            assert field.is_required() or param.default in (field.default, None), name


def says(help_text: str, description: str | None) -> bool:
    """Return whether a help text is a description, or begins with it and adds a clause."""
    return help_text.startswith((f"{description}.", f"{description};"))


def test_no_command_names_a_parameter_like_an_option_of_all_commands() -> None:
    """The parser keeps one value a name: `init --dir FOLDER` prepared the current folder."""
    context = typer.main.get_command(typer.Typer(callback=lambda: None, add_completion=False))
    common = [option.name for option in common_options()]
    for verb in VERBS:
        names = [param.name for param in command_line().get_command(context, verb).params]
        assert [name for name in common if names.count(name) > 1] == [], verb


def test_the_option_of_a_command_is_its_own_where_it_has_the_name_of_a_common_one() -> None:
    context = typer.main.get_command(typer.Typer(callback=lambda: None, add_completion=False))
    params = command_line().get_command(context, "install").params
    assert [param.help for param in params if "--user" in param.opts] == ["Set up all projects of this user."]


def test_a_command_that_is_given_a_path_to_write_runs_where_it_is_typed() -> None:
    """A service would write it with its own rights, also for a caller in a sandbox."""
    root = command_line()
    context = typer.main.get_command(typer.Typer(callback=lambda: None, add_completion=False))
    paths = [name for verb in VERBS for name, param in parameters(root.get_command(context, verb), verb)
             if "Path" in str(param.type_descriptor.annotation)]  # fmt: skip
    assert {"dump --output", "stats --plot", "view --out"} <= {*paths}
    for name in paths:
        *command, option = name.split(" ")
        assert runs_here([*command, option, "x"]) and runs_here([*command, f"{option}=x"]), name
