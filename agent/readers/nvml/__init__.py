"""NVIDIA's devices, through NVML."""

from fourleaf.agent.readers.nvml.reader import NvmlReader

__all__ = ["NvmlReader"]
