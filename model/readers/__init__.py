"""Readers of Kubernetes manifests: from what `kubectl get` prints to a `Snapshot`."""

from fourleaf.model.readers.reading import Reading, read
from fourleaf.model.readers.sources import Source, open_paths

__all__ = ["Reading", "Source", "open_paths", "read"]
