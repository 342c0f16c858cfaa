"""``help``: the commands of a topic, all of them, or the help of one."""

from collections.abc import Mapping
from typing import Annotated

import typer

from graphmem.doors.cli.app import command_line, first_page, new_name, topics
from graphmem.doors.cli.caller import invocation_of
from graphmem.doors.cli.help import help_of, option_row, section
from graphmem.doors.cli.refusal import meant
from graphmem.doors.cli.synonyms import COMMANDS
from graphmem.doors.cli.verbs import TOPICS
from graphmem.errors import Usage
from graphmem.kernel.answer import Answer

STATUSES = """\
Exit status: 0 done, also with an empty result; 1 not found, not connected, or a
check found errors; 2 usage; 3 input refused; 4 locked or unavailable; 5 store
damaged."""


class Help(Answer):
    """What the help says, and the commands in it by topic, with a line each; a single command has no topic."""

    text: str
    topics: Mapping[str, Mapping[str, str]] = {}


def _words() -> list[str]:
    """Return what can be asked for."""
    return [*topics(), *command_line().list_commands(None)]


def show(
    ctx: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOPIC", help=f"A command, or: {', '.join(topics())}.", autocompletion=_words),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every command, and the options of all.")] = False,
) -> None:
    """
    Show the commands of a topic, all of them, or the help of a command.

    Example: graphmem help find
    """
    words = topic or []
    if everything:
        by_topic = commands_by_topic()
        made = Help(text=text_of(by_topic), topics=by_topic)
    elif not words:
        made = Help(text=first_page())
    elif len(words) == 1 and words[0] in topics():
        one = commands_by_topic(words[0])
        made = Help(text=text_of(one), topics=one)
    else:
        made = Help(text=_help_of_command(words))
    invocation_of(ctx).answer(made, made.text)


def commands_by_topic(wanted: str | None = None) -> dict[str, dict[str, str]]:
    """Return the verbs with their lines and the commands below them, by topic; of one topic alone if it is named."""
    root = command_line()
    found = {topic: dict(rows) for topic, rows in topics().items() if wanted in (None, topic)}
    for rows in found.values():
        for name, line in rows.items():
            below = ", ".join(getattr(root.get_command(None, name), "commands", ()))
            rows[name] = f"{line} Commands: {below}." if below else line
    return found


def text_of(topics: Mapping[str, Mapping[str, str]]) -> str:
    """Return the commands of topics as people read them; of all topics with what holds for every command."""
    titles = dict(TOPICS.values())
    parts = [part for topic, rows in topics.items() for part in section(f"{titles[topic]} ({topic})", [*rows.items()])]
    if len(topics) > 1:
        parts += [*section("Options of every command", [*map(option_row, command_line().params)]), STATUSES]
    return "\n\n".join(parts)


def _help_of_command(words: list[str]) -> str:
    """
    Return the help of a command that is named in words.

    Raises:
        Usage: there is no such topic or command.
    """
    words = [*(new_name(words) or words[0]).split(), *words[1:]]
    found = command_line()
    for place, word in enumerate(words):
        below = found.get_command(None, word) if hasattr(found, "get_command") else None
        if below is None:
            known = _words() if place == 0 else list(getattr(found, "commands", ()))
            what = "topic or command" if place == 0 else f"command of {' '.join(words[:place])}"
            same = f"did you mean {COMMANDS[word]}?" if place == 0 and word in COMMANDS else None
            raise Usage(f"no {what} {word[:80]!r}", hint=same or meant(word, known) or "graphmem help --all")
        found = below
    return help_of(found, " ".join(["graphmem", *words]))
