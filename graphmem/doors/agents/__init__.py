"""Coding agents: what is written into their files."""
