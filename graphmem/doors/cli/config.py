"""``config``."""

import json

from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import passes
from graphmem.features.upkeep.config import ConfigRequest, ConfigShown


@passes("config", ConfigRequest, arguments=1)
def config(invocation: Invocation, answer: ConfigShown) -> None:
    """
    Show the settings that hold here, and where each value comes from.

    They are changed in files or by variables; docs/reference/config.md says what each means.

    Example: graphmem config retrieval
    """
    rows = [[one.name, json.dumps(one.value, ensure_ascii=False), one.origin] for one in answer.settings]
    invocation.answer(answer, text.table(["setting", "value", "from"], rows))
