"""Tests of the search for the earliest start."""
