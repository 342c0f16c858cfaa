"""A failure: an observable error and, once known, what resolves it."""

from typing import Annotated, Any, Literal, Self

from pydantic import Strict, ValidationInfo, model_validator

from graphmem.kernel.model.expression import Malformed, refuse_malformed
from graphmem.kernel.model.field import (
    MATCH_CHARACTERS,
    SYMPTOM_CHARACTERS,
    TEXT_BYTES,
    Flag,
    Limit,
    Line,
    Number,
    Text,
)
from graphmem.kernel.model.record import CHECKED, Triggered, united
from graphmem.names import slug
from graphmem.patterns import lazy_re

Expression = Annotated[str, Strict(), Limit(0, characters=MATCH_CHARACTERS)]
Sentence = Annotated[Line, Limit(TEXT_BYTES, characters=SYMPTOM_CHARACTERS)]
Identity = Literal["rule", "names", "message", "frame"]  # what makes a problem the same one when it comes again


TRACEBACK = "Traceback (most recent call last)"
ERROR_LINE = lazy_re(r"(?:[\w.$]+[.:])?[A-Z]\w*(?:Error|Exception)\b")  # of a stack trace that begins with code


class Failure(Triggered):
    """What went wrong (``trigger``) and what fixes it; without a fix and without a solving pattern it is unsolved."""

    named_from = "trigger"
    identity = ("trigger",)
    word = "when"
    advises = (("fix", "fix"),)

    kind: Literal["failure"]
    symptom: Sentence | None = None  # in plain words, as a person would report it; found by meaning on its own
    holds_for: Identity | None = None  # what its fix holds for; without it, what the tool's format says
    fix: Text | None = None
    match: Expression | None = None  # in RE2's syntax or that of `regex`; finds the failure in logs
    cost: Number | None = None  # thousands of tokens it took to learn
    flaky: Flag = False

    @classmethod
    def completed(cls, values: Any) -> Any:
        """Leave out an empty fix, as the failure is unsolved, and an empty symptom."""
        given = values if isinstance(values, dict) else {}
        empty = {name for name in ("fix", "symptom") if isinstance(text := given.get(name), str) and not text.strip()}
        values = {name: value for name, value in given.items() if name not in empty} if empty else values
        return super().completed(values)

    @model_validator(mode="after")
    def validate_match(self, info: ValidationInfo) -> Self:
        """Refuse an expression that no engine takes."""
        if self.match is not None and info.context is not CHECKED:
            try:
                refuse_malformed(self.match)
            except Malformed as error:
                raise ValueError(f"match {self.match[:80]!r} is not a regular expression: {error}") from None
        return self

    @property
    def headline(self) -> str:
        """The line of the trigger that says what went wrong: of a traceback its error, not its first line."""
        lines = [line for line in self.trigger.splitlines() if line.strip()]
        if len(lines) > 1:
            starts = [place for place, line in enumerate(lines) if TRACEBACK in line]
            after = lines[starts[-1] + 1 :] if starts else []
            ends = [line for line in after if not line[0].isspace()] if starts else lines
            found = ends if starts else [line for line in ends if ERROR_LINE.match(line)]
            return found[0] if found else lines[0]
        return self.trigger

    @property
    def plain_name(self) -> str:
        return slug(self.headline)

    @property
    def search_text(self) -> str:
        return united(self.trigger, self.fix)

    @property
    def meanings(self) -> tuple[str, ...]:
        return (self.search_text, self.symptom) if self.symptom else (self.search_text,)
