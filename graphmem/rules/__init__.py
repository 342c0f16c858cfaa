"""Pure functions on the model: no I/O, no clock, no randomness; each is tested against an oracle."""
