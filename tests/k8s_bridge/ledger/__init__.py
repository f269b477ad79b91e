"""Tests of the ledger: commits, crashes, takeovers."""
