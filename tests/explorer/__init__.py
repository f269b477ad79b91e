"""Every interleaving of two leaders within stated bounds: of a model, and of the ledger's code."""
