"""A search through all states of a system, and what it found."""
