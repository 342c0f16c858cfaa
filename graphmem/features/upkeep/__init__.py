"""Upkeep of a store: validate, doctor, export, rebuild, embed, vacuum, and their like."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "embed": "The model that makes the vectors.",
    },
    operations={
        "init": "init",
        "export": "export export_check",
        "embedding": "embed.status embed.change",
        "rebuild": "rebuild",
        "conflicts": "resolve",
        "split": "split",
        "vacuum": "vacuum",
        "reset": "reset",
        "validate": "validate",
        "branch_check": "check",
        "doctor": "doctor",
        "trust": "trust",
        "config": "config",
        "schema": "schema",
    },
    on_store="export export_check embed rebuild resolve split vacuum reset validate doctor trust config schema",
    verbs={
        "config": "config",
        "embed": "embed.status embed.change",
        "export": "export",
        "split": "split",
        "rebuild": "rebuild",
        "validate": "validate",
        "check": "check",
        "resolve": "resolve",
        "vacuum": "vacuum",
        "reset": "reset",
        "trust": "trust",
        "schema": "schema",
    },
    text="text",
)
