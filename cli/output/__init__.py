"""What a verb says: the console, documents in JSON and YAML, progress, `--watch`."""
