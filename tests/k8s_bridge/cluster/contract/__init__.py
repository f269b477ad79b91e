"""What the twin and a real apiserver both do."""
