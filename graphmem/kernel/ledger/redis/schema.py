"""
The keys of a project in a Redis server, what changes them, each in one step of the server, and who may use them.

The keys share a hash tag, so a cluster has them on one node. ``project`` is a hash: the epoch, the numbers of the last
commit, which commit is known to be on as many disks as it has to be, and on how many replicas that is. ``rows:PART``
has the rows of a part by their number: columns as JSON, a line end, and the line. ``order:PART`` has the numbers of the
rows by the commit that wrote or deleted them, ``parts`` the parts by the last commit that wrote them, ``changes`` what
rows were and are; the texts of the vocabulary are in one part. ``lock`` has the token of who writes, and expires;
``free`` is a list that wakes one of those who wait for it.
"""

import secrets

from graphmem.errors import Refused
from graphmem.kernel.ledger.redis.connection import Client, answering, ask, node_of
from graphmem.kernel.ledger.served import TEXT
from graphmem.kernel.system.files import shipped

FORMAT = 1
COMMIT = shipped("schema").joinpath("redis-commit.lua").read_text(encoding="utf-8")
# KEYS: lock. ARGV: the token, milliseconds.
EXTEND = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])"
# KEYS: lock, project, free. ARGV: the token, the last commit that is known to be confirmed or nothing.
RELEASE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[2], 'confirmed', ARGV[2]) end
redis.call('RPUSH', KEYS[3], 1)
redis.call('LTRIM', KEYS[3], 0, 0)
return redis.call('DEL', KEYS[1])
"""
READING = (
    "+hgetall +hget +hmget +zrange +zmscore +exists +xrange +info +command +cluster|slots +cluster|shards +readonly"
    " +asking +ping +time +client|setinfo +client|setname"
)
WRITING = "+set +get +del +blpop +rpush +ltrim +pexpire +hset +hdel +hincrby +zadd +xadd +xdel +eval +wait +waitaof"


def key(project: str, name: str) -> str:
    """Return a key of a project."""
    return f"graphmem:{{{project}}}:{name}"


def part_keys(project: str, file: str) -> tuple[str, str]:
    """Return the keys of the rows of a part, and of their order."""
    part = file if file.startswith("data/") else TEXT
    return key(project, f"rows:{part}"), key(project, f"order:{part}")


def make_project(client: Client, project: str) -> None:
    """
    Make a project unless it is there, and note whether its server has a replica: then each commit must be on one.

    Raises:
        Refused: it is there in a newer form.
    """
    at = key(project, "project")
    made = {"format": FORMAT, "epoch": secrets.token_hex(8), "seq": 0, "commit": 0, "confirmed": 0, "size": 0}
    for name, value in made.items():
        ask(client, "HSETNX", at, name, value)
    refuse_newer(int(ask(client, "HGET", at, "format")))
    with answering():
        replicas: int = node_of(client, at).info("replication")["connected_slaves"]
    ask(client, "HSET", at, "replicas", min(replicas, 1))


def refuse_newer(found: int) -> None:
    """Raise ``Refused`` where a project is in a newer form than this program knows."""
    if found > FORMAT:
        raise Refused(
            f"the project in the server has format {found}, and this graphmem writes {FORMAT}",
            hint="upgrade graphmem; until then it only reads",
        )


def grant_commands(user: str, project: str, *, writes: bool) -> list[str]:
    """Return what the administrator of the server runs, on each node of a cluster, to let a user in."""
    keys, may = ("~", f"{READING} {WRITING}") if writes else ("%R~", READING)
    return [f"ACL SETUSER {user} on {keys}{key(project, '*')} {may}"]


def revoke_commands(user: str) -> list[str]:
    """Return what takes a user out of all projects of the server, on each node of a cluster."""
    return [f"ACL SETUSER {user} resetkeys"]
