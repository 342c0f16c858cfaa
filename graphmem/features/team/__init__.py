"""More than one clone or machine: a memory in a ref of its own or in a server, and what the clones give each other."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "ledger": "The rows, and the place that they are in.",
        "team": "Memories in a PostgreSQL or Redis server, and who may use a project there.",
    },
    operations={"sync": "sync", "move": "ledger.move", "server": "team.init team.grant team.revoke team.upgrade"},
    on_store="sync ledger team",
    verbs={"sync": "sync", "ledger": "ledger.move", "team": "team.init team.grant team.revoke team.upgrade"},
    text="text",
)
