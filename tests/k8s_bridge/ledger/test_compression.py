"""A compressed content is opened as far as a record may be large, whatever a Lease says."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.ledger.formats.compression import packed, unpacked


def test_sixteen_mebibytes_are_opened_and_no_more() -> None:
    """A text of 16 MiB, its two quotes among them, comes back; one byte more is refused."""
    most = 16 * 2**20 - 2
    assert len(unpacked(packed("a" * most))) == most
    with pytest.raises(ValueError, match="larger than any record"):
        unpacked(packed("a" * (most + 1)))
