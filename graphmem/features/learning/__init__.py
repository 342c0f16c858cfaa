"""Lessons of runs, and experiences of finished tasks."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "lessons": "What runs taught: seen again, fading, and injected into prompts.",
        "experiences": "What finished tasks taught.",
    },
    operations={
        "add": "lessons.add experiences.add",
        "lessons": "lessons.learn lessons.decay lessons.inject",
        "experiences": "experiences.recall experiences.promote",
    },
    extends={"section": "sections.entries"},
    verbs={
        "add": "lessons.add experiences.add",
        "lesson": "lessons.learn lessons.decay lessons.inject",
        "experience": "experiences.recall experiences.promote",
    },
    text="text",
)
