"""How long reading takes: `python -m benchmarks.read`."""
