"""The dashboard: pages and a JSON API that show a cluster, and change nothing in it."""
