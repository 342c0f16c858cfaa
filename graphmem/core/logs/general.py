"""
General rules: which problem a line tells that no format knows.

An error class with its message, a place with a message, a line led by a word of failing or by a code, what a shell says
of a program.
"""

import re

from graphmem.core.logs.pattern_set import PatternSet
from graphmem.core.logs.prefixes import forms
from graphmem.core.logs.problem import LogProblem
from graphmem.patterns import lazy_re

GENERIC = frozenset(  # classes that say only that something is wrong
    "error exception failure fatal panic critical severe warning runtimeerror fault throwable".split()
)
CLASS = lazy_re(
    r"(?:^|(?<=[\s(\"'|\]>:]))(?P<package>(?:[A-Za-z_$][\w$]*(?:\.|::|\\))*)"
    r"(?P<class>[A-Z][\w$]*(?:Error|Exception|Failure|Fault|Interrupt|Violation|Warning|Timeout|Expired"
    r"|NotFound|Exit)|Error|Exception)"
    r"(?: \[(?P<code>[\w.-]+)\])?(?::\s+(?P<message>\S.*)|:?\s*$)"
)
ANY_CLASS = lazy_re(r"^(?:[a-z_]\w*\.)+(?P<class>[A-Z]\w*[a-z]\w*)(?::\s+(?P<message>\S.*)|:?\s*$)")
# After the frames of a trace any name is that of an error.
RAISED = lazy_re(r"^(?:[A-Za-z_$][\w$]*(?:\.|::))*(?P<class>[A-Z][\w$]*[a-z][\w$]*)(?::\s+(?P<message>\S.*)|:?\s*$)")
MARKED_CLASS = lazy_re(r"^E {2,}(?:[A-Za-z_]\w*\.)*(?P<class>[A-Z]\w*[a-z]\w*): (?P<message>\S.*)$")  # of pytest
FILE = (
    r"(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\",|<>*]*(?:\.[A-Za-z]\w{0,9}|[\\/][^\s:()\[\]'\",|<>]+|[Mm]akefile|[Dd]ockerfile)"
)
PLACE = lazy_re(
    rf"^(?:(?:in|at|In|At|File|file|-->|vet:|»|>+|\*)\s+)?[\"'\[(]?(?P<file>{FILE})[\"']?"
    r"(?:[:,]\s?(?:on |at )?[Ll]ine (?P<l1>\d{1,7})(?:,? (?:[Cc]ol(?:umn)?|[Cc]har(?:acter)?) (?P<c1>\d{1,5}))?"
    r"|:\[?(?P<l2>\d{1,7})(?:[:.,](?P<c2>\d{1,5}))?(?:-[\d:]+)?\]?"
    r"|\s?\((?P<l3>\d{1,7})(?:[,:]\s?(?P<c3>\d{1,5}))?(?:-[\d,:]+)?\))"
    r"[)\]]?(?:\s?[:,-]|\s)\s*(?P<rest>\S.*[^\W\d_].*)$"
)
ROW = lazy_re(  # a row under the name of a file
    r"^\s*(?P<line>\d{1,7}):(?P<column>\d{1,5})\s+(?:[-–]\s+)?(?P<severity>error|warning|Error|Warning|ERROR"
    r"|[✖×✗⚠✘⨯●▲])?\s*(?P<rest>\S.*)$"
)
SEVERITY = lazy_re(
    r"^(?:\[)?(?P<severity>fatal error|internal compiler error|syntax error|parse error|compile error"
    r"|build error|runtime error"
    r"|error response from daemon|error|err|fatal|panic|failure|failed|critical|severe|crit|alert|emerg"
    r"|abort(?:ed)?)\]?"
    r"(?:\[(?P<c1>[\w:@/.-]+)\]|\((?P<c2>[\w:@/.-]+)\)|[ \-](?P<c3>[A-Z]{1,8}-?\d{2,6}))?\]?\s?(?:[:!]+|\s[-–—"
    r"|»>]+)\s*(?P<rest>\S.*)$",
    re.IGNORECASE,
)
WARNING = lazy_re(
    r"^\[?(?:warning|warn|note|info|hint|help|notice|deprecat\w+|style|convention|refactor)\]?"
    r"(?:\[(?P<code>[\w:@/.-]+)\]|[ -](?P<c2>[A-Z]{1,8}-?\d{2,6}))?\s?(?:[:!]|\s-)\s*(?P<rest>\S.*)$",
    re.IGNORECASE,
)
SHOUTED = lazy_re(
    r"^(?:ERROR|FATAL|FAIL(?:ED|URE)?|CRITICAL|SEVERE|Error"
    r"|Fatal)(?:\s+in\s+(?P<where>\S+))?\s+(?P<rest>(?=.*[a-z])\S.{8,})$"
)
MARKED = lazy_re(
    r"^(?:(?:[✖✘×✗⨯❌‼⛔🚨💥]\ufe0f?|\[!\]|\[x\]|\[X\]|!!+|>> |\(!\))\s*|(?:Issue|LogProblem|Violation|Finding|Reason"
    r"|Cause|Details?): )(?P<rest>\S.*)$"
)
LED = lazy_re(  # by a program: "git: fatal: …", "docker: Error response from daemon: …"
    r"^(?P<program>[\w./@+-]{1,40}(?: \[[^\]]*\])?): (?P<rest>(?:(?:fatal|error|panic|failed|cannot|could not"
    r"|unable)\b|(?:[A-Z]\w*)?Error\b).*)$",
    re.IGNORECASE,
)
MIDDLE = lazy_re(r"^\S.{0,120}?: (?:[A-Z]{2,8} )?(?:fatal error|error|fatal|panic|ERROR|FATAL|Error): (?P<rest>\S.*)$")
CODE_FIRST = lazy_re(
    r"^(?:\[)?(?P<code>[A-Z]{1,8}-?\d{2,6}[A-Z]?|[A-Z]\d{1,2}[A-Z]\d{2})(?::[\w-]+)?\]?(?::?\s+\[\*\]\s|(?::"
    r"|\s-|)\s+|:[\w-]+\]?\s+)(?P<rest>\S.*)$"
)
CODE_LAST = lazy_re(
    r"(?:\s{2,}(?P<c1>[@\w][\w@/.:-]*[\w])|\s+\[(?P<c2>-?[A-Za-z@][\w@/.:=+-]*)(?:,[^\]]*)?\]"
    r"|\s+\((?P<c3>[a-z][\w]*(?:[-/][\w-]+)+|report[A-Z]\w+|[A-Z]{1,6}\d{2,6})\))$"
)
RULE_HEAD = lazy_re(r"^(?P<code>[a-z][a-z\d]*(?:[-/][a-z\d]+)+): (?P<rest>\S.*)$")
PLAIN = lazy_re(
    r"command not found|no such file or directory|permission denied|segmentation fault|core dumped|undefined reference"
    r"|(?:address|port \S+ is) already in use|connection (?:refused|reset|timed out)|operation (?:not permitted"
    r"|timed out)|no space left"
    r"|(?:cannot|can't|could not|couldn't|unable to|failed to) (?:find|open|allocate|read|write|load|resolve"
    r"|connect|create|parse|locate|import|start|bind|access|execute|stat|determine|download|fetch|install|build"
    r"|compile|link|lock|mount|pull|push|delete|remove|get|use|be)\b"
    r"|out of memory|(?<!command )not found[.!]?$|no rule to make target|no required module provides"
    r"|(?:unknown|unrecogni[sz]ed|unsupported|illegal|invalid|unexpected|missing|ambiguous|undefined|duplicate) "
    r"(?:\w+ ){0,2}(?:flag|option|argument|command|subcommand|linter|directive|key|keyword|token|character"
    r"|identifier|symbol|type|syntax|value|property|field|attribute|variable|function|method|module|import"
    r"|script|target|plugin|section|parameter|operator|revision|task|version|reference|name|label|role|escape"
    r"|indentation|instruction|format)s?\b"
    r"|no such (?:\w+ )?(?:option|command|module|table|column|package|image|container|host|remote|ref|service"
    r"|target|key|user|method|element)\b"
    r"|provided but not defined|import cycle|build constraints exclude all|^missing script:|cannot connect to"
    r"|parse error near|\(HTTP [45]\d\d\)$|syntax error|does not exist|is not (?:defined|recognized|a valid"
    r"|a known|installed|allowed|supported|exported|assignable)|was not (?:found|declared)"
    r"|must (?:be|have|not)\b|already exists|violates|access denied|not authorized|unauthorized"
    r"|authentication failed|deadlock|timed? ?out\b|exceeded"
    r"|conflicts? with|merge conflict|killed|aborted|expired|mismatch|incompatible|is required|are required|requires\b",
    re.IGNORECASE,
)
PLAIN_SET = PatternSet([PLAIN.pattern])
SHELL = lazy_re(
    r"^(?:(?:/\S*/)?(?:ba|da|z|k|c|tc|fi|a)?sh|\S+\.sh): (?:line )?(?:\d+: )?(?P<rest>\S.*)$"
    r"|^(?:\S*/)?[\w.-]+: (?:line )?\d+: (?P<r2>\S.*)$"
)
PROGRAM = lazy_re(r"^(?:\S*/)?[\w.+-]{1,30}: (?P<rest>\S.*)$")
ECHOED = lazy_re(r"^\s*(?:\$|>|\+{1,3}|\[command\]|##\[(?:group|command|section|debug|endgroup)\]|Run|❯|%)\s")
HANDLED = lazy_re(
    r"(?:[a-z]+ )*(?:retr(?:y|ied|ying)|recovered|ignor(?:ed|ing)|caught|handled|skipp(?:ed|ing))\b[^:]*: $"
)
# What a line needs to have for the general rules.
HINTS = (
    r"(?i)error|exception|panic|fatal|fail|fault|traceback|denied|not found|undefined|no such|refused|in use"
    r"|cannot|can't|could ?n"
    r"|not permitted|no space|out of memory|critical|severe|violat|timed? ?out|expired|interrupt|warning|exit|unable"
    r"|no rule to make|no required module|unknown|unrecogni|illegal|invalid|unsupported|unexpected|missing"
    r"|ambiguous|duplicate"
    r"|not (?:defined|a |installed|allowed|supported|exported|assignable|recogni|valid|authorized|declared)"
    r"|cycle|exclude all"
    r"|must |already exists|exceeded|conflict|killed|abort|mismatch|incompatible|require|unauthorized|deadlock"
    r"|reset|does not exist|malformed|corrupt",
    r"(?i:\(http) |\S\.[A-Za-z]{1,8}[:(]\d+|file:\d|[Mm]akefile:\d|[Dd]ockerfile:\d|[Ll]ine \d|(?:^|\s)\d+:\d+\s",
    r"(?:^|\s)\[?[A-Z]{1,8}-?\d{2,6}[A-Z]?(?:\]?:?\s|:\w)|[✖✘×✗⨯❌]|\[!\]|>> ",
    r"^\s*E {2,}|(?:^|\s)at \S|\.go:\d|^\S+\(.*\)$|-->|File \"|\bin \S+$",
    r"\bpass(?:ed|ing)\b|\b0\s+(?:\w+\s+){0,2}(?:problem|issue|remaining|broken)"
    r"|(?i:success)|(?:^|\s)(?:OK|ok|PASS)\b|\b[Nn]o \w+",
    r"(?:^|\s)(?:[a-z_]\w*\.)+[A-Z]\w+(?:: |$)",
    r"(?:^|\s)[a-z][a-z\d]*(?:-[a-z\d]+)+: \S",
)
COUNTS = lazy_re(
    r"^(?:[✖✘×✗✓✔]\s*)?(?:found |there (?:was|were) |with )?(?:(?:\d+|no|one|zero)\s+(?:\w+\s+){0,2}(?:errors?"
    r"|warnings?|problems?|failures?|failed|failing|issues?|passed|passing)\b|\d+ (?:\w+\s+)?(?:tests?"
    r"|files?)\b)"
    r"|^(?:errors?|warnings?|failures?|failed|problems?|tests?|total|test suites?|test files?|tests run)\s?[:=]?\s*\d"
    r"|^(?:[-=_*#~]{3,}(?:\s.*[-=_*#~]{3,})?|Errors?:|ERRORS?:?|Failures?:|FAILURES!?:?|Warnings?:"
    r"|Traceback \(most recent call last\):|Stack trace:|Caused by:|Error)$"
    r"|^(?:INFO|DEBUG|TRACE|NOTE|Note|note|info|debug|help|hint|Hint)\b(?! ?:? ?\S*error\b)",
    re.IGNORECASE,
)
RECOVERED = lazy_re(r"(?: \[(?:recovered|repanicked|, )+\])+$")


