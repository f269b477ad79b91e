"""Which nodes are dead, on what evidence, and how often each has failed."""
