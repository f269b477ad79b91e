"""Every term of the score against numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, Role, Strategy, TopologyPolicy
from fourleaf.model.node import Node, Taint
from fourleaf.model.node_constraint import (
    NodeConstraint,
    Operator,
    Preference,
    Requirement,
    Toleration,
)
from fourleaf.model.resources import Resources, fits
from fourleaf.model.snapshot import RunningPod
from fourleaf.model.validator import score, strategies, who_values
from tests.small import (
    GIB,
    NOTHING,
    NOW,
    WHOLE,
    fabric,
    gang,
    node,
    one_leaf,
    plan,
    seats,
    snapshot,
)

ONLY_COMFORT = {"resourceAvailability": 1}
ONLY_FILL = {"domainUtilization": 1}
ONLY_SHAPE = {"topologyAlignment": 1}
ONLY_HISTORY = {"historicalPerformance": 1}


def points(
    where: Fabric, one: Gang, nodes: list[str], running: object = (), **spec: object
) -> dict[str, int]:
    """The points above zero or below of a gang on `nodes`."""
    world = snapshot(where, one, running=running, **spec)
    return {name: n for name, n in score(world, one, seats(one, nodes)).items() if n}


def test_resource_availability_takes_the_scarcest() -> None:
    """Memory is scarcest: (10 - 3 running - 4 asked) GiB of 10 leave 150; 2 of 8 GPUs are 125."""
    busy = RunningPod("ops", "p", "a0", Resources(memory=3 * GIB, cpu=1000))
    one = gang("g", 1, request=Resources(gpus=2, cpu=2000, memory=4 * GIB))
    found = points(fabric([[1]]), one, ["a0"], [busy], scoringWeights=ONLY_COMFORT)
    assert found == {"resourceAvailability": 2 * (150 + 125)}


def test_resource_availability_looks_at_one_pod_alone() -> None:
    """Two pods on one node leave nine of ten slots each; of the leaf they take six of 8 GPUs."""
    one = gang("g", 2, gpus=3)
    weights = {"resourceAvailability": "0.75", "historicalPerformance": "0.25"}
    failing = Fabric((Leaf("a", "s0", (node("a0", "a", failure_permille=1000),)),))
    found = points(failing, one, ["a0", "a0"], scoringWeights=weights)
    assert found == {"resourceAvailability": 6 * (750 * 450 // 1000 + 750 * 375 // 1000)}


def test_resource_availability_is_never_negative() -> None:
    """A node that is overcommitted on CPU is worth nothing but its GPUs here, not less."""
    busy = RunningPod("ops", "p", "a0", Resources(cpu=12_000))
    found = points(fabric([[1]]), gang("g", 1), ["a0"], [busy], scoringWeights=ONLY_COMFORT)
    assert found == {"resourceAvailability": 8 * 500}


def test_unstated_amounts_do_not_count() -> None:
    """A node without CPU and memory is measured by its pod slots, 9 of 10 left, and its GPU."""
    bare = node("a0", "a", allocatable=replace(WHOLE, cpu=None, memory=None))
    where = Fabric((Leaf("a", "s0", (bare,)),))
    one = gang("g", 1, request=Resources(gpus=1, cpu=10**9))
    found = points(where, one, ["a0"], scoringWeights=ONLY_COMFORT)
    assert found == {"resourceAvailability": 450 + 62}


def test_gpus_are_available_where_as_many_are_free_as_are_taken() -> None:
    """Beside 450 for slots, 400 where a pod runs: four of five free GPUs, four of 16, eight of 16.

    A strategy that favours empty leaves turns it round: 500 less the 400 of four in five.
    """
    where, half = fabric([[1, 2]]), gang("g", 1, gpus=4)
    busy = [RunningPod("ops", "p", "a0", Resources(gpus=3))]

    def earned(one: Gang, node: str) -> int:
        found = points(where, one, [node], busy, scoringWeights=ONLY_COMFORT)
        return found["resourceAvailability"]

    assert earned(half, "a0") == 4 * (400 + 400)
    assert earned(half, "b0") == 4 * (450 + 125)
    assert earned(gang("g", 1), "b0") == 8 * (450 + 250)
    assert earned(replace(half, strategy=Strategy.DISTRIBUTED), "a0") == 4 * (400 + 100)


def test_a_leaf_without_a_free_gpu_has_none_available() -> None:
    """Nor one with fewer than none, where nodes say less than what runs on them: 450 for slots."""
    busy = [RunningPod("ops", "p", "a0", Resources(gpus=9))]
    pod = gang("g", 1, gpus=0)
    found = points(fabric([[1]]), pod, ["a0"], busy, scoringWeights=ONLY_COMFORT)
    assert found == {"resourceAvailability": 400}


def test_historical_performance() -> None:
    """A node that fails 137 times in a thousand leaves 863 per GPU."""
    where = Fabric((Leaf("a", "s0", (node("a0", "a", failure_permille=137),)),))
    found = points(where, gang("g", 1), ["a0"], scoringWeights=ONLY_HISTORY)
    assert found == {"historicalPerformance": 8 * 863}


def test_domain_utilization_counts_used_and_new() -> None:
    """Five GPUs in use and four new ones are 9 of 24: 375 thousandths."""
    busy = RunningPod("ops", "p", "a2", Resources(gpus=5))
    found = points(fabric([[3]]), gang("g", 1, gpus=4), ["a0"], [busy], scoringWeights=ONLY_FILL)
    assert found == {"domainUtilization": 4 * 375}


def test_domain_utilization_leaves_out_unschedulable_nodes() -> None:
    """A cordoned node with eight GPUs in use counts neither as used nor as there: 4 of 8."""
    busy = RunningPod("ops", "p", "a1", Resources(gpus=8))
    hosts = (node("a0", "a"), node("a1", "a", cordoned=True))
    where = Fabric((Leaf("a", "s0", hosts),))
    found = points(where, gang("g", 1, gpus=4), ["a0"], [busy], scoringWeights=ONLY_FILL)
    assert found == {"domainUtilization": 4 * 500}


def test_domain_utilization_turns_round_for_distributed() -> None:
    """Four of 24 GPUs are 166 thousandths; distributed gangs earn the other 834."""
    one = gang("g", 1, gpus=4, strategy=Strategy.DISTRIBUTED)
    found = points(fabric([[3]]), one, ["a0"], scoringWeights=ONLY_FILL)
    assert found == {"domainUtilization": 4 * 834}


def test_leaf_without_gpus() -> None:
    """A leaf without GPUs is not used at all, whatever runs there: 0, and 1000 distributed."""
    hosts = (node("a0", "a", allocatable=replace(WHOLE, gpus=0)),)
    where = Fabric((Leaf("a", "s0", hosts),))
    near = gang("g", 1, gpus=0)
    assert points(where, near, ["a0"], scoringWeights=ONLY_FILL) == {}
    far = replace(near, strategy=Strategy.DISTRIBUTED)
    assert points(where, far, ["a0"], scoringWeights=ONLY_FILL) == {"domainUtilization": 1000}


def test_topology_alignment_at_its_best() -> None:
    """The fewest leaves and no wish earn both halves."""
    found = points(fabric([[1, 1]]), gang("g", 2), ["a0", "b0"], scoringWeights=ONLY_SHAPE)
    assert found == {"topologyAlignment": 16 * 1000}


def test_topology_alignment_of_a_wider_window() -> None:
    """Two leaves where one is the fewest: 500 * 2 // 3 = 333, and 500 for no wish."""
    wider = {"scoringWeights": ONLY_SHAPE, "topology": {"windowSlack": 1}}
    found = points(fabric([[1, 1, 2]]), gang("g", 2), ["a0", "b0"], **wider)
    assert found == {"topologyAlignment": 16 * 833}


