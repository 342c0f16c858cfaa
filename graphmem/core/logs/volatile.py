"""
What changes from run to run and from machine to machine, and says nothing of what went wrong.

Times, ids, addresses, temporary paths and home folders change in every text. In a line that reports an error, so do
numbers that count, index, measure, identify or date something: ports, list indices, job numbers, sizes, durations. A
number is telling after a word of ``NAMED``, where two values are compared, and everywhere else.
"""

import re
from collections.abc import Callable

from graphmem.core.logs.pattern_set import PatternSet
from graphmem.patterns import lazy_re

Rule = tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]


class VolatileRules:
    """Rules in their order; before each what a text must hold of it, and of all at once which a text may need."""

    def __init__(self, *rules: tuple[str, str, str | Callable[[re.Match[str]], str]]) -> None:
        self.set = PatternSet([pattern for _, pattern, _ in rules])
        self.rules: list[Rule] = [(needs, lazy_re(pattern, re.IGNORECASE), then) for needs, pattern, then in rules]

    def apply(self, text: str, *, has_digit: bool) -> str:
        """Return a text after these rules."""
        places = self.set.may_find(text)
        for place, (needs, pattern, replacement) in enumerate(self.rules):
            if place in places and (needs in text if needs in WITHOUT_DIGIT else has_digit and needs in text):
                before, text = text, pattern.sub(replacement, text)
                places = places if text == before else self.set.may_find(text)
        return text


CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[ap]m\b)?(?: ?(?:z|utc|gmt|[+-]\d\d:?\d\d)\b)?"
DAY = r"(?:\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? +)?"
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
AMOUNT = r"\d{1,20}(?:[.,]\d{1,20}){0,6}"
ALONE = r"(?<![\w.,])"
END = r"(?!\w|[.,]\d)"
# A number after one of these is a name: with another one it is another error.
NAMED = (
    r"((?:\b(?:errno|err|code|status|http|signal|exit(?:ed)?(?: with)?|\w*error|exception|hresult|result|sqlstate|byte"
    r"|migration|version|revision|schema|release|tag|level|axis)[\"']?[ :=#(\[]{1,3}[\"']?)?)"
)
# Services by the ports that they are known by, and by the few after each: two clients of one service fail alike.
SERVICES = {
    str(port + more): name
    for port, name in (
        (1433, "mssql"), (1521, "oracle"), (2181, "zookeeper"), (3306, "mysql"), (5432, "postgres"), (5672, "amqp"),
        (6379, "redis"), (9092, "kafka"), (9200, "elasticsearch"), (11211, "memcached"), (27017, "mongodb"),
    )
    for more in range(5)
} | {"22": "ssh", "25": "smtp", "53": "dns", "80": "http", "389": "ldap", "443": "https", "587": "smtp"}  # fmt: skip
PORT = r"((?:\b\d{1,3}(?:\.\d{1,3}){3}|\blocalhost|[\]*]|::1?|//[\w.-]{1,200}|\.[a-z]{2,}):)(\d{2,5})\b(?![.:]\d)"
NAMED_PORT = r"(\bports?[ =:]+)(\d{2,5})\b(?![.:]\d)"
# What numbers tell apart without telling what went wrong: 'worker 3', 'job #12', 'attempt 2 of 5', 'port=80'.
COUNTED = (
    r"\b(pid|ppid|tid|process|thread|goroutine|worker|job|run|request|req|session|connection|conn|client|transaction"
    r"|txn|xid|attempts?|retry|retries|try|container|block|chunk|batch|frame|sector|inode|event|offset|position|pos"
    r"|char|character|line|lineno|column|col|row|record|entry|fd|handle|seq|sequence|epoch|step|iteration|iter|gpu"
    r"|partition|shard|pipeline|build|port|oid|id|executor|task|stage|rank|slot|replica|member|agent|instance)"
)
MEASURED = (
    r"\b(index|idx|indices|length|len|size|count|total|capacity|used|free|allocated|requested|available|timeout|ttl"
    r"|elapsed|took|usage|rss)"
)
NUMBER_OF_IT = (
    r"(?:[ _-]?(?:id|no\.?|nr\.?|number|num))?[\"']?[ :=#]+(?:(?:is|was|of|at)[ :=]+)?#?\d+"
    r"(?:(?: of |/)\d+|:\d+)?(?!\w|\.\d)"
)
ITEMS = (
    r"errors?|warnings?|problems?|failures?|failed|passed|skipped|tests?|files?|items?|rows?|records?|lines?|elements?"
    r"|times?|attempts?|retries|connections?|workers?|threads?|packages?|vulnerabilities|nodes?|modules?|entries"
    r"|objects?|samples?|characters?|chars?|jobs?|tasks?|requests?|process(?:es)?|containers?|pods?|replicas?"
    r"|insufficient|restarts?"
)
# Before a number that counts what comes after it; after any other word it is a name: 'TLS 1.0 handshake failed'.
COUNTING = (
    r"((?:^|[\[(:;,=>|]|(?<!\S)[-*!])\s*|(?<![\w-])(?:found|with|of|after|for|in|got|had|has|have|all|only|and"
    r"|or|by|than"
    r"|over|least|most|to|are|is|was|were|ran|running|reported|detected|remaining|made|another|these|those|last"
    r"|first|next"
    r"|err!) )"
)
COUNT = r"\d{1,20}(?:,\d{3}){0,6}(?![\w.,])"
UNIT = r"(?:ns|us|µs|ms|s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|d|days?)"
CHECKOUT = (  # a folder in which a project is on some machine
    r"(?<![\w./~-])(?:~|/(?:builds?(?:/\d+)?|workspaces?|github/workspace|app|src|code|usr/src/app|srv/app|__w"
    r"|drone/src"
    r"|var/(?:jenkins_home|lib/jenkins)/workspace)|[a-z]:/a)"
)


