"""Scenarios: each module lists its own in `SCENARIOS`."""
