"""Tests of the edge to the cluster."""
