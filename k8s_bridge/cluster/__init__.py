"""The edge to the cluster: one protocol, the live client, and a twin in memory."""
