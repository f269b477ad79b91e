"""The integer program: variables, constraints, cuts, the backend that solves it, decoding."""
