"""The problem by index: what is fixed while nodes and rules stay, and what changes every cycle."""
