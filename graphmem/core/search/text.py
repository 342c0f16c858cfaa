"""How what a search found reads on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from graphmem.constants import OFFERED_ERRORS, SHOWN_SLOW
from graphmem.core.evidence.text import ADVICE, ASIDE, against
from graphmem.core.records import wording
from graphmem.core.records.relation_contract import Connection, Related, Solutions
from graphmem.core.records.secrets import redacted
from graphmem.core.records.text import edge
from graphmem.core.replies.reply import ADVICE_WIDTH, Reply, View, Word, cut, escaped, hit, page
from graphmem.core.search.match_contract import Matched, MatchedLog, ReadProblem
from graphmem.core.search.query_contract import Found, Hit
from graphmem.kernel.answer import address
from graphmem.kernel.markdown import bounded, item
from graphmem.kernel.model import Failure
from graphmem.kernel.model.verdict import Verdict
from graphmem.kernel.registry import Form, Printout, Taken, asks, reads
from graphmem.kernel.system import shell
from graphmem.kernel.system.user import STORES
from graphmem.kernel.text import count, one_line
from graphmem.names import visible

BY = {"line": "the same line", "match": "its expression", "signature": "the same problem"}
VERDICTS = {"same_rule": "the same message with other names", "other": "another problem", "unclear": "like it"}
HARDLY_SHARED = 0.2  # share of a question, by the rarity of its words, below which its words tell nothing


@reads(Related)
def _related_text(answer: Related) -> Printout:
    return Printout(
        wording.tree(answer.start, answer.results),
        "more are within reach; raise --limit" if answer.truncated else "",
        "the search ended at its budget: there may be stronger paths" if not answer.exhaustive else "",
        "nothing is within reach" if not answer.results else "",
    )


@reads(Solutions)
def _solutions_text(answer: Solutions) -> Printout:
    lines = against(answer.doubts)
    lines += [f"{address('fix', fix.store)}: {one_line(fix.text, ADVICE)}" for fix in answer.fixes]
    for found in answer.results:
        first = found.path[0]
        near = address(first.target if first.direction == "out" else first.source, found.store)
        way = f"  by way of {near} ({first.type})" if len(found.path) > 1 else ""
        ref = address(found.ref, found.store)
        head = f"{ref}  [{found.strength:.3f}]{way}{wording.worth(found.record)}{wording.handed_out(found)}"
        lines.append(ASIDE.join([head, *against(found.doubts, found.cites), wording.gist(found.record)]))
    fix = shell.command("graphmem", "edit", answer.failure, "--fix", "what fixed it")
    return Printout(
        "\n".join(lines),
        f"nothing solves {answer.failure} yet; to record what does: {fix}"
        if not (answer.fixes or answer.results)
        else "",
    )


@reads("path")
def _path_text(answer: Connection, max_hops: int) -> Printout | str:
    if answer.hops == 0 and answer.strength == 0:
        far = f"{answer.source} and {answer.target} are not connected within {count(max_hops, 'hop')}"
        return Printout("", far, status=1)
    lines = [
        f"strength {answer.strength:.4g}, {count(answer.hops, 'hop')}",
        *(f"  {wording.edge(edge)}" for edge in answer.path),
    ]
    return "\n".join(lines)


def problem_lines(one: ReadProblem) -> str:
    """Return how a line of a log was read: by which format, its template and its names."""
    by = f"format of {one.tool}" if one.tool else "general rules"
    told = {"code": one.code, "names": ", ".join(one.names), "place": one.file, "test": one.test, "in": one.frame}
    lines = [f"line {one.line:,}, read by the {by}" if one.tool else f"line {one.line:,}, read by {by}"]
    lines += [f"> {one_line(one.printed)}", f"says: {one.template}  (the same by {one.identity})"]
    return ASIDE.join([*lines, *(f"{name}: {one_line(value)}" for name, value in told.items() if value)])


def match_limits(answer: MatchedLog) -> Iterator[str]:
    """Yield what was not looked at, and why."""
    if answer.slow:
        named = ", ".join(answer.slow[:SHOWN_SLOW]) + (", …" if len(answer.slow) > SHOWN_SLOW else "")
        what = count(len(answer.slow), "match expression")
        yield f"left aside, for together they take too long on this log: {what}: {named}"
    if answer.cut:
        yield f"only the beginning was looked at of {count(answer.cut, 'very long line')}"
    if answer.unread:
        yield f"not looked up, for many errors came before: the errors on {count(answer.unread, 'later line')}"


def match_lines(found: Matched, *, is_placed: bool = True) -> str:
    """Return a failure with the line that reports it, where that is in a file, and what to do."""
    more = f" and {len(found.lines) - 1:,} more" if len(found.lines) > 1 else ""
    place = f"  line {found.line:,}{more}" if is_placed else ""
    alike = f", similarity {found.similarity:.2f}" if found.similarity is not None else ""
    why = f": {one_line('; '.join(found.reasons))}" if found.reasons and found.verdict != "same" else ""
    by = BY.get(found.by, "") if found.verdict == "same" else f"{VERDICTS[found.verdict]}{alike}{why}"
    lines = [
        f"{address(found.ref, found.store)}{place}  [{by}]{wording.worth(found.record)}",
        f"> {one_line(found.text)}",
    ]
    lines += against(found.doubts, found.cites) + wording.holding(found.holds)
    record = found.record
    if isinstance(record, Failure):
        if found.by not in ("line", "match"):
            lines.append(f"is: {one_line(found.recorded or record.trigger)}")
        lines += wording.advice_lines(record) + wording.variant_lines(found.variant_fix, found.store)
    for solution in found.solved_by:
        insight = one_line(getattr(solution.record, "insight", None), ADVICE)
        marks, worth = wording.marks(solution.doubts), wording.worth(solution.record)
        lines.append(f"{address(solution.ref, found.store)}: {marks}{insight}{worth}")
    return ASIDE.join(lines)


def query_doubt(answer: Found) -> str:
    """Return in one clause why the first result may not be what was asked for."""
    if answer.certainty == "none":
        return "nothing known for this"
    first = answer.results[0]
    if any(found.sign == "other_error" for found in first.doubts):
        return "unsure whether this is known"  # its mark says why
    if first.verdict == "unclear" and first.reasons:
        why = visible(first.reasons[0])
    elif first.factors.lexical < HARDLY_SHARED:
        why = "hardly a word in common"
    else:
        why = "it shares words with the question, but no error line or code"
    return f"unsure whether this is known ({why})"


def hit_lines(found: Sequence[Hit], explain: bool) -> str:
    """Return what was found, with the factors of each score if they are asked for."""
    lines = list[str]()
    for result in found:
        place = f"  [{result.band}, score {result.score:.3g}]" if explain else ""
        lines.append(f"{address(result.ref, result.store)}{place}{wording.worth(result.record)}")
        said = [*against(result.doubts, result.cites), *wording.holding(result.holds), wording.gist(result.record)]
        said += [*wording.variant_lines(result.variant_fix, result.store), *(score_lines(result) if explain else ())]
        lines += [f"    {one}" for one in said if one]
    return "\n".join(lines)


def score_lines(hit: Hit) -> tuple[str, str]:
    """Return what the score of a result is made of, and its relevance, a line each."""
    factors = hit.factors
    reranked = "" if factors.reranked is None else f", reranked {factors.reranked:.3f}"
    found = [f"{name} {places:+d}" for name, places in factors.moved.items() if places]
    return (
        f"score {hit.score:.4f} = relevance {hit.relevance:.4f} × cost {factors.cost:.3f}"
        f" × help_ratio {factors.help_ratio:.3f} × age_decay {factors.age_decay:.3f}"
        + ("" if factors.finished == 1.0 else f" × finished {factors.finished:.3f}")
        + ("" if factors.freshness == 1.0 else f" × freshness {factors.freshness:.3f}")
        + ("" if factors.doubt == 1.0 else f" × doubt {factors.doubt:.3f}")
        + (f"; places gained: {', '.join(found)}" if found else ""),
        f"relevance from semantic {factors.semantic:.3f}, lexical {factors.lexical:.3f},"
        f" exact {factors.exact:g}{', expression 1' * bool(factors.expression)},"
        f" graph {factors.graph:.3f}{reranked}",
    )


@asks("match")
def _ask_match(
    file: Annotated[str, Taken("FILE", meaning="The log; - or nothing for standard input")] = "-",
) -> Mapping[str, object]:
    return {"lines": file}


@reads(MatchedLog)
def _match_text(answer: MatchedLog, form: Form = "text") -> Printout:
    if form == "markdown":  # others read it
        results = [one for one in answer.results if one.store == "project"]
        answer = answer.model_copy(update={"results": results})
        return Printout(_in_markdown(answer), *match_limits(answer), is_file=True)
    lines = [
        *map(problem_lines, answer.read or ()),
        *map(match_lines, answer.results),
        *map(wording.seen, answer.candidates),
    ]
    nothing = "no known failure" + (", but candidates" if answer.candidates else "")
    return Printout("\n".join(lines), *match_limits(answer), "" if answer.results else nothing)


def _in_markdown(answer: MatchedLog) -> str:
    """
    Return what is known of a log as Markdown, and the first errors that are not known.

    What is known is counted, and no line of the log is in two of the lists.
    """
    results = [found.model_copy(update={"text": redacted(found.text)}) for found in answer.results]
    sure = [found for found in results if found.verdict == "same"]
    known_lines = {number for found in sure for number in found.lines}
    alike = [found for found in results if found.verdict != "same" and known_lines.isdisjoint(found.lines)]
    known = count(len(sure), "known failure") if sure else "no known failure"
    lines = [
        f"**Memory:** {known} in the log",
        "",
        *bounded(item(match_lines(one).split(ASIDE)) for one in sure),
    ]
    if alike:
        lines += [*([""] if sure else []), "Like a known failure, and not the same:", ""]
        lines += bounded(item(match_lines(one).split(ASIDE)) for one in alike)
    if answer.unlike:
        errors = (item([one_line(redacted(error), ADVICE)]) for error in answer.unlike[:OFFERED_ERRORS])
        lines += ["", "Errors that the memory does not know:", "", *errors]
    return "\n".join(lines).strip()


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(Found, to="model")
def _found_reply(answer: Found, view: View) -> Reply:
    """Return what a query found."""
    hits, more, notes = page(answer, [] if _nothing_known(answer, view) else answer.results, view)
    shown = [
        hit(one.record, view, one.doubts, one.variant_fix, one.holds, one.store, **_differing(one.verdict))
        for one in hits
    ]
    left = [f"left out for marks of doubt: {len(answer.left_out)}"] if answer.left_out else []
    if answer.results and _nothing_known(answer, view):
        left.append("nothing is known for this; detail: full shows the nearest")
    return Reply(sureness(answer.known, answer.certainty, answer.probability, answer.asked) | more, shown, notes + left)


@reads(MatchedLog, to="model")
def _matched_reply(answer: MatchedLog, view: View) -> Reply:
    """Return the known failures in a log, and the unknown errors."""
    hits, more, notes = page(answer, answer.results, view)
    unknown = {"unknown_errors": [cut(error, ADVICE_WIDTH, view) for error in answer.unknown[: view.limit]]}
    head = {
        "known": any(one.verdict == "same" for one in answer.results),
        **_asked(answer.asked),
        **(unknown if answer.unknown else {}),
    }
    return Reply(head | more, [of_log(one, view) for one in hits], notes)


def of_log(one: Matched, view: View) -> dict[str, Any]:
    """Return a failure that a log reports, with what solves it."""
    made = hit(one.record, view, one.doubts, one.variant_fix, one.holds, one.store, by=Word(one.by), line=one.line)
    if one.verdict != "same":
        made |= {**_differing(one.verdict), "because": escaped(one.reasons)}
    if one.solved_by:
        made["solved_by"] = {
            address(solution.ref, one.store): cut(getattr(solution.record, "insight", ""), ADVICE_WIDTH, view)
            for solution in one.solved_by
        }
    return made


def _differing(verdict: Verdict | None) -> dict[str, Word]:
    """Return the verdict on a hit as its mark, where it is not simply the same."""
    return {} if verdict in (None, "same") else {"verdict": Word(verdict)}


def sureness(known: bool, certainty: str, probability: float, asked: str | None) -> dict[str, Any]:
    """Return whether the first result is what was asked for, and the id of the question."""
    doubt = {} if known else {"certainty": Word(certainty)}
    return {"known": known, **doubt, "probability": round(probability, 2), **_asked(asked)}


def _nothing_known(answer: Found, view: View) -> bool:
    """Return whether the results are only the nearest of what is unrelated, which a full answer alone shows."""
    return answer.certainty == "none" and view.detail != "full"


def _asked(asked: str | None) -> dict[str, Any]:
    """Return the id of the question for a report."""
    return {"asked": Word(asked)} if asked else {}


@reads(Related, to="model")
def _related_reply(answer: Related, view: View) -> Reply:
    """Return what a record is related to, strongest path first."""
    hits, more, notes = page(answer, answer.results, view)
    shown = [
        hit(one.record, view, one.doubts, strength=round(one.strength, 3)) | {"path": [edge(step) for step in one.path]}
        for one in hits
    ]
    notes += [] if answer.exhaustive else ["the search ended at its budget: there may be stronger paths"]
    return Reply({"start": answer.start, **more}, shown, notes)


@reads(Solutions, to="model")
def _solutions_reply(answer: Solutions, view: View) -> Reply:
    """Return the fixes of a failure, then what solves it."""
    hits, more, notes = page(answer, answer.results, view)
    origin = {store: f" (of {name})" for store, name in STORES.items()}  # a fix has no reference to mark
    fixes = [cut(fix.text, ADVICE_WIDTH, view) + origin.get(fix.store, "") for fix in answer.fixes]
    doubts = [escaped(doubt.text) for doubt in answer.doubts if doubt.is_mark]
    head = {"failure": answer.failure, **({"doubts": doubts} if doubts else {}), "fixes": fixes}
    shown = [hit(one.record, view, one.doubts, store=one.store, strength=round(one.strength, 3)) for one in hits]
    return Reply(head | more, shown, notes)


@reads(Connection, to="model")
def _path_reply(answer: Connection, view: View) -> Reply:
    """Return the strongest path between two records."""
    head = {"from": answer.source, "to": answer.target, "strength": round(answer.strength, 3)}
    return Reply({**head, "path": [edge(step) for step in answer.path]}, notes=list(answer.notices))
