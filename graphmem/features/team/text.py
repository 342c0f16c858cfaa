"""How the answers about the place of the rows read."""

from graphmem.features.team.contract import LedgerMoved, Synced
from graphmem.features.team.server_contract import ServerChanged
from graphmem.kernel.registry import Printout, reads
from graphmem.kernel.text import count


@reads(Synced)
def _synced_text(answer: Synced) -> Printout:
    noun = "commit" if answer.ref else "row"
    what = [f"{count(answer.received, noun)} received"] if answer.received else []
    what += [f"{count(answer.sent, noun)} sent"] if answer.sent else []
    return Printout(f"{answer.ref or 'the rows'} with {answer.remote}: {', '.join(what) or 'nothing new'}")


@reads(LedgerMoved)
def _moved_text(answer: LedgerMoved, dry_run: bool = False) -> Printout:
    if not answer.changed:
        return Printout(f"the rows are in {answer.path} already")
    done, files = "would move" if dry_run else "moved", count(answer.files, "file")
    if answer.to == "ref":
        history = f", after {count(answer.commits, 'commit')} of the branch" if answer.commits else ""
        left = "the files in the branch are not read any more; to remove them: git rm -r -q .graphmem"
        text, notes = f"{done} {files} into {answer.ref}{history}", (left, "to share it: graphmem sync")
    else:
        notes = ("to commit them: git add .graphmem", f"the history of the rows stays in {answer.ref}")
        text = f"{done} {files} into {answer.path}"
    return Printout(text, *(() if dry_run else notes))


@reads(ServerChanged)
def _server_text(answer: ServerChanged) -> Printout:
    if answer.sql:
        is_redis = answer.server.startswith("redis")
        who = "administrator of the server, on each node of a cluster" if is_redis else "owner of the tables"
        return Printout("\n".join(answer.sql), f"{answer.done}: run this as the {who}", is_file=True)
    return Printout(f"{answer.done}: {answer.server}")
