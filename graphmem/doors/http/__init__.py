"""
The adapter for HTTP, part of the service: one route an operation, made from the contract.

``operations`` says what there is, ``app`` makes the routes, ``guard`` lets callers in, ``server`` binds and runs.
"""
