"""Cuts: rows that no integer answer breaks, and that tighten the relaxation."""
