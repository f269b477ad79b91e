"""Who leads: an election through one Lease, and the gate that only the leader's writes pass."""
