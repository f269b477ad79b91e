"""Whole schedulers on the twin, in virtual time, with faults that a seed decides."""
