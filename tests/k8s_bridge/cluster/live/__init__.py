"""Tests of the live client against servers that misbehave."""
