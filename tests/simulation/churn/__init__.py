"""What users, operators and other schedulers do to a cluster meanwhile."""
