"""Tests of the certificate."""
