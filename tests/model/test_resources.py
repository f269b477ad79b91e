"""Sums of what pods ask for."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce

import pytest

from fourleaf.model.resources import Resources, fits, given_back, minus, plus, total


@pytest.mark.parametrize("seed", range(20))
def test_a_total_is_what_plus_makes_of_it(seed: int) -> None:
    """Amounts that are absent count as nothing, and extras are added by name, in any mix."""
    dice = random.Random(seed)  # noqa: S311 - a test, not a secret
    requests = [
        Resources(
            gpus=dice.randint(0, 8),
            cpu=dice.choice([None, 0, 250]),
            memory=dice.choice([None, 2**30]),
            extra=dice.choice([(), (), (("rdma/hca", dice.randint(1, 4)),)]),
        )
        for _ in range(dice.randint(1, 9))
    ]
    assert total(requests) == reduce(plus, requests)


def test_a_total_by_hand() -> None:
    """Two pods of 3 and 5 GPUs, one of them with half a core, take 8 GPUs and two slots."""
    asked = [Resources(gpus=3, cpu=500, memory=None), Resources(gpus=5, cpu=None, memory=7)]
    assert total(asked) == Resources(gpus=8, cpu=500, memory=7, pods=2)
    assert total(asked[1:]) is asked[1]


def test_a_port_that_is_taken_stays_taken() -> None:
    """Of a node whose port 80 a pod has, one more pod without a port leaves no port 80 either."""
    asks = Resources(extra=(("hostport/TCP/80", 1),))
    left = minus(Resources(pods=9), asks)
    assert fits(left, asks) == 0
    assert fits(minus(left, Resources()), asks) == 0
    assert fits(minus(left, Resources(pods=-1, extra=(("hostport/TCP/80", -1),))), asks) == 1


def test_a_node_without_a_limit_attaches_any_volumes() -> None:
    """Nine are attached, and nine pods more fit; a node that attaches ten has room for one."""
    volume, nine = (Resources(extra=(("attachable-volumes-csi-d", n),)) for n in (1, 9))
    assert fits(minus(Resources(pods=10), nine), volume) == 9
    ten = Resources(pods=10, extra=(("attachable-volumes-csi-d", 10),))
    assert fits(minus(ten, nine), volume) == 1


class CountedName(str):
    """A name that counts how often it is compared, which a look into a dict does once."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        type(self).compared += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def named(disks: int) -> Resources:
    """A request for so many disks, by names that no other request has as objects."""
    names = sorted(f"disk/x/{i}" for i in range(disks))
    return Resources(gpus=0, extra=tuple((CountedName(name), 1_000_000) for name in names))


@pytest.mark.parametrize(
    "work",
    [
        minus,
        fits,
        given_back,
        plus,
        lambda node, disks: total([node, disks, disks]),
    ],
)
def test_names_are_looked_up_not_searched_for(
    work: Callable[[Resources, Resources], object],
) -> None:
    """Three hundred disks on either side: each name is compared a few times, not with all."""
    node, disks = named(300), named(300)
    CountedName.compared = 0
    work(node, disks)
    assert 0 < CountedName.compared <= 6 * 300
