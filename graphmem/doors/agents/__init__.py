"""Coding agents: what is written into their files, and what their hooks are answered."""
