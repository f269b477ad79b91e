"""The index of a pod, pattern by pattern."""

from __future__ import annotations

import pytest

from fourleaf.model.readers.pods.pod_index import index_of

DEPLOYED = {"pod-template-hash": "7d9f8c6b5"}


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("web-0", 0),
        ("web-17", 17),
        ("web-007", 7),
        ("deployment-name-abc123-0", 0),
        ("worker3", 3),
        ("gpu-test-1", 1),
        ("rank-03-x", 3),
        ("train.4", 4),
        ("job-2-worker-5-main", 5),
        ("test-gpu-pod", None),
        ("web-7d9f8c6b5-x2x7p", None),
        ("web-7d9f8c6b5-x2x77", None),
        ("web-7d9f8c6b5-24567", None),
        ("web-x2x77", None),
        ("p9999999999999999999", None),
    ],
)
def test_the_number_in_a_name(name: str, index: int | None) -> None:
    """It ends the name or stands alone; digits of a hash are none."""
    assert index_of(name, {}, {}) == index


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("web-7d9f8c6b5-24567", DEPLOYED),
        ("worker3-7d9f8c6b5-bcdf7", DEPLOYED),
        ("train-2-bcdf7", {"batch.kubernetes.io/job-name": "train-2"}),
        ("train-2-24567", {"job-name": "train-2"}),
        ("logs-24567", {"controller-revision-hash": "5d8c"}),
        ("ray-worker-small-24567", {"ray.io/cluster": "ray"}),
    ],
)
def test_a_suffix_drawn_by_lot_is_no_number(name: str, labels: dict[str, str]) -> None:
    """The labels of the controller tell it, even where all that it drew are digits."""
    assert index_of(name, labels, {}) is None


def test_a_stateful_set_counts_from_its_name() -> None:
    """A revision hash does not make a StatefulSet's ordinal a suffix drawn by lot."""
    labels = {"controller-revision-hash": "web-5d8c", "statefulset.kubernetes.io/pod-name": "w"}
    assert index_of("web-24567", labels, {}) == 24567


@pytest.mark.parametrize(
    ("labels", "annotations"),
    [
        ({"apps.kubernetes.io/pod-index": "5"}, {}),
        ({"batch.kubernetes.io/job-completion-index": "5"}, {}),
        ({}, {"batch.kubernetes.io/job-completion-index": "5"}),
        ({"leaderworkerset.sigs.k8s.io/worker-index": "5"}, {}),
    ],
    ids=str,
)
def test_what_a_controller_wrote_counts_before_the_name(
    labels: dict[str, str], annotations: dict[str, str]
) -> None:
    """A pod of a StatefulSet with ordinals.start, or of an Indexed Job, is known by its label."""
    assert index_of("web-9", labels, annotations) == 5


def test_a_deployment_may_end_its_pods_with_a_number() -> None:
    """`deployment-name-abc123-0` is pod 0, with the label of its ReplicaSet too."""
    assert index_of("deployment-name-abc123-0", {"pod-template-hash": "abc123"}, {}) == 0
