"""Each law of a plan has a hand-made plan that breaks it and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import Node
from fourleaf.model.plan import Phantom
from fourleaf.model.validator import Law, validate
from tests.model.plans import devices, legal, members, phantoms, places, sums
from tests.small import Case, fabric, gang, plan, snapshot

OF_RELOCATIONS = frozenset({Law.MOVE, Law.POLICY, Law.VICTIM, Law.BUDGET, Law.EVICTION})
"""Laws that only plans for gangs that stand can break."""

CASES: dict[str, tuple[set[Law], Callable[[], Case]]] = {
    "unknown gang": ({Law.KNOWN}, members.unknown_gang),
    "unknown pod": ({Law.KNOWN}, members.unknown_pod),
    "unknown node": ({Law.KNOWN}, members.unknown_node),
    "gang forgotten": ({Law.ACCOUNTED}, members.forgotten),
    "placed and waiting": ({Law.ACCOUNTED}, members.placed_and_waiting),
    "partial gang": ({Law.WHOLE}, members.partial),
    "member twice": ({Law.WHOLE}, members.twice),
    "not in rank order": ({Law.WHOLE}, members.out_of_order),
    "held gang": ({Law.BATCH}, members.held),
    "beyond the batch": ({Law.BATCH}, members.beyond_batch),
    "beyond the namespace": ({Law.BATCH}, members.beyond_namespace),
    "cordoned node": ({Law.ELIGIBLE}, places.cordoned),
    "selector": ({Law.ELIGIBLE}, places.selector),
    "taint": ({Law.ELIGIBLE}, places.taint),
    "unknown bandwidth": ({Law.ELIGIBLE}, places.slow_node),
    "foreign domain": ({Law.ELIGIBLE, Law.LOCATION}, places.foreign_domain),
    "leaves not adjacent": ({Law.LOCATION}, places.not_adjacent),
    "two incomplete leaves": ({Law.LOCATION}, places.two_incomplete),
    "too many leaves": ({Law.LOCATION}, places.too_many_leaves),
    "across an aligned boundary": ({Law.LOCATION}, places.across_boundary),
    "no explicit edge": ({Law.LOCATION}, places.no_edge),
    "two spines for one": ({Law.LOCATION}, places.two_spines),
    "spine not whole": ({Law.LOCATION}, places.spine_not_whole),
    "preferred in two spines": ({Law.LOCATION}, places.preferred_two_spines),
    "far from a bound member": ({Law.LOCATION}, places.bound_too_far),
    "GPUs": ({Law.ROOM}, sums.gpus),
    "CPU": ({Law.ROOM}, sums.cpu),
    "memory": ({Law.ROOM}, sums.memory),
    "pod slots": ({Law.ROOM}, sums.pod_slots),
    "extended resource": ({Law.ROOM}, sums.extended),
    "host port": ({Law.ROOM}, sums.host_port),
    "devices not in a row": ({Law.DEVICES}, devices.not_contiguous),
    "link too slow": ({Law.DEVICES}, devices.too_slow),
    "wrong product": ({Law.DEVICES}, devices.wrong_product),
    "too little memory": ({Law.DEVICES}, devices.too_little_memory),
    "one device twice": ({Law.DEVICES}, devices.same_device),
    "device held": ({Law.DEVICES}, devices.taken_device),
    "device held and not counted": ({Law.DEVICES}, devices.uncounted),
    "device unhealthy": ({Law.DEVICES}, devices.unhealthy_device),
    "shared node": ({Law.ONE_PER_NODE}, places.shared_node),
    "shared with a bound member": ({Law.ONE_PER_NODE}, places.shared_with_bound),
    "nodes per leaf": ({Law.LEAF_CAP}, places.nodes_per_leaf),
    "GPUs per leaf": ({Law.LEAF_CAP, Law.LOCATION}, places.gpus_per_leaf),
    "quota": ({Law.QUOTA}, sums.quota),
    "uplink": ({Law.UPLINK}, sums.uplink),
    "bound member placed again": ({Law.RUNNING}, members.bound_again),
    "running pod moved": ({Law.RUNNING}, members.moved),
    "wrong terms": ({Law.TERMS}, sums.wrong_terms),
    "wrong objective": ({Law.OBJECTIVE}, sums.wrong_objective),
    "phantom on a taken node": (
        {Law.PHANTOM},
        phantoms.haunted(replace(phantoms.PAIR, hosts=("a1", "a2"))),
    ),
    "phantoms share a node": ({Law.PHANTOM}, phantoms.haunted(phantoms.PAIR, phantoms.PAIR)),
    "phantom over two leaves": (
        {Law.PHANTOM},
        phantoms.haunted(replace(phantoms.PAIR, hosts=("a0", "b0"))),
    ),
    "phantom of no shape": ({Law.PHANTOM}, phantoms.haunted(Phantom(1, 8, ("a0",), 4000))),
    "phantom worth too much": ({Law.PHANTOM}, phantoms.haunted(replace(phantoms.PAIR, value=8001))),
    "phantom with a node less": (
        {Law.PHANTOM},
        phantoms.haunted(replace(phantoms.PAIR, hosts=("a0",))),
    ),
    "phantom nowhere": (
        {Law.PHANTOM},
        phantoms.haunted(replace(phantoms.PAIR, hosts=("a0", "z9"))),
    ),
    "phantom on a taint": ({Law.PHANTOM}, phantoms.haunted_taint),
}


@pytest.mark.parametrize("name", CASES)
def test_breaks_exactly_its_law(name: str) -> None:
    """A plan that breaks one law is told of that law and of no other."""
    laws, case = CASES[name]
    assert {breach.law for breach in validate(*case())} == laws


def test_every_law_has_a_case() -> None:
    """No law of a batch goes without a plan that breaks it."""
    assert {law for laws, _ in CASES.values() for law in laws} == set(Law) - OF_RELOCATIONS


LEGAL = [
    legal.ring,
    legal.aligned,
    legal.explicit,
    legal.either_end,
    legal.slack,
    legal.exception,
    legal.whole_spines,
    legal.preferred,
    legal.roles,
    devices.legal,
]
LEGAL += [
    legal.completes_bound,
    legal.own_uplink,
    legal.overcommitted,
    legal.flat,
    phantoms.haunted(phantoms.PAIR),
]


@pytest.mark.parametrize("case", LEGAL)
def test_legal_plans_pass(case: Callable[[], Case]) -> None:
    """What the page allows is not reported."""
    assert [str(breach) for breach in validate(*case())] == []


def test_custom_rule() -> None:
    """A rule of one's own decides which nodes are eligible."""

    class NotFirst:
        name = "not-first"

        def allows(self, gang: Gang, role: Role, node: Node) -> bool:
            return not node.name.endswith("0")

    extensions = Extensions(rules=(NotFirst(),))
    world = snapshot(fabric([[2]]), gang("g", 1))
    bad, good = ({"g": [name]} for name in ("a0", "a1"))
    found = validate(world, plan(world, bad, extensions=extensions), extensions)
    assert [(breach.law, breach.subject) for breach in found] == [(Law.ELIGIBLE, "a0")]
    assert validate(world, plan(world, good, extensions=extensions), extensions) == ()


def test_breach_reads_as_a_sentence() -> None:
    """A breach prints its law, its gang, whom it is about and the numbers."""
    (found,) = validate(*places.nodes_per_leaf())
    text = "leafCap: ml/g: a: the gang stands on 2 nodes there, the most is 1"
    assert str(found) == text
