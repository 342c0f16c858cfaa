"""What operations on a session return."""

from graphmem.contract.answer import Answer
from graphmem.contract.records import Listed
from graphmem.model.blackboard import CurrentSession, CurrentTask, Preferences


class SessionContext(Answer):
    """What is current: of this machine the task, the preferences and the session; of the project the rest."""

    current_task: CurrentTask | None
    recent_decisions: list[Listed]
    active_constraints: list[Listed]
    user_preferences: Preferences
    session: CurrentSession