def general(number: int, text: str, *, is_statement: bool = False) -> LogProblem | None:
    """Return the problem that a line tells by general rules; None where it tells none."""
    if found := MARKED_CLASS.match(text):
        return LogProblem(number, text[1:].strip(), found["message"], found["class"])
    for form in forms(text):
        if not is_statement and (COUNTS.match(form.strip()) or ECHOED.match(form)):
            return None
        if place := PLACE.match(form):
            return _placed(number, place)
        for rule in RULES:
            if (made := rule(number, form)) is not None:
                return made
    return _said_plainly(number, text)


def _in_a_row(number: int, form: str) -> LogProblem | None:
    """Return the problem of a row under the name of a file."""
    return _in_row(number, row) if (row := ROW.match(form)) else None


def _with_severity(number: int, form: str) -> LogProblem | None:
    """Return the problem of a line that is led by a word of failing, with a sign after it."""
    return _led(number, form, found) if (found := SEVERITY.match(form)) else None


def _with_class(number: int, form: str) -> LogProblem | None:
    """Return the problem of a line with the class of an error."""
    found = CLASS.search(form) or ANY_CLASS.match(form)
    # It reports an error here where it leads, or a message follows.
    return of_class(number, form, found) if found and (found["message"] or found.start() == 0) else None


