"""How sessions read on a terminal."""

from collections.abc import Mapping

from graphmem.core.records import wording
from graphmem.core.replies.reply import Reply, View, Word, hit
from graphmem.core.sessions.operations import SessionContext
from graphmem.errors import Usage
from graphmem.kernel.registry import Printout, asks, reads
from graphmem.kernel.text import one_line
from graphmem.names import visible


@reads("sessions.show")
def _session_text(answer: SessionContext) -> Printout:
    current = shown(answer)
    return Printout(
        current,
        'nothing is current; to begin: graphmem session start --task "what is to be done"' if not current else "",
    )


@asks("sessions.prefer")
def _ask_prefer(
    communication_style: str | None, approval_gates: str | None, default_model_profile: str | None
) -> Mapping[str, object]:
    if (communication_style, approval_gates, default_model_profile) == (None, None, None):
        raise Usage("no preference is given", hint="--style, --approve or --profile")
    return {}


@reads("sessions.start", "sessions.work_on", "sessions.prefer", "sessions.note")
def shown(answer: SessionContext) -> str:
    """Return what is current for people."""
    lines = []
    if task := answer.current_task or answer.last_task:
        named = f"{one_line(task.description)}{f' ({task.id})' if task.id else ''}"
        is_current = f"task: {named}  [{task.status}, since {task.started_at:%H:%M}]"
        lines.append(is_current if answer.current_task else f"last task: {named}")
    for rule in answer.active_constraints:
        until = rule.record.expires_at
        lines.append(f"{wording.line(rule.record)}{f'  (until {until:%Y-%m-%d %H:%M})' if until else ''}")
        lines += _contradicting(answer, rule.ref)
    for decided in answer.recent_decisions:
        lines += [wording.line(decided.record), *_contradicting(answer, decided.ref)]
    wishes = answer.user_preferences.model_dump(exclude_none=True)
    lines += [f"{name.replace('_', ' ')}: {one_line(str(value))}" for name, value in wishes.items()]
    if answer.session.started_at:
        since, last = answer.session.started_at, answer.session.last_updated
        lines.append(f"session since {since:%Y-%m-%d %H:%M}, last {last:%H:%M}, {answer.session.messages} messages")
    return "\n".join(lines)


def _contradicting(answer: SessionContext, ref: str) -> list[str]:
    """Return a line that names what says the opposite of a record, if anything does."""
    others = answer.contradictions.get(ref)
    return [f"    ! contradicts {one_line(', '.join(others))}"] if others else []


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(SessionContext, to="model")
def _session_reply(answer: SessionContext, view: View) -> Reply:
    """Return what is current."""
    head: dict[str, object] = {}
    if task := answer.current_task:
        head = {"task": visible(task.description), "status": Word(task.status)}
    elif answer.last_task:
        head = {"last_task": visible(answer.last_task.description)}
    wishes = answer.user_preferences.model_dump(exclude_none=True)
    head |= {name: visible(str(value)) for name, value in wishes.items()}
    known = [*answer.active_constraints, *answer.recent_decisions]
    return Reply(head, [hit(one.record, view, one.doubts) for one in known], list(answer.notices))
