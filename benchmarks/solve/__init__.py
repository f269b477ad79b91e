"""Time, proof and memory of the batch solve, beside greedy and the naive model."""
