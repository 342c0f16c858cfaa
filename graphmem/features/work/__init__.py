"""Campaigns, their tasks, and what finished work teaches."""
