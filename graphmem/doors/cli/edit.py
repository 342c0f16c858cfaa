"""``edit``."""

import inspect
from typing import Annotated, Any

import typer

from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes, print_answer
from graphmem.doors.cli.inputs import READERS
from graphmem.errors import Usage
from graphmem.kernel.model.failure import Identity
from graphmem.kernel.parameters import parameter
from graphmem.kernel.registry import Taken

# The options for fields of records: the field, its type, the option, what its value is called, and what it is.
OPTIONS: tuple[tuple[str, Any, str, str | None, str], ...] = (
    ("trigger", str, "--trigger", "TEXT", "What was observed, or when it applies."),
    ("fix", str, "--fix", "TEXT", "What resolves a failure."),
    ("symptom", str, "--symptom", "TEXT", "A failure in plain words, as a person would report it."),
    ("holds_for", Identity, "--holds-for", None, "What the fix of a failure holds for."),
    ("insight", str, "--insight", "TEXT", "What a pattern says to do."),
    ("match", str, "--match", "RE", "Regular expression that finds a failure in a log."),
    ("cost", float, "--cost", "K", "What a failure cost, in thousands of tokens."),
    ("saved", float, "--saved", "K", "What a pattern saves, in thousands of tokens."),
    ("framework", str, "--framework", "NAME", "What a failure, pattern or campaign is about."),
    ("value", str, "--value", "TEXT", "What belongs to an entity itself."),
    ("objective", str, "--objective", "TEXT", "What a campaign or task is for."),
    ("description", str, "--description", "TEXT", "What a lesson or experience says."),
    ("given", list[str], "--set", "FIELD=TEXT|FIELD:=JSON", "Any other field."),
    ("flaky", bool, "--flaky/--not-flaky", None, "Whether a failure comes and goes."),
    ("sources", list[str], "--source", "WHERE", "Replaces the sources."),
    ("files", list[str], "--file", "PATH", "Replaces the files."),
    ("cites", list[str], "--cite", "PATH[:SYMBOL][@COMMIT]", "Replaces the cites, as the code is now."),
    ("missing_ok", bool, "--missing-ok", None, "A --file need not be there yet."),
    ("versions", list[str], "--version", "NAME=V", "Replaces the versions of packages."),
    ("check_after", str, "--check-after", "DAY", "Day after which it is to be checked again."),
)


def _edit(invocation: Invocation, call: Call, **given: Any) -> None:
    """
    Change fields of a record: given ones replace, all others stay.

    Example: graphmem edit failure/import-error --fix "pin setuptools below 81" --tag build
    """
    files = "path" if given.pop("missing_ok") else "files"
    typed = {name: given[name] for name, *_ in OPTIONS if given.get(name) is not None}
    others = typed.pop("given", ())
    for name, way in (("versions", "versions"), ("files", files), ("cites", "cites")):
        if name in typed:
            typed[name] = READERS[way](invocation, typed[name], "")
    fields = typed | dict(map(parameter, others))
    if not (fields or given["tag"] or given["untag"] or given["unset"]):
        raise Usage("nothing to change", hint="give a field, such as --fix TEXT, or --unset FIELD")
    print_answer(invocation, "edit", call(fields=fields), dry_run=given["dry_run"])


def _parameter(name: str, sort: Any = None, flag: str = "", metavar: str | None = None, text: str = "") -> Any:
    """Return a parameter of the command; without a type it is a field of the request."""
    annotation = Annotated[sort, typer.Option(flag, metavar=metavar, help=text)] if flag else inspect.Parameter.empty
    default = inspect.Parameter.empty if not flag else False if name == "missing_ok" else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_taken: list[tuple[Any, ...]] = [("ref",), *OPTIONS, ("tag",), ("untag",), ("unset",), ("dry_run",)]
_edit.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [*list(inspect.signature(_edit).parameters.values())[:2], *(_parameter(*one) for one in _taken)]
)
edit = passes("edit", without=("fields",), unset=Taken("FIELD"))(_edit)
