"""What the product promises in figures; each folder or file runs as `python -m benchmarks.NAME`."""
