"""Gangs that stand: repair, preemption, defragmentation."""
