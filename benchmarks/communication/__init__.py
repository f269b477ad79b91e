"""How much faster gangs are for where they stand, where leaves share their uplinks."""
