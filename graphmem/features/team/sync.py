"""Sync: the memory of a clone, exchanged with another repository or with a server."""

from graphmem.errors import Refused, Unavailable, Usage
from graphmem.features.team.contract import Synced, SyncRequest
from graphmem.features.team.exchange import exchange
from graphmem.kernel.git import commands
from graphmem.kernel.git.remote import Remote, address_of
from graphmem.kernel.ledger.ref.place import RefPlace
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.settings.address import is_server
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.shell import command
from graphmem.kernel.text import count

TRIES = 20  # to be faster than the others who sync at the same time


@operation(
    "sync",
    writes=True,
    previews="dry_run",
    positional=1,
    arguments=1,
    at_home=True,
    takes={"remote": Taken("REMOTE")},
    not_over_http="uses the connections and keys of the caller",
    example="graphmem sync",
    help="""
    Share the memory with another repository or a server: take in what is new there, and give what is new here.

    Rows are merged by key and field. A ref of its own is exchanged with a repository, and nothing in the working tree
    or the index changes; any memory is with a server, and files change without a commit.
    """,
)
def sync(client: Client, request: SyncRequest) -> Synced:
    """
    Exchange the memory of a ref with another repository, or any with a server, merged by rows.

    Raises:
        Usage: the address of a server is none, or a preview is asked for of a ref.
        Refused: without a server, the rows are in files of the branch, the host refuses the ref, its ref holds other
            files, or the remote is a folder that the user never named.
        Unavailable: the other repository cannot be reached; the error says what waits.
    """
    if request.remote is not None and is_server(request.remote):
        return exchange(client, request.remote, is_real=not request.dry_run)
    if request.dry_run:
        raise Usage("a preview is of an exchange with a server", hint=f"see: {command('graphmem', 'sync', '--help')}")
    place = client.ledger.place
    if not isinstance(place, RefPlace):
        what = "the rows are in files of the branch, which git pull and git push share"
        raise Refused(what, hint="to have them in a ref of their own: graphmem ledger move ref")
    client.sync()
    client.refuse_unwritable()
    name, address, needs_trust = address_of(client.root, request.remote)
    remote = Remote(place.ref, name, address, client.layout.local / "remotes")
    if needs_trust and not remote.is_known:
        raise Refused(
            f"remote {name} is the folder {address!r}, as the repository says, and git runs what is configured there",
            hint=f"if it is yours, name it once: {command('graphmem', 'sync', address)}",
        )
    before = remote.last()
    began = place.ref.value()
    received = 0
    for _ in range(TRIES):
        try:
            theirs = remote.fetch()
            with place.holding(place.lock_timeout_s):
                began = place.ref.value()
                if theirs is not None:
                    received += _count(client, theirs, began)
                    place.meet(theirs, before)
                ours = place.ref.value()
            assert ours is not None
            sent = _count(client, ours, theirs)
            if ours == theirs or remote.push(ours, theirs):
                break
        except (Unavailable, Refused) as error:
            waits = count(_count(client, place.ref.value(), before), "commit")
            raise type(error)(f"{error.message}; waiting here: {waits}", hint=error.hint) from None
    else:
        raise Unavailable(f"others write to {remote.name} all the time", hint="again: graphmem sync")
    remote.note(ours)
    client.has_looked = False
    client.sync()
    return Synced(ref=place.ref.name, remote=remote.name, commit=ours, received=received, sent=sent)


def _count(client: Client, new: str | None, old: str | None) -> int:
    """Return how many commits one has that another lacks."""
    if new is None:
        return 0
    return int(commands.output_of(client.root, "rev-list", "--count", new, *([f"^{old}"] if old else []), "--") or 0)
