"""Tests of devices and their choice."""
