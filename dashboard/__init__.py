"""Web pages and their JSON API: the fabric, the queue, the cycles, what-if. Read-only."""
