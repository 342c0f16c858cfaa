"""The page to look at the memory in a browser: its parts, and what puts them together."""
