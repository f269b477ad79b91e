"""The kinds of `resource.k8s.io/v1` that are read."""

from __future__ import annotations

GROUP = "resource.k8s.io"
CLAIM = (GROUP, "ResourceClaim")
TEMPLATE = (GROUP, "ResourceClaimTemplate")
SLICE = (GROUP, "ResourceSlice")
DEVICE_CLASS = (GROUP, "DeviceClass")
