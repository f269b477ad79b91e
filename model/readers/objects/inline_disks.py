"""Disks that pods name in their own specs: a node takes one writer or any readers of some.

Others are attached to it, of which it takes so many: both, where a source is of either kind.
"""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.model.readers.objects.manifest import Body, part_of
from fourleaf.model.resources import DISK_PREFIX, WHOLE_DISK

INLINE_DISKS = {
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "iscsi": ("iqn",),
    "rbd": ("pool", "image"),
}
"""Sources of volumes that kube-scheduler's plugin VolumeRestrictions looks at, and what names the
disk. The monitors of Ceph are left out: two clusters with images of one name count as one."""

ATTACHED_DISKS = {
    "awsElasticBlockStore": "volumeID",
    "azureDisk": "diskURI",
    "cinder": "volumeID",
    "gcePersistentDisk": "pdName",
    "portworxVolume": "volumeID",
}
"""Sources of volumes that a CSI driver attaches by now, and what names the disk."""

_AZURE = "azureDisk"
KEPT_OF_DISKS = {
    **{source: (*names, "readOnly") for source, names in INLINE_DISKS.items()},
    **{source: (name, "readOnly") for source, name in ATTACHED_DISKS.items()},
    _AZURE: (ATTACHED_DISKS[_AZURE], "kind", "readOnly"),
}
"""All that is read of a volume of either kind."""

_NEVER_SHARED = "awsElasticBlockStore"
"""Of which a node takes one pod, whether it writes or not."""

_MOST_OF_A_NAME = 253
"""Characters that are kept of what names a disk."""


def kind_beyond_drivers(spec: Mapping[str, object]) -> str:
    """The kind of a disk of Azure that no driver attaches, "" where the volume is none.

    Where the kind is not said, as in manifests that no API server has seen, it may be any.
    """
    kind = part_of(spec, _AZURE).get("kind")
    return str(kind)[:_MOST_OF_A_NAME] if kind and kind != "Managed" else ""


def inline_disks(spec: Body) -> dict[str, int]:
    """What a pod asks for its disks: all of a disk to write to it, a part of one to read it."""
    found: dict[str, int] = {}
    volumes = spec.get("volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        for source, names in INLINE_DISKS.items() if isinstance(volume, dict) else ():
            if source in volume:
                said = part_of(volume, source)
                name = "/".join(str(said.get(one) or "") for one in names)[:_MOST_OF_A_NAME]
                reads = said.get("readOnly") is True and source != _NEVER_SHARED
                key = f"{DISK_PREFIX}{source}/{name}"
                found[key] = max(found.get(key, 0), 1 if reads else WHOLE_DISK)
    return found
