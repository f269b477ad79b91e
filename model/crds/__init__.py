"""The kinds of `gpu.scheduling/v1`, as pydantic models; their CRDs are generated from these."""
