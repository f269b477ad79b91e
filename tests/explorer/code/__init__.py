"""The ledger's own code, every request of it a choice point."""
