"""Locks, other programs, pauses of the garbage collector."""
