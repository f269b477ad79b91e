"""Tests of gangs as they are read."""
