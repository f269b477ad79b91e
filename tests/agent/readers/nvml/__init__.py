"""The NVML reader, on a stand-in that is held to the real module."""
