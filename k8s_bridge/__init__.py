"""The running scheduler: what it sees of a cluster, and what it writes there."""
