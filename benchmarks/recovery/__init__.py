"""How long gangs take to run again after their nodes have died."""
