"""Proof that the safeguards are tested: without any one of them, a named test fails."""
