"""Tests of relocations: repair, preemption, defragmentation, drains."""
