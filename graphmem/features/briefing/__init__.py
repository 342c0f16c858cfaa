"""What an agent is told: the context of a task, and what it needs to begin."""
