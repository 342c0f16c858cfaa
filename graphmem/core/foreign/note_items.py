"""
Note items: what notes for agents and decision records say, each as the record that it may become.

A rule is a constraint, a choice with its reason a decision, "when X, do Y" a pattern. Headings, links, descriptions of
folders and commands, checklists and examples are nothing. How often that is right:
docs/benchmarks/learning.md, "Harvest".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from graphmem.kernel.model.candidate import OF_NOTES, Candidate, Fields, Occasion, candidate_id
from graphmem.kernel.settings.instructions import MARKDOWN_MARKS, RULES_MARKS
from graphmem.patterns import lazy_re

ItemKind = Literal["constraint", "decision", "pattern"]
LINE = 2_000  # characters of a line that are read
TEXT = 600  # characters of what an item says
REASON = 1_500  # characters of the reason of a decision
SHORT = 60  # characters of an item that is not understood without its heading
SAME_WORDS = 6  # first words by which a later version of an item is known
SHORTEST = 8  # characters of a decision before its reason
FEWEST_WORDS = 3  # of an item that says anything
MOST_ITEMS = 500  # of one file
WORTH: dict[ItemKind, float] = {"constraint": 0.5, "decision": 0.55, "pattern": 0.45}

FIELDS: dict[ItemKind, tuple[str, str]] = {
    "constraint": ("constraint", ""), "decision": ("decision", "reasoning"), "pattern": ("trigger", "insight"),
}  # fmt: skip

OWN = dict((MARKDOWN_MARKS, RULES_MARKS))  # what ends a part that graphmem wrote, by what begins it
HEADING = lazy_re(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*$")
LIST_ITEM = lazy_re(r"^(?P<indent>[ \t]*)(?:[-*+•]|\d{1,3}[.)])\s+(?P<text>\S.*)$")
TASK_BOX = lazy_re(r"^\[[ xX]\]\s")
FENCE = lazy_re(r"^\s*(```|~~~)")
NO_PROSE = lazy_re(r"^\s*(?:\||<!?[\w/-]|={3,}|-{3,}|\*{3,}|@\S+$|!\[)")
LINK = lazy_re(r"!?\[([^\]]{0,200})\]\([^)\s]{0,500}[^)]{0,200}\)")
BOLD = lazy_re(r"\*\*(\S(?:.{0,300}?\S)?)\*\*|__(\S(?:.{0,300}?\S)?)__")
ITALIC = lazy_re(r"(?<![\w*])[*_](\S[^*_\n]{0,200}?)[*_](?![\w*])")
SENTENCE = lazy_re(r"(?<=[.!?])\s+(?=[A-Z`\"(])")

VERB = (
    r"(?:use|run|keep|put|place|add|write|follow|name|prefer|ensure|verify|check|validate|include|import|return|raise"
    r"|handle|wrap|call|pass|create|update|register|document|test|mock|commit|rebase|format|lint|treat|define|declare"
    r"|set|remove|delete|rename|move|store|limit|match|mirror|reuse|regenerate|rebuild|bump|pin|ask|stop|leave|let|make"
    r"|annotate|mark|log|catch|replace|skip|start|begin|expose|implement|extend|inherit|focus|default|favor|favour"
    r"|group|order|sort|escape|quote|sanitize|cover|respect|preserve|maintain|apply|read|open|reference|review|install"
    r"|read|keep|link|state|describe|explain|assert|build|push|specify|choose|select|split|report|inspect|confirm)"
)
STRONG = lazy_re(
    r"\b(?:never|always|must(?:n't)?|do not|don't|shall|should(?:n't)?|avoid|forbidden|prohibited|not allowed"
    r"|mandatory|make sure|ensure|be sure|prefer(?:red)?|no longer|may not|required|needs? to|have to|only use"
    r"|cannot|can't|is not supported|are not supported|disallowed|at all costs|unless)\b",
    re.IGNORECASE,
)
RULE_IN_PROSE = lazy_re(
    r"\b(?:never|always|must(?: not)?|mustn't|do not|don't|should not|shouldn't|avoid|make sure|be sure to|forbidden"
    r"|not allowed|mandatory)\b",
    re.IGNORECASE,
)
IMPERATIVE = lazy_re(rf"^(?:please |only |first |then |also |no |{VERB} )", re.IGNORECASE)
CHOSE = lazy_re(
    r"\b(?:we|it was|was|were|has been|have) (?:chose|chosen|decided|decide|picked|switched|migrated|dropped|adopted"
    r"|moved (?:from|to|away)|went with|use [^.]{2,80} (?:because|since|instead of|rather than|over))\b"
    r"|\b(?:decision|rationale)\s*:",
    re.IGNORECASE,
)
BECAUSE = lazy_re(r"[,;:(—–-]?\s*\b(?:because|rationale:|reason:|the reason is|in order to avoid)\s+(.{8,})", re.I)
CONDITION = lazy_re(
    r"^(?P<when>(?:when(?:ever)?|if|before|after|while|once|for|on|to|in case of)\s[^:]{4,160}?)"
    r"(?P<sign>[,:]|\s[—–-]\s|\s→\s)\s*(?P<do>\S.{7,})$",
    re.IGNORECASE | re.DOTALL,
)
LEAD = lazy_re(r"^(?P<lead>[^:.!?]{3,120}?)(?::|\s[—–-]{1,2}|\s→)\s+(?P<rest>\S.{7,})$", re.DOTALL)
TROUBLE = lazy_re(
    r"\b(?:gotchas?|pitfalls?|trouble\s?shooting|common (?:errors?|issues?|mistakes?|problems?|failures?)|lessons?"
    r"|known (?:issues?|problems?)|debugging|caveats?|traps?|learned)\b",
    re.IGNORECASE,
)
PATH = lazy_re(r"^`[^`]{1,120}`(?:,? (?:and|or|/|,) ?`[^`]{1,120}`)*\s*(?:[:=]|[—–-]{1,2}\s|→|\(|is |are |contains )")
DESCRIBES = lazy_re(
    r"^(?:see|refer|visit|check out|read more|this (?:file|document|project|repo|guide|section)|the following"
    r"|here (?:is|are)|you are|welcome|note that this|contains|provides|e\.g\.|example|for (?:example|more|details"
    r"|instance))\b",
    re.IGNORECASE,
)
FEW_LETTERS = 12
FREQUENT = frozenset("the a an and or to of in is are be it for with on not no use if when this that from must".split())
NOT_FOLLOWED = lazy_re(r"\b(?:superseded|deprecated|rejected|draft|proposed|withdrawn|obsolete|declined)\b", re.I)
STATUS = lazy_re(r"^[\s*_>|-]*status[\s*_]*[:|][\s*_]*(.{1,120})$", re.IGNORECASE | re.MULTILINE)
ADR_TITLE = lazy_re(r"^(?:ADR[\s:-]*)?(?:\d{1,5})?\s*[.:)—–-]?\s*(?P<title>\S.*)$", re.IGNORECASE)
DECIDED = lazy_re(r"^(?:\d+[.)]?\s*)?(?:the )?(?:decision|decision outcome|what (?:we|was) decided|resolution)\b", re.I)
WHY = lazy_re(
    r"^(?:\d+[.)]?\s*)?(?:context(?: and problem statement)?|rationale|motivation|why|reasons?|background|problem)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class NoteItem:
    """
    One thing that a note says.

    Attributes:
        heading: those above it, joined by `` / ``.
        line: where it begins, from 1.
        text: the rule, what was decided, or when it applies.
        more: of a decision the reason, of a pattern what to do.
        files: those that it is about, where the note names them apart.
    """

    heading: str
    line: int
    kind: ItemKind
    text: str
    more: str = ""
    files: tuple[str, ...] = ()

    @property
    def fields(self) -> Fields:
        """The fields of the record that it may become."""
        first, second = FIELDS[self.kind]
        made: Fields = {"kind": self.kind, first: self.text}
        if second and self.more:
            made[second] = self.more
        return made


@dataclass(slots=True)
class Block:
    """A list item or a paragraph."""

    heading: str
    line: int
    text: str
    indent: int | None  # of a list item


def noted(item: NoteItem, name: str) -> Candidate:
    """
    Return the candidate that an item is.

    Its id follows from the file, the headings and the first words, so that a later version of the item is the same one.

    Args:
        name: of the file: its path below the project, or as the user knows it.
    """
    first = " ".join(re.findall(r"\w+", item.text.casefold())[:SAME_WORDS])
    evidence = Occasion(source=name)
    fields: Fields = {**item.fields, "sources": [f"{OF_NOTES}{name}:{item.line}"]}
    if item.kind == "pattern" and item.files:
        fields["files"] = list(item.files)
    return Candidate(
        id=candidate_id(f"note {name}\n{item.heading}\n{first}"),
        base=WORTH[item.kind],
        other=(fields,),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=("notes",),
    )


def is_english(data: bytes) -> bool:
    """Return whether a text is in English, or too short to tell: one word in thirty is among the most frequent ones."""
    words = re.findall(r"[^\W\d_]+", data.decode("utf-8", "replace").lower())
    letters = sum(map(len, words))
    return letters < FEW_LETTERS or 30 * sum(word in FREQUENT for word in words) >= len(words)


def items_of(text: str) -> Iterator[NoteItem]:
    """Yield what a Markdown file of notes says, at most ``MOST_ITEMS``."""
    number = 0
    for block in _blocks(text):
        for item in _of_block(block):
            yield item
            number += 1
            if number >= MOST_ITEMS:
                return


def _own_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, without front matter, comments, code, and what graphmem wrote."""
    lines = text.splitlines()
    start = 0
    if lines and lines[0].rstrip() == "---":
        start = next((place + 1 for place, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
    until = ""  # what ends a part that is left out
    for number, line in enumerate((line[:LINE] for line in lines[start:]), start + 1):
        if until:
            if line.strip().startswith(until) or (until.endswith("-->") and until in line):
                until = ""
        elif line.strip() in OWN:
            until = OWN[line.strip()]
        elif fence := FENCE.match(line):
            until = fence[1]
            yield number, ""
        elif line.lstrip().startswith("<!--"):
            until = "" if "-->" in line else "-->"
            yield number, ""
        else:
            yield number, line


def _blocks(text: str) -> Iterator[Block]:
    """Yield the list items and paragraphs of a Markdown file."""
    headings: list[tuple[int, str]] = []
    above: list[tuple[int, str]] = []  # list items that hold the next one
    block: Block | None = None
    for number, line in _own_lines(text):
        heading, item = HEADING.match(line), LIST_ITEM.match(line)
        if heading or item or not line.strip() or NO_PROSE.match(line):
            if block is not None:
                yield block
            if block is not None and block.indent is not None:
                above = [*(one for one in above if one[0] < block.indent), (block.indent, block.text)]
            block = None
        if heading:
            level = len(heading[1])
            headings = [*(one for one in headings if one[0] < level), (level, _plain(heading[2]))]
            above = []
        elif item:
            indent = len(item["indent"].expandtabs(4))
            outer = [_short_lead(said) for depth, said in above if depth < indent]
            block = Block(_joined(headings, outer), number, item["text"], indent)
        elif line.strip() and not NO_PROSE.match(line):
            if block is None:
                if not line[:1].isspace():
                    above = []
                block = Block(_joined(headings, []), number, line.strip().lstrip("> "), None)
            else:
                block.text += " " + line.strip().lstrip("> ")
    if block is not None:
        yield block


def _joined(headings: list[tuple[int, str]], outer: list[str]) -> str:
    """Return the headings above an item, without the title of the file, in one line."""
    return " / ".join([*(said for level, said in headings if level > 1), *filter(None, outer)])[:300]


def _short_lead(text: str) -> str:
    """Return the beginning of a list item, as a heading of those below it."""
    return re.split(r"[:.]\s|:$|\s[—–-]\s", _plain(text), maxsplit=1)[0][:80]


def _plain(text: str) -> str:
    """Return a text of Markdown in one line, without links and emphasis."""
    text = BOLD.sub(lambda found: found[1] or found[2], LINK.sub(r"\1", text))
    return " ".join(ITALIC.sub(r"\1", text).split())


def _of_block(block: Block) -> Iterator[NoteItem]:
    """Yield what a list item or a paragraph says: an item is one thing, of a paragraph only its rules."""
    if TASK_BOX.match(block.text) or (LINK.match(block.text) and not STRONG.search(LINK.sub("", block.text))):
        return
    text = _plain(block.text)
    if block.indent is None:
        for sentence in SENTENCE.split(text):
            if (
                RULE_IN_PROSE.search(sentence)
                and not sentence.endswith((":", "?"))
                and (item := _classified(block, sentence))
            ):
                yield item
    elif not text.endswith(("?", ":")) and (item := _classified(block, text)):
        yield item


def _classified(block: Block, text: str) -> NoteItem | None:
    """Return what a text says; None where it says no rule, no decision, and nothing to do."""
    if len(text.split()) < FEWEST_WORDS or DESCRIBES.match(text):
        return None
    is_strong = STRONG.search(text) is not None
    if PATH.match(text) and not RULE_IN_PROSE.search(text):
        return None
    if (found := CONDITION.match(text)) and found["when"].count("(") == found["when"].count(")"):
        is_command = found["sign"] == ":" and found["do"].startswith("`")
        is_act = is_command or STRONG.search(found["do"]) or IMPERATIVE.match(found["do"])
        return made(block, "pattern", found["when"].strip(), found["do"]) if is_act else None
    if CHOSE.search(text):
        reason = BECAUSE.search(text)
        said = text[: reason.start()] if reason and reason.start() > SHORTEST else text
        return made(block, "decision", said.rstrip(" ,;:(—–-"), reason[1] if reason and said != text else "")
    lead = LEAD.match(text)
    if lead and TROUBLE.search(block.heading) and block.indent is not None:
        return made(block, "pattern", lead["lead"], lead["rest"])
    rest = lead["rest"] if lead else text
    if is_strong or IMPERATIVE.match(text) or (lead and IMPERATIVE.match(rest)):
        last = block.heading.rpartition(" / ")[2]
        return made(block, "constraint", f"{last}: {text}" if last and len(text) < SHORT else text)
    return None


def made(block: Block, kind: ItemKind, text: str, more: str = "") -> NoteItem:
    """Return an item within bounds."""
    return NoteItem(block.heading, block.line, kind, text[:TEXT], more[:REASON])


# --- decision records and memories ----------------------------------------------------------------------------------


def adr_of(text: str, front: Mapping[str, object]) -> NoteItem | None:
    """Return the decision of an architecture decision record; None for one that is not followed."""
    sections: dict[str, list[str]] = {}
    title, name, line = "", "", 1
    for number, said in _own_lines(text):
        if found := HEADING.match(said):
            if len(found[1]) == 1 and not title:
                title, line = _plain(found[2]), number
            name = _plain(found[2])
        elif said.strip():
            sections.setdefault(name, []).append(said.strip())
    status = front.get("status") or " ".join(
        [*(found[1] for found in STATUS.finditer(text[:LINE])), *sections.get("Status", ())[:1]]
    )
    front_title = front.get("title")
    title = ADR_TITLE.sub(r"\g<title>", title or (front_title if isinstance(front_title, str) else ""))
    if not title or NOT_FOLLOWED.search(str(status)):
        return None
    parts = [_first_of(sections, pattern) for pattern in (DECIDED, WHY)]
    reasoning = "\n\n".join(filter(None, parts))
    return NoteItem("", line, "decision", title[:TEXT], reasoning[:REASON]) if reasoning else None


def _first_of(sections: Mapping[str, list[str]], pattern: re.Pattern[str]) -> str:
    """Return the text of the first section whose heading is of a sort."""
    found = next((lines for name, lines in sections.items() if pattern.match(name)), [])
    return "\n".join(_plain(line) for line in found)[:REASON]


def memory_of(text: str, front: Mapping[str, object]) -> NoteItem | None:
    """
    Return what a file of Claude's memory folder says, as a whole.

    What the user said to do is a constraint, a fact of the project a decision; who the user is, and where something
    stands, is nothing.
    """
    about = front.get("metadata")
    sort = about.get("type") if isinstance(about, dict) else front.get("type")
    kinds: Mapping[object, ItemKind] = {"feedback": "constraint", "project": "decision"}
    if (kind := kinds.get(sort)) is None:
        return None
    said = [(number, _plain(line)) for number, line in _own_lines(text) if line.strip() and not HEADING.match(line)]
    if not said:
        return None
    more = "\n".join(line for _, line in said[1:])
    return NoteItem("", said[0][0], kind, said[0][1][:TEXT], more[:REASON])
