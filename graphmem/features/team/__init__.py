"""More than one machine: memories in a server that several people share."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={"team": "Memories in a PostgreSQL server, and who is a member of a project there."},
    operations={"server": "team.init team.grant team.revoke"},
    on_store="team",
    verbs={"team": "team.init team.grant team.revoke"},
    text="text",
)