def _shouted(number: int, form: str) -> LogProblem | None:
    """Return the problem of a line that is led by a word of failing in capitals."""
    return _led(number, form, found) if (found := SHOUTED.match(form)) else None


def marked(number: int, form: str) -> LogProblem | None:
    """Return the problem of a line that a sign or a program marks."""
    if found := MARKED.match(form):
        return _inner(number, found["rest"], found["rest"])
    if found := LED.match(form):
        return _inner(number, found["rest"], form)
    if found := MIDDLE.match(form):
        return _inner(number, found["rest"], found["rest"])
    return None


def _coded(number: int, form: str) -> LogProblem | None:
    """Return the problem of a line that begins with a code, or with a word of warning."""
    if (found := CODE_FIRST.match(form)) and not NO_CODE.match(form):
        rest, _ = code_last(found["rest"])
        return LogProblem(number, form.strip(), rest, found["code"])
    if found := WARNING.match(form):
        rest, code = code_last(found["rest"])
        code = found["code"] or found["c2"] or code
        return LogProblem(number, found["rest"], rest, code, is_strong=False, severity="warning", is_likely=bool(code))
    return None


RULES = (_in_a_row, _with_severity, _with_class, _shouted, marked, _coded)
NO_CODE = lazy_re(r"(?:UTF|ISO|SHA|MD|AES|RFC|CVE|CWE|HTTP|TLS|TCP|UDP|P|V|ES)-?\d")


