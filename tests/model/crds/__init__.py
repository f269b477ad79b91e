"""The kinds of `gpu.scheduling/v1`."""