def test_topology_alignment_of_a_wider_location() -> None:
    """Three leaves where one is the fewest, and any may be used: 500 * (4 - 4) // 2, and 500."""
    one = gang("g", 3, policy=TopologyPolicy.PREFERRED)
    found = points(fabric([[1, 1, 3]]), one, ["a0", "b0", "c0"], scoringWeights=ONLY_SHAPE)
    assert found == {"topologyAlignment": 24 * 500}


def test_topology_alignment_of_scattered_leaves() -> None:
    """F is one spine and the two fullest leaves, and one leaf more is used: 500 * (6 - 4) // 3."""
    where = fabric([[2, 0, 2, 0, 1]])
    one = gang("g", 4, policy=TopologyPolicy.PREFERRED)
    found = points(where, one, ["a0", "c0", "c1", "e0"], scoringWeights=ONLY_SHAPE)
    assert found == {"topologyAlignment": 32 * (333 + 500)}


def test_topology_alignment_counts_bound_members() -> None:
    """A bound member's leaf counts: F is 3 for two leaves, and the gang stands on just those."""
    one = gang("g", 2)
    role = Role(("g-0-1",), Resources(gpus=8), bound=(("g-0-0", "a0"),))
    half = replace(one, roles=(role,))
    found = points(fabric([[1, 1]]), half, ["b0"], scoringWeights=ONLY_SHAPE)
    assert found == {"topologyAlignment": 8 * 1000}