def _said_plainly(number: int, text: str) -> LogProblem | None:
    """Return the problem of a line in which only its words say that something is wrong."""
    form = text.strip()
    for form in forms(text):
        if found := SHELL.match(form):
            rest = found["rest"] or found["r2"]
            return LogProblem(number, rest, rest, is_strong=_is_plain(rest))
    if len(form) >= LONG or not _is_plain(form):
        return None
    shell = PROGRAM.match(form)
    message = shell["rest"] if shell and _is_plain(shell["rest"]) else form
    is_strong = shell is not None
    return LogProblem(number, form.strip(), message, is_strong=is_strong, is_likely=True, is_read=is_strong)


def _is_plain(text: str) -> bool:
    """Return whether words of a text say that something is wrong."""
    return bool(PLAIN_SET.may_find(text)) and PLAIN.search(text) is not None


LONG = 300  # characters from which a line is prose


def _placed(number: int, place: re.Match[str]) -> LogProblem | None:
    """Return the problem of a line that begins with a place in a file."""
    rest = place["rest"]
    line, column = (next((value for value in (place[f"{part}{n}"] for n in (1, 2, 3)) if value), None) for part in "lc")
    found = _inner(number, rest, rest)
    is_marked = (
        SEVERITY.match(rest) or CODE_FIRST.match(rest) or CLASS.match(rest) or found.code
    ) is not None and bool(SEVERITY.match(rest) or found.code)
    if re.match(r"(?:in |at |from |inlined from |info|note|INFO|DEBUG|required from|here\b)", rest):
        return None
    found.file, found.line, found.column = place["file"], int(line or 0), int(column) if column else None
    found.is_strong = found.is_strong and (is_marked or column is not None or _is_plain(rest))
    if WARNING.match(rest):
        found.is_strong, found.severity = False, "warning"
    found.is_likely = bool(found.code or column)
    return found


