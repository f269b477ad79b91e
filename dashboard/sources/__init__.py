"""Where the dashboard gets what it shows: a live cluster, or files."""
