"""The benchmarks do what they say; their figures are in benchmarks/tables."""
