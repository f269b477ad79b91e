"""The node agent and the check service."""
