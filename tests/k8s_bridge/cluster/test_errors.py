"""What a server asks for is done, within reason."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Throttled


@pytest.mark.parametrize(
    ("asked", "waits"), [(None, None), (3.0, 3.0), (30.0, 30.0), (3600.0, 30.0)]
)
def test_no_server_has_us_wait_for_more_than_half_a_minute(
    asked: float | None, waits: float | None
) -> None:
    """A proxy that says an hour would have a leader stand still for it."""
    assert Throttled("too many", 429, retry_after=asked).retry_after == waits
