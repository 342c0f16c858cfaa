"""
The adapter for the Model Context Protocol: what agents' programs speak.

``front`` answers the first messages before anything heavy is imported; ``server`` makes the SDK's server out of
``tools``, ``resources`` and ``prompts``. Decision: docs/decisions/0025-mcp.md.
"""
