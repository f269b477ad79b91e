"""Tests of what is added to pods."""
