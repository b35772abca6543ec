"""Timelines: what each thread did when, as src/polder/os/timeline.hpp recorded it. docs/how-to/timeline.md."""
