"""Tests of what is written from the code."""
