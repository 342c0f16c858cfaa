"""How the answers about a server of memories read."""

from graphmem.features.team.server_contract import ServerChanged
from graphmem.kernel.registry import Printout, reads


@reads(ServerChanged)
def _server_text(answer: ServerChanged) -> Printout:
    if answer.sql:
        return Printout("\n".join(answer.sql), f"{answer.done}: run this as the owner of the tables", is_file=True)
    return Printout(f"{answer.done}: {answer.server}")
