"""Campaigns as plans: the tasks, what depends on what, and campaigns that are alike."""
