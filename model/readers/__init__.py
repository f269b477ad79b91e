"""Readers of Kubernetes manifests: from what `kubectl get` prints to a `Snapshot`."""

from fourleaf.model.readers.read import InputReading, read
from fourleaf.model.readers.text.sources import Source, open_paths

__all__ = ["InputReading", "Source", "open_paths", "read"]
