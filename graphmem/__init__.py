"""
graphmem: one memory for the coding agents of a project.

    from graphmem import Memory

    with Memory() as memory:
        memory.failures.add("ModuleNotFoundError: No module named 'pkg_resources'", fix="pin setuptools below 81")
        memory.query("pkg_resources missing")

Type checkers read ``api.pyi``: after a change of the table below, ``python -m tests.generate`` writes it again.
"""

from importlib import import_module

_PLACES = {  # the public names, by the module that has them, which is imported when one is asked for
    "api": "Memory",
    "errors": (
        "AlreadyDone BadInput Conflict Damaged DamagedCatalog FileReplaced GraphmemError Locked NotFound ReadOnly "
        "Refused Unavailable Usage"
    ),
    "kernel.model": (
        "AnyRecord Campaign Constraint Decision Entity Event Experience Exploration Failure Insight Lesson Pattern "
        "Relation ReviewItem Run Session Task Work"
    ),
    "core.evidence.citation_contract": "Cited Fix",
    "core.evidence.doubt_contract": "Doubt StaleRecords",
    "core.plans.campaign_contract": (
        "CampaignStanding CampaignTasks MergedPlan Ready ReplanInput Similar SimilarCampaign"
    ),
    "core.records.candidate_contract": (
        "CandidateList Harvested HarvestedAll ProofsChecked ReviewedList ShownCandidate"
    ),
    "core.records.event_contract": "EventList Happened",
    "core.records.feedback_contract": "BulkReported Reported",
    "core.records.record_contract": "BulkAdded Changed Got Listed Listing Pruned Purged Writes",
    "core.records.relation_contract": "Connection Edge Linked Reached Related Solution Solutions",
    "core.search.match_contract": "Matched MatchedLog",
    "core.search.query_contract": "Found Hit",
    "core.vocabulary.contract": "TypeBrief TypeChanged TypeList",
    "core.vocabulary.scopes": "ScopeList",
    "core.briefing.context_contract": "ContextBlock ContextEntry",
    "core.briefing.prime": "Briefing StoreStatus",
    "features.cypher.operations": "CypherRows QueryList",
    "features.exchange.dump_contract": "Dump",
    "features.exchange.operations": "Imported",
    "features.governance.contract": (
        "BranchMade NextStage ReviewItemAnswer ReviewItemList StageBegun StageChecked StageEnded WorkList WorkShown"
    ),
    "features.governance.finish": "WorkFinished",
    "features.governance.snapshots": "SnapshotDifference SnapshotList SnapshotShown",
    "features.governance.verify": "WorkVerified",
    "features.explore.operations": "ExplorationReported ExplorationStarted ExplorationWaited",
    "features.extractors.contract": "Extracted ExtractorAdded ExtractorList",
    "features.upkeep.branch_check": "BranchChecked",
    "core.history.contract": "Difference History",
    "core.history.why": "Why",
    "features.hooks.contract": "HookAnswer",
    "features.inbox.operations": "Item ItemChanged ItemList",
    "features.learning.experiences": "Promoted Recalled",
    "features.learning.lessons": "Injected Learned",
    "core.sessions.operations": "SessionContext",
    "core.ran.operations": "Ran",
    "features.runs.contract": "BuildResume Required RunShown",
    "core.stats.contract": "Stats",
    "core.stats.effectiveness_contract": "Loop",
    "core.stats.impact": "Impact",
    "features.upkeep.config": "ConfigShown",
    "features.upkeep.embedding": "EmbeddingStatus ModelChanged",
    "features.upkeep.schema": "SchemaShown",
    "features.cypher.projects": "GraphPushed",
    "features.team.server_contract": "ServerChanged",
    "features.team.contract": "LedgerMoved Synced",
    "features.upkeep.store_contract": "Exported Initialised Rebuilt Reset Resolved Split Trust Vacuumed",
    "core.page.operations": "PageData",
    "features.work.observation": "Observed",
    "features.work.phases": "PhaseCan PhaseDurations PhaseMoved PhaseStatus",
    "features.work.task_contract": "TaskChanged TaskMove TaskShown Workspace",
    "kernel.dispatch": "Log",
    "kernel.embed.shared": "Models",
    "kernel.finding": "Checked Doctored Finding",
    "kernel.model.candidate": "Candidate",
    "kernel.model.run_state": "RunState",
    "kernel.model.scope": "Scope",
    "kernel.model.vocabulary": "EntityType RelationType",
    "kernel.store.runtime": "MessageHandler Progress",
}

__version__ = "0.1.0"

_MODULES = {name: f"graphmem.{module}" for module, names in _PLACES.items() for name in names.split()}
__all__ = ["__version__", *_MODULES]  # noqa: PLE0604
__all__.sort()


def __getattr__(name):
    """Load what is asked for: the child that runs a user's query imports this package too."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__():
    """Return the public names."""
    return __all__
