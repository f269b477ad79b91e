"""Admission of pods and claims: what is added to them, and what is refused before it exists."""
