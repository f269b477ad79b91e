"""Tests of the batch solve."""
