"""One file a command of `polder`, put together in cli.py."""
