"""Tests of places that agents discover."""
