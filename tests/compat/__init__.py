"""What other versions and people rely on stays as it was written: plans, documents, metrics."""
