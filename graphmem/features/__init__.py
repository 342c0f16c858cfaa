"""A room for each feature: what it takes and answers, what it does, its rules."""
