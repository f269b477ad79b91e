"""What pods leave on a node, remembered: the same as counted anew."""

from __future__ import annotations

from fourleaf.model.resources import Resources, fits, minus
from fourleaf.solver.instance.amount_cache import AmountCache

NODE = Resources(gpus=8, cpu=64_000, memory=1 << 40, pods=110)
POD = Resources(gpus=3, cpu=8_000, memory=1 << 30, pods=1)


def test_pods_one_after_the_other_leave_what_subtraction_leaves() -> None:
    """Two pods of three GPUs fit into eight and leave two, into which none fits."""
    rest = AmountCache()
    free = NODE
    for left in (2, 1):
        assert rest.fits(free, POD) == fits(free, POD) == left
        assert rest.after(free, POD) == minus(free, POD)
        free = rest.after(free, POD)
    assert free.gpus == 2
    assert rest.fits(free, POD) == 0


def test_equal_amounts_that_are_one_object_are_worked_out_once() -> None:
    """Nodes that share an amount share what a pod leaves of it; an equal object does not."""
    rest = AmountCache()
    assert rest.after(NODE, POD) is rest.after(NODE, POD)
    twin = Resources(gpus=8, cpu=64_000, memory=1 << 40, pods=110)
    assert rest.after(twin, POD) == rest.after(NODE, POD)


def test_an_amount_that_is_dropped_is_never_mistaken_for_a_new_one() -> None:
    """Identities are used again once an object dies, so whatever was asked about is kept."""
    rest = AmountCache()
    for gpus in range(100):
        assert rest.fits(Resources(gpus=gpus), Resources(gpus=1, cpu=None, memory=None)) == min(
            gpus, 1
        )
