"""
Near misses: questions about another error of the same sort as a stored one, beside questions about the stored one.

Three sets. ``written`` is 40 failures of many tools, written for this benchmark (`near_misses.json`): each with the
same in other words and within a prompt, and with two others: another module, table, option, code or message. ``other
hand`` is 80 of the sort, written by somebody who had not seen the rules (`other_hand.json`): it is measured and never
fitted. ``made`` is made of the messages of citrig, a public set: each in other surroundings and within a prompt; as a
near miss, with a name of another message in the place of one of its own.
"""

import json
import random
import re
from pathlib import Path
from typing import NamedTuple

from graphmem.core.records.dedup import telling
from tests.public_sets import read

SETS = ("written", "other hand", "made")
SURROUNDINGS = (
    "2026-11-2{day} 10:0{day}:13,{number} ERROR worker-{day}: {text}",
    'Traceback (most recent call last):\n  File "/srv/app/m{number}.py", line {number}, in main\n    run()\n{text}',
    "E   {text}\n\nFAILED tests/test_x{number}.py::test_it",
    "why do we get {text}",
)
PROMPT = "{before}. Since then this comes up: {text}. {after}, please."
MESSAGES = 120  # of citrig
WORDS = range(4, 41)  # of a message that is asked for


class Failure(NamedTuple):
    """A stored failure, what asks for it, and what asks for another one."""

    trigger: str
    fix: str | None
    same: list[str]
    other: list[str]


def failures_of(name: str, data: Path) -> list[Failure]:
    """Return the failures of a set, with what asks for each."""
    if name == "made":
        return made(data)
    file = {"written": "near_misses.json", "other hand": "other_hand.json"}[name]
    found = [Failure(**row) for row in json.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))]
    if name == "other hand":
        return found
    return [
        failure._replace(same=[*failure.same, failure.trigger, surrounded(failure.trigger, number)])
        for number, failure in enumerate(found)
    ]


def surrounded(text: str, number: int) -> str:
    """Return a message in other surroundings."""
    return SURROUNDINGS[number % len(SURROUNDINGS)].format(text=text, number=number + 10, day=number % 10)


def made(data: Path) -> list[Failure]:
    """Return messages of citrig, with what is made of them."""
    rng = random.Random("near misses")
    texts = [row["text"] for row in read(data / "citrig", "memories")]
    names = {text: [name for name in names_of(text) if len(name) > 3] for text in texts}
    titles = [row["title"] for row in read(data / "beads", "memories") if len(row["title"].split()) > 4]
    chosen = [text for text in texts if names[text] and len(text.split()) in WORDS]
    found = []
    for number, text in enumerate(rng.sample(chosen, min(MESSAGES, len(chosen)))):
        before, after = rng.sample(titles, 2)
        own = rng.choice(names[text])
        others = sorted({name for found in names.values() for name in found if shape(name) == shape(own)} - {own})
        swapped = text.replace(own, rng.choice(others)) if others else text
        others_of = [swapped, PROMPT.format(before=before, text=swapped, after=after)]
        found.append(
            Failure(
                trigger=text,
                fix=None,
                same=[surrounded(text, number), PROMPT.format(before=before, text=text, after=after)],
                other=others_of if swapped not in texts and shape(own) != "word" else [],
            )
        )
    return found


def names_of(text: str) -> list[str]:
    """Return the telling names of a text as they are written in it."""
    folded = text.casefold()
    return sorted({text[at : at + len(name)] for name in telling(text) if (at := folded.find(name)) >= 0})


def shape(name: str) -> str:
    """Return what sort of name it is, so that another of the sort can take its place."""
    sorts = (("/", "path"), (" ", "phrase"), (".", "dotted"), ("_", "snake"), ("-", "kebab"))
    of = next((sort for sign, sort in sorts if sign in name), None)
    return of or ("camel" if re.search(r"[a-z][A-Z]", name) else "number" if name.isdigit() else "word")
