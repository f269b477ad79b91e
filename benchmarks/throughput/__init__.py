"""Gangs from their creation to their binding, on a real control plane."""
