"""``import …``."""

from graphmem.cli import harvest
from graphmem.cli.commands import noun

app = noun("Make records and candidates of what other programs hold.")
app.command("sessions", epilog="Example: graphmem import sessions")(harvest.sessions)
