"""Tests of what the dashboard knows of before."""
