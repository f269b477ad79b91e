"""Only the scheduler writes what stands under its prefix."""

from __future__ import annotations

import pytest

from tests.webhook.made import SCHEDULER, causes, pod

DEVICES = "alloc.gpu.scheduling/devices"
FIELD = f"metadata.annotations[{DEVICES}]"


def test_set_changed_and_removed() -> None:
    """Each is refused to a tenant and let through for the scheduler."""
    none, some, other = pod(), pod(annotations={DEVICES: "0"}), pod(annotations={DEVICES: "0,1"})
    for before, after in ((None, some), (none, some), (some, other), (some, none)):
        assert causes(after, before).keys() == {FIELD}
        assert causes(after, before, user=SCHEDULER) == {}


def test_what_stays_is_nobodys_fault() -> None:
    """A tenant may change something else on a pod that has its devices."""
    some = pod(annotations={DEVICES: "0"})
    assert causes(pod(annotations={DEVICES: "0", "note": "x"}), some) == {}


@pytest.mark.parametrize("user", ["", "system:serviceaccount:ml:fourleaf-scheduler"])
def test_a_name_like_the_schedulers_is_not_its_own(user: str) -> None:
    """The same ServiceAccount name in another namespace counts for nothing."""
    assert FIELD in causes(pod(annotations={DEVICES: "0"}), user=user)


def test_labels_too() -> None:
    """The prefix is the scheduler's in labels as well."""
    body = pod()
    body["metadata"]["labels"] = {"alloc.gpu.scheduling/record": "page"}
    assert causes(body).keys() == {"metadata.labels[alloc.gpu.scheduling/record]"}


def test_the_message_says_what_to_do() -> None:
    """Value, reason, advice."""
    assert causes(pod(annotations={DEVICES: "0"}))[FIELD] == (
        '"0": is not for users to set. Leave everything under alloc.gpu.scheduling/ as it is; '
        "only the scheduler writes it."
    )
