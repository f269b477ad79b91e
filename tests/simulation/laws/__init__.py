"""What has to hold at every version, and what has to hold at rest."""
