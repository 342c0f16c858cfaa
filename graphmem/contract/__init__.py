"""
What each operation takes and returns, one file per noun, for the Python API, the command line and the reference.

``contract.query`` is imported when one of its names is used: most commands need one or two.
"""

from typing import TYPE_CHECKING

from graphmem.lazy import lazy_modules

if TYPE_CHECKING:
    from graphmem.contract import (
        campaigns as campaigns,
    )
    from graphmem.contract import (
        context as context,
    )
    from graphmem.contract import (
        cypher as cypher,
    )
    from graphmem.contract import (
        effectiveness as effectiveness,
    )
    from graphmem.contract import (
        entities as entities,
    )
    from graphmem.contract import (
        events as events,
    )
    from graphmem.contract import (
        experiences as experiences,
    )
    from graphmem.contract import (
        explorations as explorations,
    )
    from graphmem.contract import (
        failures as failures,
    )
    from graphmem.contract import (
        feedback as feedback,
    )
    from graphmem.contract import (
        history as history,
    )
    from graphmem.contract import (
        inbox as inbox,
    )
    from graphmem.contract import (
        insights as insights,
    )
    from graphmem.contract import (
        lessons as lessons,
    )
    from graphmem.contract import (
        observation as observation,
    )
    from graphmem.contract import (
        patterns as patterns,
    )
    from graphmem.contract import (
        phases as phases,
    )
    from graphmem.contract import (
        query as query,
    )
    from graphmem.contract import (
        records as records,
    )
    from graphmem.contract import (
        relations as relations,
    )
    from graphmem.contract import (
        runs as runs,
    )
    from graphmem.contract import (
        sessions as sessions,
    )
    from graphmem.contract import (
        stats as stats,
    )
    from graphmem.contract import (
        store as store,
    )
    from graphmem.contract import (
        tasks as tasks,
    )
    from graphmem.contract import (
        test_runs as test_runs,
    )
    from graphmem.contract import (
        vocabulary as vocabulary,
    )
else:
    __getattr__ = lazy_modules(__name__)
