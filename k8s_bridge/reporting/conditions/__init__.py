"""Conditions of pods that wait and of GpuClaims."""