def _known_service(found: re.Match[str]) -> str:
    """Return a port by the name of the service that it is known by; any other as it is."""
    return f"{found[1]}{SERVICES.get(found[2], found[2])}"


EPHEMERAL = 32_768  # ports from here on are given by the system


def _named_port(found: re.Match[str]) -> str:
    """Return a port, which says which service it is; none where the system chose it."""
    service = SERVICES.get(found[2], found[2])
    return f"{found[1]} '{service}'" if not service.isdigit() or int(service) < EPHEMERAL else found[1]


def _unless_named(found: re.Match[str]) -> str:
    """Return a blank in the place of a number, or the number where it is a name."""
    return found[0] if found[1] else " "


# In the order in which they are applied.
ALWAYS = VolatileRules(
    (":", PORT, _known_service),
    ("-", r"(?<=[\w])[-.](?=[\w-]*\d)[\w-]{8}(?=\.(?:[cm]?js|css|map|woff2?|png|svg)\b)", ""),
    ("\\", r"(?<=[\w.~:$@+-])\\+(?=[\w.~$@+-])", "/"),
    ("-", r"((?:\bdate |['\"])(?=\d{4}-\d\d-\d\d(?![t _]\d\d:)))?"
          r"\b\d{4}-\d\d-\d\d([t _]\d\d[:_-]\d\d([:_-]\d\d)?([.,_]\d+)?( ?(z|utc|[+-]\d\d:?\d\d))?)?\b", _unless_named),
    ("/", rf"\b(?:\d{{4}}/\d\d/\d\d|\d{{1,2}}/\d{{1,2}}/\d{{4}}|\d\d?/{MONTH}/\d{{4}})(?:(?:,? |:){CLOCK})?", " "),
    (".", rf"(?<![\w.])\d{{1,2}}\.\d{{1,2}}\.\d{{4}},? {CLOCK}", " "),
    ("", rf"{DAY}\b{MONTH}\.? +\d{{1,2}}(?:,? \d{{4}})?,? (?:at )?{CLOCK}(?: \d{{4}}\b)?", " "),
    ("", rf"{DAY}\b\d{{1,2}}[ -]{MONTH}[ -]\d{{4}},? {CLOCK}", " "),
    ("", r"\b\d{8}t\d{6}([.,]\d+)?z?\b", " "),
    (":", r"\b\d{1,2}:\d\d:\d\d([.,]\d+)?( ?[ap]m\b)?", " "),
    ("", rf"{NAMED}(?<![\w.-])1[4-9]\d{{8}}(\d{{3}}|\.\d+)?{END}", _unless_named),
    ("-", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", " "),
    ("-", r"(?<=\w)-(?=[a-f]*\d)[0-9a-f]{8,10}-[a-z0-9]{5}\b", " "),
    ("0", rf"{NAMED}\b0x(?!(?:c0|80)[0-9a-f]{{6}}\b)[0-9a-f]+\b", _unless_named),
    ("", r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b", " "),
    ("", r"\b[0-7][0-9a-hjkmnp-tv-z]{25}\b", " "),
    ("/", r"/nix/store/[0-9a-z]{32}-", "/nix/store/"),
    ("/", r"(?:(?:/private)?/(?:tmp|var/folders|var/tmp|run/user|home/runner/work/_temp)|\$tmpdir)"
          r"/[^\s'\"`)\],;]+", " "),
    ("/", r"\b[a-z]:/(?:users/[^/\s]+/appdata/local/temp|windows/temp|temp|tmp)/[^\s'\"`)\],;]+", " "),
    ("/", r"(?<![\w/])((?:[a-z]:)?(/home|/users)/[^/\s]+|/root)(?=/)", "~"),
    ("", r"\b(line|lineno|column|col|pid|process|thread)[ :=#]+\d+\b", r"\1"),
    (":", r"(\.[a-z]\w{0,4}|\b\w*(?:makefile|dockerfile|jenkinsfile)|<\w+>):\d+(:\d+)?\b", r"\1"),
    ("(", r"(\.\w{1,5})\(\d+(,\d+)?\)", r"\1"),
    (":line", r"(\.\w{1,5}):line \d+\b", r"\1"),
)  # fmt: skip
IN_ERRORS = VolatileRules(
    ("/", rf"{CHECKOUT}(?:(?:/[\w.+@-]+)*?"
          r"/((?:src|lib|app|tests?|packages|cmd|internal|pkg|config|spec|docs)/[\w.+@/-]+)"
          r"|(?:/[\w.+@-]+)*/([\w.+@-]+/[\w.+@-]+))", lambda found: found[1] or found[2]),
    ("port", NAMED_PORT, _named_port),
    (":", PORT, _named_port),
    ("@", r"(?<![\w/@:])[a-z_][\w.-]{0,40}@(?:[a-z][\w-]{0,60}(?:\.[\w-]{1,60}){0,5}|\d{1,3}(?:\.\d{1,3}){3})"
          r"(?=[\s:)\]'\"]|$)", " "),
    (".", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])", " "),
    ("", rf"{COUNTED}{NUMBER_OF_IT}", r"\1"),
    ("", r"((?:thread|worker|pool|exec|executor|runner|process|dispatcher|concurrent)\w*)"
         r"[-_#]\d+(?:[-_](?:thread[-_])?\d+)*\b", r"\1"),
    ("gw", r"\bgw\d+\b", "gw"),
    ("", r"\b(\w{0,40}?(?:[ _-]?id|trace|span))[\"']?[:=] ?[\"']?"
         r"(?=[^\s\"',=]{0,200}\d)[\w./+-]{1,200}", r"\1"),
    ("=(", r"(?<=id\)=)\(\d+\)", "()"),
    ("#", r"(?<![\w#])#\d+\b", " "),
    ("(x", r"\(x\d+ over [\dhms.]+\)", " "),
    (".", r"\b(client|remote|peer|from)([:= ]+)\d{1,3}(?:\.\d{1,3}){3}\b", r"\1\2"),
    ("", r"(?<![\w.])(?:\d+d ?)?(?:\d+h ?)?\d+m(?: ?\d+s)?\b", " "),
    ("->", r"(?<=-> )\d+(?= ->)", " "),
    ("[", rf"{NAMED}(?<=\w)\[\d+\]", lambda found: found[0] if found[1] else "[]"),
    ("[", rf"{NAMED}\[(?![45]\d\d\])\d+\]", _unless_named),
    ("", r"[\[(]\s*\d+\s*(?:/|of)\s*\d+\s*[\])]", " "),
    ("/", r"(?<=/proc/)\d+", ""),
)  # fmt: skip
UNLESS_COMPARED = VolatileRules(
    ("", rf"{MEASURED}{NUMBER_OF_IT}", r"\1"),
    ("", rf"{ALONE}{AMOUNT} ?(?:bytes?|[kmgtp]i?b|[kmgt]i)(?:/s)?\b", " "),
    ("%", rf"{ALONE}{AMOUNT} ?%(?!\w)", " "),
    ("/", r"(?<![\w./-])\d+/\d+ (?=[a-z])", " "),
    ("", rf"{COUNTING}(?![1-5]\d\d (?:client|server|internal|error)){COUNT} (?=(?:[a-z]+ )?(?:{ITEMS})\b)", r"\1 "),
    ("", rf"(?:\b(?:after|took|in|within|for|elapsed)[ :=]+)?{ALONE}(?:(?:\d+h ?)?\d+m ?)?{AMOUNT} ?{UNIT}\b", " "),
    ("", rf"{NAMED}(?<![\w.-])\d{{6,}}{END}", _unless_named),
)  # fmt: skip
SPANS = VolatileRules(
    ("", r"\b\d+([.,]\d+)?\s*(ns|us|µs|ms|s|sec|secs|seconds?|min|minutes?|hours?)\b", " "),
    ("", r"[\[(<]\s+[\])>]", " "),
)  # fmt: skip
COMPARED = lazy_re(
    r"\b(?:expect(?:ed|s)?|got|received|actual|assert\w*|require[sd]?|must|should|mismatch|match|unequal|instead of"
    r"|want(?:ed)?|too (?:few|many)|given)\b|[!=]=|[<>]=",
    re.IGNORECASE,
)
DIGIT = lazy_re(r"\d")
WITHOUT_DIGIT = ("/", "\\", "@")  # what changes of a path need not have a digit; all else does


def stable(text: str, *, is_error: bool = False) -> str:
    """
    Return a text without what changes from run to run; case stays, for it tells identifiers.

    Args:
        is_error: the text is a line that reports an error, so numbers that count or measure change as well.
    """
    has_digit = DIGIT.search(text) is not None
    for group in groups(text, is_error=is_error):
        text = group.apply(text, has_digit=has_digit)
    return " ".join(text.split())


def groups(text: str, *, is_error: bool) -> tuple[VolatileRules, ...]:
    """Return the rules that apply to a text, in their order."""
    if not is_error:
        return ALWAYS, SPANS
    return (ALWAYS, IN_ERRORS) if COMPARED.search(text) else (ALWAYS, IN_ERRORS, UNLESS_COMPARED, SPANS)
