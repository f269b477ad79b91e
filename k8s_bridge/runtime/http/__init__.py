"""HTTP servers that no client can hold open, for every program of the product."""
