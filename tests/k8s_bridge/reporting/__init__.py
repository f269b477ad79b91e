"""What the scheduler says: decisions by hand, writes on the twin in memory."""
