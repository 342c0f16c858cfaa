"""What is set in the environment and in config files, and what of it the user trusts; no other room reads them."""
