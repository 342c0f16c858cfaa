"""
What tools answer: the same in lines for the model and as an object for programs.

Texts of the store are data. In the lines each is a JSON string, with quotes around it and its line ends escaped, so
that none can pass for a line of the answer; and what would be invisible is shown.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, Field

from graphmem.core.evidence.citation_contract import VariantFix
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.fixes import fixes
from graphmem.core.evidence.notes import noted, of_variant
from graphmem.core.replies.hints import in_tools
from graphmem.errors import Usage
from graphmem.kernel.answer import Answer, Store, address
from graphmem.kernel.model import Failure, MemoryRecord, Record
from graphmem.kernel.request import Request, shown
from graphmem.names import TAGS, one_line, quoted, visible

TEXT_WIDTH, ADVICE_WIDTH = 120, 240  # characters of a text in a brief answer
MOST_HITS = 50  # of an answer; more come with its cursor
MOST_NOTES = 10  # beside an answer
UNSHOWN = ("kind", "key", "name", "ref", "edited", "authors", "alternates", "helped", "failed", "fix")


class View(Request):
    """How much of an answer to show."""

    detail: Literal["brief", "full"] = Field("brief", description="full: whole texts, every field")
    limit: int = Field(5, ge=1, le=MOST_HITS, description="Most results per section")
    cursor: str | None = Field(None, description="From the answer before, for more")

    @property
    def start(self) -> int:
        """How many results come before those to show."""
        if self.cursor is None:
            return 0
        if not (self.cursor.isascii() and self.cursor.isdigit() and len(self.cursor) < 10):
            raise Usage(f"cursor {shown(self.cursor)} is from no answer", hint="leave it out to begin at the start")
        return int(self.cursor)


WHOLE = View(limit=MOST_HITS)  # of a tool that does not ask how much to show


@dataclass
class Reply:
    """
    An answer of a tool.

    Attributes:
        head: what holds for the whole answer; its values are graphmem's own.
        hits: the records or rows of the answer, each an object that a line is made from.
        notes: lines to report beside the answer.
    """

    head: dict[str, Any] = field(default_factory=dict)
    hits: Sequence[Mapping[str, Any]] | None = None
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        more = len(self.notes) - MOST_NOTES
        self.notes = [in_tools(one_line(note)) for note in self.notes[:MOST_NOTES]]
        if more > 0:
            self.notes.append(f"and {more:,} more notes; see: graphmem validate")

    @property
    def data(self) -> dict[str, Any]:
        """The answer as an object."""
        hits = {} if self.hits is None else {"results": list(self.hits)}
        return {**self.head, **hits, **({"notes": self.notes} if self.notes else {})}

    @property
    def text(self) -> str:
        """The answer in lines, one for each hit."""
        head = "; ".join(f"{name}: {_shown(value)}" for name, value in self.head.items())
        return "\n".join([*filter(None, [head]), *map(line, self.hits or ()), *self.notes])


def line(hit: Mapping[str, Any]) -> str:
    """Return a hit on one line: its reference, what is known of it, what speaks against it, then its texts."""
    rest = dict(hit)
    parts = [quoted(rest.pop("ref"))] if "ref" in rest else []
    doubts = rest.pop("doubts", [])
    marks = {name: rest.pop(name) for name in list(rest) if isinstance(rest[name], bool | int | float | Word)}
    parts += [f"[{', '.join(mark(name, value) for name, value in marks.items())}]"] if marks else []
    parts += [f"! {_json_text(doubt)}" for doubt in doubts]
    return "  ".join([*parts, *(f"{name}: {_shown(value)}" for name, value in rest.items())])


class Word(str):
    """A word of graphmem's own, such as a tier: it needs no quotes."""


def mark(name: str, value: object) -> str:
    """Return a mark: its name and value; a word needs no name."""
    return str(value) if isinstance(value, Word) else f"{name} {_shown(value)}"


def _shown(value: object) -> str:
    """Return a value as a line shows it."""
    return str(value) if isinstance(value, Word) else _json_text(value)


def _json_text(value: object) -> str:
    """Return a value as JSON, on one line: what is invisible, and what could end a client's own tag, as escapes."""
    return TAGS.sub(r"\\u003c", visible(json.dumps(value, ensure_ascii=False, default=str)))


def hit(
    record: Record,
    view: View,
    doubts: Iterable[Doubt] = (),
    variant_fix: VariantFix | None = None,
    holds: Sequence[str] = (),
    store: Store = "project",
    **marks: object,
) -> dict[str, Any]:
    """Return a record as a hit: what it says and what to do, its track record, and what speaks against it."""
    found: dict[str, Any] = {
        "ref": address(record.ref, store),
        **{name: value for name, value in marks.items() if value is not None},
    }
    if isinstance(record, MemoryRecord) and record.helped + record.failed:
        found |= {"helped": record.helped, "failed": record.failed}
    found |= {"doubts": against} if (against := [visible(doubt.text) for doubt in doubts if doubt.is_mark]) else {}
    found |= {"holds": visible("; ".join(holds))} if holds else {}
    found |= {word: cut(text, TEXT_WIDTH, view) for word, text in noted(record, [(record.says, "text")])}
    advised = [cut(fix.text, ADVICE_WIDTH, view) + " (disputed)" * fix.disputed for fix in fixes(record)]
    if isinstance(record, Failure) and advised:
        found |= {"fix": advised[0]} | ({"other_fixes": advised[1:]} if advised[1:] else {})
    found |= {word: cut(text, ADVICE_WIDTH, view) for word, text in of_variant(variant_fix, store)}
    brief = (*record.advises, ("outcome", "outcome"))
    found |= {word: cut(text, ADVICE_WIDTH, view) for word, text in noted(record, brief) if word not in found}
    return found | (_rest_of(record, (record.says, *dict(brief))) if view.detail == "full" else {})


def _rest_of(record: Record, shown_fields: Collection[str]) -> dict[str, Any]:
    """Return the fields of a record that hold anything, but for those that are shown already."""
    values = json.loads(record.model_dump_json(by_alias=True, exclude_none=True, exclude_defaults=True))
    hidden = (*UNSHOWN, *shown_fields)
    return {name: escaped(value) for name, value in values.items() if name not in hidden and value not in ([], {}, "")}


def escaped(value: Any) -> Any:
    """Return a JSON value with what is invisible in its texts as escapes."""
    match value:
        case str():
            return visible(value)
        case list():
            return [escaped(part) for part in value]
        case dict():
            return {visible(name): escaped(part) for name, part in value.items()}
    return value


def cut(text: str, width: int, view: View) -> str:
    """Return a text: whole in a full answer, else its beginning on one line."""
    if view.detail == "full":
        return visible(text)
    words = visible(" ".join(text.split()))
    if len(words) <= width:
        return words
    return words[: width - 1].rstrip() + "…"


def page(answer: Answer, found: Sequence[Any], view: View) -> tuple[Sequence[Any], dict[str, Any], list[str]]:
    """Return the results to show, the cursor where there are more, and the notices of an answer."""
    end = view.start + view.limit
    more = {"cursor": Word(end)} if len(found) > end else {}
    return found[view.start : end], more, list(answer.notices)


def values_of(model: BaseModel, *names: str) -> dict[str, Any]:
    """Return some values of a model that hold anything."""
    return {name: value for name in names if (value := getattr(model, name)) not in (None, [], 0, "")}
