"""The help of a command: plain text, the same on every terminal; the reference page is made of it."""

import textwrap
from typing import Any

WIDTH = 80  # characters of a line
COLUMN = 26  # characters of a name at most, before its meaning moves to a line of its own


def help_of(command: Any, path: str) -> str:
    """Return the help of a command that is called as ``path``."""
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    own = [(name, found.short_help) for name, found in getattr(command, "commands", {}).items()]
    groups = getattr(command, "groups", None) or [("Commands", own)]
    named = [(one.required, str(one.metavar or one.name)) for one in arguments]
    words = [*(name if required else f"[{name}]" for required, name in named), "[OPTIONS]"]
    if not command.context_settings.get("allow_interspersed_args", True):  # what follows may begin like an option
        words.reverse()
    words = [path, *words, *(["COMMAND …"] if groups[0][1] else [])]
    parts = ["Usage: " + " ".join(words), *described(command.help or "")]
    parts += section("Arguments", [(param.metavar or param.name, _meaning(param)) for param in arguments])
    if not hasattr(command, "groups"):  # those of every command are in ``help --all``
        parts += section("Options", [*map(option_row, options), ("-h, --help", "Show this and end.")])
    parts += [text for title, rows in groups for text in section(title, rows)]
    if command.epilog:
        parts.append(command.epilog if "\n" in command.epilog else textwrap.fill(command.epilog, WIDTH))
    return "\n\n".join(parts)


def described(text: str) -> list[str]:
    """Return the paragraphs of a description, each on lines of its own."""
    return [
        textwrap.fill(" ".join(part.split()), WIDTH, initial_indent="  ", subsequent_indent="  ")
        for part in text.split("\n\n")
        if part.strip()
    ]


def option_row(param: Any) -> tuple[str, str]:
    """Return the names of an option with its value, and what it means."""
    names = ", ".join(sorted(param.opts, key=len))
    if param.secondary_opts:
        names += " / " + ", ".join(param.secondary_opts)
    value = "" if param.is_flag else f" {param.metavar or 'TEXT'}"
    return names + value, _meaning(param)


def _meaning(param: Any) -> str:
    """Return what an argument or option is for, with its default."""
    default = f"{param.default:g}" if isinstance(param.default, float) else param.default
    is_told = default not in (None, False, "", (), []) and not callable(default)
    more = " [required]" if param.required and param.param_type_name == "option" else ""
    return f"{param.help or ''}{more}{f' [default: {default}]' if is_told else ''}".strip()


def section(title: str, rows: list[tuple[str, str]]) -> list[str]:
    """Return a list of names and what they mean, in two columns, or nothing where there is nothing to list."""
    if not rows:
        return []
    width = min(COLUMN, max(len(name) for name, _ in rows))
    lines = [f"{title}:"]
    for name, text in rows:
        told = [" " * (width + 4) + line for line in textwrap.wrap(text, WIDTH - width - 4)]
        if len(name) <= width and told:
            told[0] = f"  {name.ljust(width)}  {told[0].lstrip()}"
        else:
            lines.append(f"  {name}")
        lines += told
    return ["\n".join(lines)]
