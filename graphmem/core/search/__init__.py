"""Search: what is found, in which order, and how sure that is."""
