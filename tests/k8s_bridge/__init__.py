"""Tests of the bridge: what it sees of a cluster, and what it writes there."""
