"""The search for better weights, on one part of the evidence, judged on another."""
