"""Records: how they come in, change, and go."""
