"""Gangs that stand and may leave their places: repair, preemption, defragmentation.

One model serves all three. The room of every gang that may leave is given back, and each of
them stays (its pods take room where they are), goes (it is counted among the gangs that look
for a place), goes in part, or is dropped.
"""
