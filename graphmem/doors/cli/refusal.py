"""What the parser refuses, in graphmem's words: what was wrong, which value, what would be right."""

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from graphmem.doors.cli.synonyms import INSTEAD, OPTIONS
from graphmem.patterns import lazy_re

LONG = lazy_re(r"--[a-z][a-z-]*")


def is_call_for_help(error: Exception) -> bool:
    """Return whether a command that needs another word was called with none; its message is its help."""
    return type(error).__name__ == "NoArgsIsHelpError"


def in_words(error: Exception) -> tuple[str, str | None]:
    """Return the message and the hint of an error of the parser."""
    context = getattr(error, "ctx", None)
    see = f"see: {context.command_path} --help" if context is not None else None
    cause = error.__cause__
    if hasattr(error, "possibilities"):
        return _unknown_option(str(getattr(error, "option_name", "")), context, see)
    if isinstance(cause, ValidationError):
        return _bad_value(error, cause)
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    message = text.strip().removesuffix(".")
    message = message[:1].lower() + message[1:]
    if message.startswith("got unexpected extra argument"):
        extra = message.partition("(s) (" if "(s) (" in message else " (")[2].removesuffix(")")
        return f"unexpected argument: {extra}", f"{_taken(context, extra, message)}; {see}"
    if message.startswith("missing") and context is not None and (example := _example_of(context.command)):
        return message, f"such as: {example}; {see}"
    return message, see


def _example_of(command: Any) -> str:
    """Return the first line to type in the help of a command; empty where it has none."""
    lines = (command.epilog or "").splitlines()[1:]
    return lines[0].strip() if lines else ""


def _taken(context: Any, extra: str, message: str) -> str:
    """Return which arguments a command takes, or why a text became several of them."""
    names = [
        str(param.metavar or param.name) for param in context.command.params if param.param_type_name == "argument"
    ]
    is_one_text = " " in extra and not message.startswith("got unexpected extra arguments")
    if names and not is_one_text:
        return "a text of several words needs quotes"
    return f"it takes {', '.join(names) or 'options only'}"


def _unknown_option(name: str, context: Any, see: str | None) -> tuple[str, str | None]:
    """Report that an option is unknown, and which was meant; a text may also begin like an option."""
    known = [opt for param in context.command.get_params(context) for opt in (*param.opts, *param.secondary_opts)]
    command = context.command_path.partition(" ")[2]
    same = [option for option in OPTIONS.get(name, ()) if option in known]
    near = INSTEAD.get((command, name)) or INSTEAD.get(("", name)) or (f"did you mean {same[0]}?" if same else None)
    if near is None and name.startswith("--"):
        near = meant(name, [opt for opt in known if opt.startswith("--")])
    if near is None and not LONG.fullmatch(name):
        near = f"a text that begins with - goes after a -- of its own; {see}"
    return f"no such option: {name}", near or see


def _bad_value(error: Exception, cause: ValidationError) -> tuple[str, str | None]:
    """Return the error for a value that an option or argument cannot have."""
    first = cause.errors()[0]
    param = getattr(error, "param", None)
    name = max(param.opts, key=len) if param is not None else "value"
    expected = {"int_parsing": "a whole number", "float_parsing": "a number"}.get(first["type"])
    choices = first["msg"].partition(" is not one of ")[2].replace("'", "").removesuffix(".")
    expected = f"one of: {choices}" if choices else expected
    return f"{name} is {first['input']!r}", expected or first["msg"][:1].lower() + first["msg"][1:]


def meant(name: str, known: Iterable[str]) -> str | None:
    """Return a hint with the nearest of the known words, or None where none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}?" if near else None
