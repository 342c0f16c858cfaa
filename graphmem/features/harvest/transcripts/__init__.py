"""Transcripts of coding agents, one reader a client; all make the events of ``graphmem.kernel.model.transcript``."""
