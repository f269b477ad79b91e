"""NVIDIA's devices, through NVML."""

from agent.readers.nvml.reader import NvmlReader

__all__ = ["NvmlReader"]
