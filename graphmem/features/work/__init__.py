"""Campaigns, their tasks, and what finished work teaches."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "campaigns": "Pieces of work that are more than one task.",
        "tasks": "The tasks of campaigns: each is started with what the project knows, and teaches by how it ends.",
        "phases": "Where the project, or a campaign, is in its work.",
    },
    operations={
        "campaigns": "campaigns.create campaigns.ready campaigns.status campaigns.complete",
        "plans": "campaigns.add_tasks campaigns.propagate campaigns.replan_input campaigns.merge_plan",
        "tasks": "tasks.start tasks.complete tasks.block tasks.reopen tasks.show",
        "phases": "phases.status phases.can phases.move phases.reset phases.duration",
        "observation": "observe",
    },
    verbs={
        "campaign": "campaigns.create campaigns.add_tasks campaigns.ready campaigns.status campaigns.propagate "
        "campaigns.replan_input campaigns.merge_plan campaigns.complete observe",
        "phase": "phases.status phases.can phases.move phases.reset phases.duration",
        "task": "tasks.start tasks.complete tasks.block tasks.reopen tasks.show",
    },
    text="text",
)
