"""Files of other programs, read in one way."""
