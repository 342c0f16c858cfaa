"""Guarded work: stages, routed by what reviewers found, and what finished work attests."""
