"""What belongs to this machine and is never committed."""
