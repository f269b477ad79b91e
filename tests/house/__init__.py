"""Tests of the house itself: what an installation holds, names, sizes of rooms, imports."""
