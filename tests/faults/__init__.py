"""Faults on a real control plane: what crashes, pauses and lies must not break."""
