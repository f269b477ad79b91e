"""What the scheduler says about its decisions: conditions, events, PodGroup statuses."""
