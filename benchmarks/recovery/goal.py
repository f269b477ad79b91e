"""What is promised of recoveries; the first page of the results reads it too."""

GOAL_SECONDS = 30.0
"""What the p95 of every row is at most."""
