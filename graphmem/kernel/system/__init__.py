"""Files without following links, the lock, running other programs, the surroundings of the caller."""
