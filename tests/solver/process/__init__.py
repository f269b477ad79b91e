"""Tests of the solver process and its client."""
