"""The inbox: what is to be looked at later."""
