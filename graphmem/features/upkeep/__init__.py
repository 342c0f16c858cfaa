"""Upkeep of a store: validate, doctor, export, rebuild, embed, vacuum, and their like."""
