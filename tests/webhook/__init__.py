"""Tests of the webhook."""
