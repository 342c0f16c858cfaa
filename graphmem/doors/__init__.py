"""The ways in: each reads the registry and calls operations through the dispatcher."""
