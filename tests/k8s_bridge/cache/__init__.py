"""Tests of the cluster cache."""
