"""``type …``: the project's entity and relation types."""

from graphmem.doors.cli.commands import group_of

app = group_of("type", "Declare and show entity and relation types.")
app.add_typer(group_of("type add", "Declare an entity type or a relation type."), name="add")
