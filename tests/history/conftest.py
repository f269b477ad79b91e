"""Control planes for the tests of the checker."""

from tests.controlplane.fixtures import (
    control_plane,
    control_plane_programs,
    own_control_plane,
)

__all__ = ["control_plane", "control_plane_programs", "own_control_plane"]