def test_preferred_domain_is_weighed_pod_by_pod() -> None:
    """The pod in the preferred leaf earns both halves, the other one half, and pays for it."""
    one = gang("g", 2, preferred_domain="b")
    found = points(fabric([[1, 1]]), one, ["a0", "b0"], scoringWeights=ONLY_SHAPE)
    assert found == {"topologyAlignment": 8 * 500 + 8 * 1000, "domain": -8 * 10_000}
    spine = replace(one, preferred_domain="s0")
    found = points(fabric([[1, 1]]), spine, ["a0", "b0"], scoringWeights=ONLY_SHAPE)
    assert found == {"topologyAlignment": 16 * 1000}


@pytest.mark.parametrize(
    ("wish", "weight", "points"),
    [
        ("b", 10, -80_000),
        ("b", 0, 0),
        ("a", 10, 0),
        ("s0", 10, 0),
        ("nowhere", 10, 0),
        (None, 10, 0),
    ],
)
def test_places_outside_of_the_preferred_domain_cost(
    wish: str | None, weight: int, points: int
) -> None:
    """The weight for each GPU outside, where the fabric has that domain."""
    one = gang("g", 1, preferred_domain=wish)
    world = snapshot(fabric([[1, 1]]), one, penalties={"domain": weight})
    assert score(world, one, seats(one, ["a0"]))["domain"] == points


def test_whole_spines_count_spines() -> None:
    """Five nodes over two spines and four leaves are the fewest: 500 of 500."""
    one = gang("g", 5)
    nodes = ["a0", "a1", "b0", "c0", "c1"]
    found = points(fabric([[2, 1], [2, 2]]), one, nodes, scoringWeights=ONLY_SHAPE)
    assert found == {"topologyAlignment": 40 * 1000}


