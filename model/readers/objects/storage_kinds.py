"""The kinds of storage that are read: claims, volumes, and `storage.k8s.io/v1`."""

from __future__ import annotations

CLAIM = ("", "PersistentVolumeClaim")
VOLUME = ("", "PersistentVolume")
STORAGE_CLASS = ("storage.k8s.io", "StorageClass")
CSI_DRIVER = ("storage.k8s.io", "CSIDriver")
CAPACITY = ("storage.k8s.io", "CSIStorageCapacity")
CSI_NODE = ("storage.k8s.io", "CSINode")
ATTACHMENT = ("storage.k8s.io", "VolumeAttachment")
STORAGE_KINDS = (CLAIM, VOLUME, STORAGE_CLASS, CSI_DRIVER, CAPACITY, ATTACHMENT)
"""Those of which the bodies are kept; of a CSINode only its limits are."""
