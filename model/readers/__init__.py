"""Readers of Kubernetes manifests: from what `kubectl get` prints to a `Snapshot`."""

from model.readers.reading import Reading, read
from model.readers.sources import Source, open_paths

__all__ = ["Reading", "Source", "open_paths", "read"]
