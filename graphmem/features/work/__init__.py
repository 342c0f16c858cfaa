"""Campaigns, their tasks, and what finished work teaches."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