def _in_row(number: int, row: re.Match[str]) -> LogProblem:
    """Return the problem of a row under the name of a file."""
    rest, code = code_last(row["rest"])
    found = _inner(number, rest, row["rest"])
    found.code = found.code or code
    found.line, found.column = int(row["line"]), int(row["column"])
    severity = (row["severity"] or "").lower()
    found.is_strong = severity in ("error", "✖", "×", "✗", "✘") or (bool(code) and severity not in ("warning", "⚠"))
    return found


def _led(number: int, form: str, found: re.Match[str]) -> LogProblem | None:
    """Return the problem of a line that is led by a word of failing."""
    groups = found.groupdict()
    code = next((groups[name] for name in ("c1", "c2", "c3") if groups.get(name)), "")
    rest = found["rest"]
    if not re.search(r"\w", rest):
        return None
    if place := PLACE.match(rest):
        made = _placed(number, place)
        if made is not None:
            made.is_strong = True
            made.code = made.code or code
            return made
    made = _inner(number, rest, rest if not code else form)
    made.code = code or made.code
    made.is_strong = True
    return made


def of_class(number: int, form: str, found: re.Match[str]) -> LogProblem:
    """Return the problem of a line with the class of an error."""
    name, message = found["class"], found["message"] or ""
    code = found.groupdict().get("code") or ("" if name.casefold() in GENERIC else name)
    text = form[found.start() :].strip()
    if name.casefold() in GENERIC and message:
        made = _inner(number, message, text)
        made.code = code or made.code
        made.is_strong = True
        return made
    if place := PLACE.match(message):
        message = place["rest"]
    is_strong = not (name.endswith("Warning") or HANDLED.match(form[: found.start()]))
    return LogProblem(number, text, message, code, is_strong=is_strong)


def _inner(number: int, rest: str, text: str) -> LogProblem:
    """Return the problem of what is left of a line after what carries it."""
    code = ""
    for _ in range(3):
        if found := SEVERITY.match(rest):
            code = code or next((found[name] for name in ("c1", "c2", "c3") if found[name]), "")
            rest = found["rest"]
        elif found := WARNING.match(rest):
            code = code or found["code"] or found["c2"] or ""
            rest = found["rest"]
        else:
            break
    if (found := CODE_FIRST.match(rest)) or (found := RULE_HEAD.match(rest)):
        code, rest = code or found["code"], found["rest"]
    elif (found := CLASS.match(rest)) and found["message"]:
        name = found["class"]
        code = code or found["code"] or ("" if name.casefold() in GENERIC else name)
        rest = found["message"]
    if leading := re.match(rf"^(?P<file>(?:/|\.\.?/){FILE})(?:[:\s]\s*)(?P<rest>[A-Za-z]\S*\s.*)$", rest):
        rest = leading["rest"]
    rest, last = code_last(rest)
    return LogProblem(number, text.strip(), rest, code or last)


def code_last(rest: str) -> tuple[str, str]:
    """Return a message without the rule at its end, and this rule."""
    found = CODE_LAST.search(RECOVERED.sub("", rest))
    rest = RECOVERED.sub("", rest)
    if found is None or found.start() < 3:
        return rest, ""
    code = next(part for part in found.groups() if part)
    return rest[: found.start()].strip(), code
