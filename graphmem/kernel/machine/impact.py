"""What the hooks did in the sessions that ended, in numbers alone: in ``state/``, never committed."""

from collections.abc import Collection

from pydantic import BaseModel, ConfigDict, TypeAdapter

from graphmem.constants import IMPACT_SESSIONS
from graphmem.kernel.machine.state import KeptState, State
from graphmem.kernel.model.field import Time


class HookCounts(BaseModel):
    """
    What the hooks put into a session, in tokens, and which failures they met there.

    ``answered`` are those for which a memory was handed out at once; ``answers`` is what these answers took, ``others``
    what all else did but the briefing.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    briefing: int = 0
    answers: int = 0
    others: int = 0
    failures: int = 0
    answered: int = 0

    @property
    def tokens(self) -> int:
        """All that was put into the session."""
        return self.briefing + self.answers + self.others


class SessionImpact(HookCounts):
    """What the hooks did in one session: the hints that they gave, and those of them that a pass credited."""

    id: str
    at: Time  # when it began
    hints: int = 0
    used: int = 0


FORM: TypeAdapter[list[SessionImpact]] = TypeAdapter(list[SessionImpact])


def read(state: State) -> list[SessionImpact]:
    """Return what is kept of sessions that ended, the latest last."""
    return state.read("impact", "", FORM.validate_json) or []


def keep(kept: KeptState, ended: Collection[SessionImpact]) -> None:
    """Add sessions, each once; of many the latest stay."""
    found = {(one.id, one.at): one for one in [*(kept.read("impact", "", FORM.validate_json) or []), *ended]}
    kept.put("impact", "", FORM.dump_json(sorted(found.values(), key=lambda one: one.at)[-IMPACT_SESSIONS:]))
