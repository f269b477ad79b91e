"""Control planes for the end-to-end tests."""

from tests.controlplane.fixtures import (
    control_plane,
    control_plane_programs,
    module_control_plane,
    own_control_plane,
)

__all__ = [
    "control_plane",
    "control_plane_programs",
    "module_control_plane",
    "own_control_plane",
]