def test_bandwidth_penalty() -> None:
    """Two nodes in one leaf and one next door take 120 and 60 of 240: 50 and 25 of 100."""
    where = fabric([[2, 2]], uplink=240)
    found = points(
        where, gang("g", 3, bandwidth=60), ["a0", "a1", "b0"], scoringWeights=ONLY_COMFORT
    )
    assert found["bandwidth"] == -(16 * (100 * 500 // 1000) + 8 * (100 * 250 // 1000))


def test_no_bandwidth_penalty_inside_a_leaf() -> None:
    """A gang inside one leaf takes no uplink."""
    found = points(fabric([[2]], uplink=100), gang("g", 2, bandwidth=60), ["a0", "a1"])
    assert "bandwidth" not in found


def test_gang_without_gpus_counts_pods() -> None:
    """Where nobody asks for GPUs each pod weighs one; next to GPUs such a pod weighs nothing."""
    alone = points(fabric([[1]]), gang("g", 3, gpus=0), ["a0"] * 3, scoringWeights=ONLY_HISTORY)
    assert alone == {"historicalPerformance": 3 * 1000}
    roles = (Role(("w",), Resources(gpus=8)), Role(("l",), Resources()))
    mixed = replace(gang("g"), roles=roles)
    found = points(fabric([[1]]), mixed, ["a0", "a0"], scoringWeights=ONLY_HISTORY)
    assert found == {"historicalPerformance": 8 * 1000}


class Even:
    """A node term: 400 on nodes of an even name, else 0."""

    name = "even"

    def value(self, gang: Gang, role: Role, node: Node, free: Resources) -> int:
        """Value a node by its last digit."""
        return 400 if int(node.name[-1]) % 2 == 0 else 0


class Full:
    """A leaf term: 100 per GPU of the gang in the leaf."""

    name = "full"

    def value(self, gang: Gang, leaf: Leaf, gpus: int) -> int:
        """Value a leaf by the GPUs that the gang places there."""
        return 100 * gpus


def test_custom_terms_count_where_the_config_weighs_them() -> None:
    """Two pods of two GPUs, one on an even node; the leaf term sees four GPUs."""
    extensions = Extensions(node_terms=(Even(),), leaf_terms=(Full(),))
    one = gang("g", 2, gpus=2)
    world = snapshot(fabric([[2]]), one, scoringWeights={"even": "0.5", "full": "0.5"})
    found = score(world, one, seats(one, ["a0", "a1"]), extensions)
    assert (found["even"], found["full"]) == (2 * 200, 4 * 200)
    silent = snapshot(fabric([[2]]), one)
    assert set(score(silent, one, seats(one, ["a0", "a1"]), extensions)) == set(
        score(silent, one, seats(one, ["a0", "a1"]), NOTHING)
    )


def test_default_weights() -> None:
    """An empty leaf of two nodes, one taken whole: 0.4 * 0.7 + 0.3 + 0.2 * 0.5 + 0.1 per GPU."""
    found = points(fabric([[2]]), gang("g", 1), ["a0"])
    assert found == {
        "resourceAvailability": 8 * 280,
        "topologyAlignment": 8 * 300,
        "domainUtilization": 8 * 100,
        "historicalPerformance": 8 * 100,
    }


def test_who_values_by_priority() -> None:
    """GPUs times 16 and a step for each ten minutes of age, at most seven, by priority."""
    young, old = gang("young", 1), gang("old", 1, created=NOW - 1300)
    ancient = gang("ancient", 1, created=0.0, priority=5)
    world = snapshot(fabric([[4]]), young, old, ancient)
    answer = plan(world, {"young": ["a0"], "old": ["a1"], "ancient": ["a2"]})
    assert who_values(world, answer) == {0: 8 * 16 + 8 * 18, 5: 8 * 23}


def test_preferences_count_by_their_weight() -> None:
    """Of weights 30 and 10, the node lacks the 30: of at least 100 that is 300 thousandths.

    Of weights 150 and 50 in all, as kube-scheduler would not allow in one preference, it is three
    quarters. Eight GPUs lose half of it each, as `penalties.preferences` is.
    """
    where = Fabric(
        (Leaf("a", "s0", (node("a0", "a", failure_permille=1000, labels={"disk": "ssd"}),)),)
    )
    ssd = (Requirement("disk", Operator.IN, ("ssd",)),)
    zone = (Requirement("zone", Operator.IN, ("z1",)),)

    def lost(*preferences: Preference) -> dict[str, int]:
        one = gang("g", 1)
        one = replace(one, roles=(replace(one.roles[0], preferences=preferences),))
        return points(where, one, ["a0"], scoringWeights=ONLY_HISTORY)

    assert lost(Preference(10, ssd)) == {}
    assert lost(Preference(30, zone), Preference(10, ssd)) == {"preferences": -8 * 150}
    thrice = [Preference(50, zone)] * 3
    assert lost(*thrice, Preference(50, ssd)) == {"preferences": -8 * 375}


def test_a_taint_to_be_avoided_counts_as_a_preference() -> None:
    """A `PreferNoSchedule` taint costs a whole preference, unless it is tolerated."""
    taint = Taint("flaky", "", "PreferNoSchedule")
    where = Fabric((Leaf("a", "s0", (node("a0", "a", failure_permille=1000, taints=(taint,)),)),))
    one = gang("g", 1)
    assert points(where, one, ["a0"], scoringWeights=ONLY_HISTORY) == {"preferences": -8 * 500}
    tolerant = NodeConstraint(tolerations=(Toleration("flaky", "Exists"),))
    one = replace(one, roles=(replace(one.roles[0], constraint=tolerant),))
    assert points(where, one, ["a0"], scoringWeights=ONLY_HISTORY) == {}


def test_few_nodes_cost_less() -> None:
    """Four pods of two GPUs: a node that holds four costs nothing, one that holds two 1/2 - 1/4.

    Times 4000 points and the two GPUs of each of the two pods there.
    """
    busy = RunningPod("ops", "p", "a1", Resources(gpus=4))
    one = gang("g", 4, gpus=2, strategy=Strategy.CONSOLIDATED)
    where = fabric([[2]])
    assert points(where, one, ["a0"] * 4, [busy], scoringWeights=ONLY_HISTORY) == {
        "historicalPerformance": 8000
    }
    split = points(where, one, ["a0", "a0", "a1", "a1"], [busy], scoringWeights=ONLY_HISTORY)
    assert split["fewestNodes"] == -2 * 2 * 1000
    assert "spread" not in split


def test_pods_beyond_their_share_cost() -> None:
    """Of four pods balanced allows two on a node: the third and fourth lose 4000 a GPU each.

    Distributed allows one on each of four nodes, and under Preferred two in each of two leaves.
    """
    where = fabric([[2, 2]])
    half = gang("g", 4, gpus=2, strategy=Strategy.BALANCED)
    assert points(where, half, ["a0"] * 4)["spread"] == -2 * 4000 * 2
    assert "spread" not in points(where, half, ["a0", "a0", "a1", "a1"])
    apart = replace(half, strategy=Strategy.DISTRIBUTED, policy=TopologyPolicy.PREFERRED)
    assert "spread" not in points(where, apart, ["a0", "a1", "b0", "b1"])
    assert points(where, apart, ["a0", "a0", "a1", "a1"])["spread"] == -4 * 4000 * 2


def test_replicas_that_run_count() -> None:
    """A replica beside one of its owner that runs is one too many there; elsewhere it is none."""
    runs = RunningPod("ml", "web-9", "a0", Resources(gpus=1), owner="ReplicaSet/web")
    one = gang("web-0", 1, gpus=1, strategy=Strategy.DISTRIBUTED, owner="ReplicaSet/web")
    where = fabric([[1, 1]])
    assert points(where, one, ["a0"], [runs])["spread"] == -2 * 4000
    assert "spread" not in points(where, one, ["b0"], [runs])
    joins = replace(one, strategy=Strategy.CONSOLIDATED)
    assert "fewestNodes" not in points(where, joins, ["a0"], [runs])
    assert points(where, joins, ["b0"], [runs])["fewestNodes"] == -500 * 4


def test_what_nodes_offer_alike_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred nodes of two kinds, all with objects of their own: two looks, one at its node."""
    looks: list[Resources] = []

    def looked(free: Resources, request: Resources) -> int:
        looks.append(free)
        return fits(free, request)

    kinds = [
        replace(node(f"n{i}", "a"), allocatable=Resources(8 + 8 * (i % 2), pods=9))
        for i in range(100)
    ]
    pair = gang("g", 2, strategy=Strategy.CONSOLIDATED)
    monkeypatch.setattr(strategies, "fits", looked)
    strategies.node_share(snapshot(one_leaf(*kinds), pair), pair, 0, "n0")
    assert len(looks) == 3
