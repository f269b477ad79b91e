"""Conditions and statuses of pods, GpuClaims and PodGroups."""
