"""The dashboard: how fast it shows, how much it keeps, and its pictures."""
