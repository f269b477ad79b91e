"""What is refused about a claim itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webhook.made import Body, decided, review


def response(spec: Any, before: Any = None) -> Body:
    """What is answered to a claim, or to its update."""

    def claim(content: Any) -> Body:
        return {"kind": "GpuClaim", "metadata": {"name": "c"}, "spec": content}

    old = None if before is None else claim(before)
    document = review(claim(spec), old, resource="gpuclaims", group="gpu.scheduling")
    found: Body = decided(document).answer["response"]
    return found


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({}, "spec.devices"),
        ({"devices": {"count": 0}}, "spec.devices.count"),
        ({"devices": {"count": 2**31}}, "spec.devices.count"),
        ({"devices": {"count": 1, "policy": "some"}}, "spec.devices.policy"),
        *(
            (
                {"devices": {"count": 1}, "selector": {"minMemory": amount}},
                "spec.selector.minMemory",
            )
            for amount in ("0", "much", "9" * 32)
        ),
        ({"devices": {"count": 1}, "selector": {"products": ["a", "a"]}}, "spec.selector.products"),
    ],
)
def test_refused_by_field(spec: Any, field: str) -> None:
    """One cause, which names the field."""
    found = response(spec)
    assert not found["allowed"]
    assert [one["field"] for one in found["status"]["details"]["causes"]] == [field]


def test_good_claims_and_untouched_ones_pass() -> None:
    """An update that leaves the spec alone is no occasion to complain of it."""
    good = {"devices": {"count": 4, "policy": "contiguous"}, "selector": {"minMemory": "80Gi"}}
    assert response(good)["allowed"]
    assert response({"devices": {}}, {"devices": {}})["allowed"]
