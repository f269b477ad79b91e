"""Tests of what nodes are judged by."""
