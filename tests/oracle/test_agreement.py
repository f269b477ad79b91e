"""The validator checks locations, the oracle lists them: two readings of one page must agree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings

from fourleaf.model.extensions import Extensions
from fourleaf.model.job_mix import likely_gangs
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.facts import facts_of
from fourleaf.model.validator.locations import LegalLocations
from tests.instances import random_snapshot, snapshots, with_few_window_nodes
from tests.oracle.leafrule import LeafRule, Part, phantom_wish, wish_of

NOTHING = Extensions()
MOST_SPLITS = 3000


def pairs(snapshot: Snapshot) -> Iterator[tuple[LegalLocations, LeafRule]]:
    """Pair the leaf rules of the validator and the oracle, for every gang and phantom."""
    facts, spec = facts_of(snapshot.fabric), snapshot.config.spec
    for gang in snapshot.gangs:
        oracle = LeafRule(snapshot, wish_of(snapshot, gang), NOTHING)
        yield facts.of_gang(spec, gang, NOTHING), oracle
    for shape in likely_gangs(snapshot):
        wish = phantom_wish(shape.nodes, shape.gpus)
        ours = facts.of_phantom(spec, shape.nodes, shape.gpus)
        yield ours, LeafRule(snapshot, wish, NOTHING)


def splits(sizes: Part, leaves: int) -> Iterator[dict[int, Part]]:
    """Every way to split the gang over leaves, those that no leaf could hold included."""
    if leaves == 0:
        if not any(sizes):
            yield {}
        return
    last = leaves - 1
    for part in product(*(range(n + 1) for n in sizes)):
        rest = tuple(a - b for a, b in zip(sizes, part, strict=True))
        for split in splits(rest, last):
            yield {**split, last: part} if any(part) else split


def agree(snapshot: Snapshot) -> None:
    """Compare F, and the verdict on every split of every gang."""
    for ours, oracle in pairs(snapshot):
        legal = oracle.locations({})
        assert ours.fewest == oracle.fewest()
        for where in legal:
            assert ours.fault(dict(where)) is None, where
        for number, split in enumerate(splits(oracle.wish.sizes, len(snapshot.fabric.leaves))):
            if number == MOST_SPLITS:
                break
            assert (ours.fault(split) is None) == (frozenset(split.items()) in legal), split


@pytest.mark.no_cover
@pytest.mark.parametrize("block", range(20))
def test_random_instances(block: int) -> None:
    """On every split of seeded gangs and phantoms, check and list give the same verdict."""
    for seed in range(block * 25, block * 25 + 25):
        agree(with_few_window_nodes(random_snapshot(seed), seed))


@settings(max_examples=60, deadline=None)
@given(snapshots())
def test_generated_instances(snapshot: Snapshot) -> None:
    """The same on instances that Hypothesis makes and shrinks."""
    agree(snapshot)
