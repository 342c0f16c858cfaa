"""Candidates from what is there already: sessions of agents, logs of CI, the history, notes."""
