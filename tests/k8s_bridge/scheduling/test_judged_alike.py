"""Which edits of the config have gangs that stand aside looked at again, field by field."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from pydantic import Field

from docs.reference.config_meanings import MEANINGS
from fourleaf.k8s_bridge.scheduling.judged_alike import (
    WITHOUT_VERDICT,
    WITHOUT_VERDICT_IN_PART,
    are_judged_alike,
)
from fourleaf.k8s_bridge.scheduling.set_aside import SetAside
from fourleaf.model.config.spec import NamespacePolicy, SchedulerConfig, Spec
from fourleaf.model.config.strategies import StrategySettings
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.snapshot import Snapshot
from tests.model.readers.live.test_live import NOW, reader
from tests.model.readers.made import config, node, pod

KIND = {
    "group": "example.com",
    "versions": ["v1"],
    "kind": "Run",
    "resource": "runs",
    "roleLabel": "example.com/kind",
    "podSets": [{"path": "spec", "template": "template"}],
}
BASE: dict[str, Any] = {
    "fragmentation": {"mix": [{"nodes": 2, "share": 0.5}]},
    "topologyConstraints": {"rules": [{"nodes": 2, "leaves": 1}]},
    "namespaces": {"name": {"gpuQuota": 8}},
    "strategies": {"name": {"spread": 1}},
    "ownerKinds": [KIND],
}

WORTH = "says which place is better"
PACE = "says how many are looked at, and for how long"
OTHERS = "is about gangs that run, or about who makes way"
WORDS = "is about what is written"

UNASKED: dict[str, tuple[Any, str]] = {
    "scoringWeights": ({"domainUtilization": 1}, WORTH),
    "strategies[NAME].factors": ({"domainUtilization": 2}, WORTH),
    "strategies[NAME].leaves": ("empty", WORTH),
    "strategies[NAME].mostPerNode": (0.5, WORTH),
    "strategies[NAME].mostPerLeaf": (0.5, WORTH),
    "strategies[NAME].spread": (2, WORTH),
    "strategies[NAME].fewestNodes": (2, WORTH),
    "penalties.bandwidth": (1, WORTH),
    "penalties.domain": (1, WORTH),
    "penalties.preferences": (1, WORTH),
    "penalties.migration": (1, WORTH),
    "fragmentation.weight": (1, WORTH),
    "fragmentation.mix[].nodes": (4, WORTH),
    "fragmentation.mix[].share": (0.25, WORTH),
    "batch.size": (7, PACE),
    "batch.ageStepSeconds": (7, PACE),
    "solver.timeLimitSeconds": (7, PACE),
    "solver.memoryLimitMiB": (700, PACE),
    "solver.seed": (7, PACE),
    "solver.gap": (0.01, PACE),
    "namespaces[NAME].maxGangs": (7, PACE),
    "namespaces[NAME].maxMembers": (7, PACE),
    "namespaces[NAME].maxSolveSeconds": (7, PACE),
    "namespaces[NAME].maxEvictions": (7, OTHERS),
    "failures.silentSeconds": (30, "says which nodes are dead; one that is makes another fabric"),
    "failures.wellSeconds": (7, "says when a node is well; one that is makes another fabric"),
    "failures.conditions": (["Bad"], "says which nodes are dead; one that is makes another fabric"),
    "failures.halfLifeHours": (7, WORTH),
    "repair.enabled": (False, OTHERS),
    "repair.policy": ("patch", OTHERS),
    "repair.placesSeconds": (7, "says for how long room is kept; that it is let go asks again"),
    "repair.placesLimitSeconds": (7, "says for how long room is kept; the same"),
    "repair.endLostPodsAtOnce": (True, OTHERS),
    "preemption.enabled": (False, OTHERS),
    "preemption.afterSeconds": (7, OTHERS),
    "preemption.windowSeconds": (7, OTHERS),
    "defragmentation.everySeconds": (7, OTHERS),
    "defragmentation.movesPerHour": (7, OTHERS),
    "defragmentation.perGangPerDay": (7, OTHERS),
    "defragmentation.minimumRuntimeSeconds": (7, OTHERS),
    "messages.otherNamespaces": ("named", WORDS),
    "ledger.format": (2, WORDS),
}
"""Field -> another value, and why no gang has a place for it that had none."""

PODS = "says which pods are gangs, and of how many"
LEAVES = "says which nodes stand together"
LAW = "is a law about places"
ROOM = "says what there is to give"

ASKED: dict[str, tuple[Any, str]] = {
    "schedulerNames": (["another"], PODS),
    "gpuResources": (["example.com/gpu"], ROOM),
    "strategies[NAME].onePerNode": (True, LAW),
    "strategies[NAME].topologyPolicy": ("Preferred", LAW),
    "defaultStrategies.gangs": ("balanced", "may bring another law about places"),
    "defaultStrategies.replicas": ("balanced", "may bring another law about places"),
    "defaultStrategies.others": ("consolidated", "may bring another law about places"),
    "topology.preset": ("gke", LEAVES),
    "topology.levels[].nodeLabel": ("example.com/leaf", LEAVES),
    "topology.adjacency.kind": ("ring", LAW),
    "topology.adjacency.edges": ([["a", "b"]], LAW),
    "topology.windowSlack": (1, LAW),
    "topology.unlabelled": ("refuse", ROOM),
    "topologyConstraints.maxNodesPerLeaf": (7, LAW),
    "topologyConstraints.maxGPUsPerLeaf": (7, LAW),
    "topologyConstraints.windowNodes": (7, LAW),
    "topologyConstraints.rules[].nodes": (4, LAW),
    "topologyConstraints.rules[].leaves": (4, LAW),
    "network.nodeBandwidth": ("100Gb", ROOM),
    "network.uplinkBandwidth": ("100Gb", ROOM),
    "network.uplinks": ({"a": "100Gb"}, ROOM),
    "network.requireStated": (True, LAW),
    "namespaces[NAME].gpuQuota": (7, LAW),
    "namespaces[NAME].domains": (["a"], LAW),
    "ownerKinds[].group": ("example.org", PODS),
    "ownerKinds[].versions": (["v2"], PODS),
    "ownerKinds[].kind": ("Runs", PODS),
    "ownerKinds[].resource": ("others", PODS),
    "ownerKinds[].nameLabel": ("example.com/name", PODS),
    "ownerKinds[].roleLabel": ("example.com/role", PODS),
    "ownerKinds[].entryLabel": ("example.com/entry", PODS),
    "ownerKinds[].leastMembers": ("spec.least", PODS),
    "ownerKinds[].suspend": ("spec.paused", PODS),
    "ownerKinds[].countsEnded": (False, PODS),
    "ownerKinds[].unsupported": (["spec.odd"], PODS),
    "ownerKinds[].podSets[].path": ("spec.sets.*", PODS),
    "ownerKinds[].podSets[].replicas": ("size", PODS),
    "ownerKinds[].podSets[].defaultReplicas": (7, PODS),
    "ownerKinds[].podSets[].template": ("pod", PODS),
    "ownerKinds[].podSets[].where": ({"spec.type": "a"}, PODS),
    "ownerKinds[].podSets[].unless": ({"spec.type": "a"}, PODS),
    "ownerKinds[].podSets[].role": ("worker", PODS),
    "backfill.enabled": (False, "says whether room is kept for others"),
    "backfill.afterSeconds": (7, "says when room is kept for others"),
    "devices.mode": ("count", ROOM),
    "devices.untold": ("hold", PODS),
    "devices.requireLimits": (True, ROOM),
    "devices.deviceClasses": (["gpu.example.com"], ROOM),
}
"""Field -> another value, and why a gang that had no place may have one now."""


def edited(path: str, value: Any) -> dict[str, Any]:
    """`BASE` with `value` in one field."""
    spec = deepcopy(BASE)
    here: Any = spec
    steps = re.findall(r"\w+|\[\]", path.replace("NAME", "name"))
    for step, following in pairwise(steps):
        fresh = [{}] if following == "[]" else {}
        here = here[0] if step == "[]" else here.setdefault(step, fresh)
    here[steps[-1]] = value
    if path == "topology.adjacency.edges":
        here["kind"] = "explicit"
    return spec


def without_place(snapshot: Snapshot) -> Plan:
    """A plan in which no gang has room."""
    full = Reason(ReasonKind.NO_FREE_CAPACITY)
    waiting = tuple(Waiting(one.key, full) for one in snapshot.gangs)
    return Plan(PlanStatus.OPTIMAL, (), waiting)


@pytest.mark.parametrize(
    ("path", "is_asked"),
    [*((path, False) for path in UNASKED), *((path, True) for path in ASKED)],
)
def test_an_edit_asks_again_where_it_may_give_a_place(path: str, is_asked: bool) -> None:
    """A gang without a place stands aside through edits that give nobody one, and no others."""
    value, _ = (ASKED if is_asked else UNASKED)[path]
    made = reader(node(), pod("p"))
    made.configure(SchedulerConfig.model_validate(config(**BASE)))
    aside = SetAside()
    before = made.reading(NOW).snapshot
    batch, _ = aside.without(before)
    assert len(batch.gangs) == 1
    aside.note(batch, without_place(batch))
    assert not aside.without(before)[0].gangs
    after = SchedulerConfig.model_validate(config(**edited(path, value)))
    assert after != before.config, "the edit is none"
    made.configure(after)
    asked = bool(aside.without(made.reading(NOW).snapshot)[0].gangs)
    if path == "schedulerNames":
        assert not are_judged_alike(before.config.spec, after.spec), "the pod is no longer ours"
    else:
        assert asked is is_asked


def test_an_answer_that_was_not_proven_is_asked_again_by_any_edit() -> None:
    """Set aside by a solver out of its time, a gang is looked at once more with more of it.

    Once, and then as all others: an edit after a proof asks no gang.
    """
    made = reader(node(), pod("p"))
    made.configure(SchedulerConfig.model_validate(config(**BASE)))
    aside = SetAside()
    for status, seconds, is_asked in [
        (PlanStatus.GREEDY, 7, True),
        (PlanStatus.OPTIMAL, 8, False),
    ]:
        batch, _ = aside.without(made.reading(NOW).snapshot)
        aside.note(batch, replace(without_place(batch), status=status))
        edit = edited("solver.timeLimitSeconds", seconds)
        made.configure(SchedulerConfig.model_validate(config(**edit)))
        assert bool(aside.without(made.reading(NOW).snapshot)[0].gangs) is is_asked


def test_a_later_proof_about_others_proves_no_earlier_answer() -> None:
    """One gang was set aside without proof, another with it: an edit has both looked at again."""
    made = reader(node(), pod("p"), pod("q"))
    made.configure(SchedulerConfig.model_validate(config(**BASE)))
    aside = SetAside()
    before = made.reading(NOW).snapshot
    first, second = without_place(before).waiting
    for waiting, status in ((first, PlanStatus.GREEDY), (second, PlanStatus.OPTIMAL)):
        batch, _ = aside.without(before)
        aside.note(batch, Plan(status, (), (waiting,)))
    assert not aside.without(before)[0].gangs
    made.configure(SchedulerConfig.model_validate(config(**edited("solver.timeLimitSeconds", 7))))
    assert len(aside.without(made.reading(NOW).snapshot)[0].gangs) == 2


def test_each_field_of_the_config_is_in_one_of_the_tables() -> None:
    """A field that is new has to be put into one; until then it asks again."""
    assert not UNASKED.keys() & ASKED.keys()
    assert UNASKED.keys() | ASKED.keys() == MEANINGS.keys()
    assert Spec.model_fields.keys() >= WITHOUT_VERDICT | WITHOUT_VERDICT_IN_PART.keys()
    assert NamespacePolicy.model_fields.keys() >= WITHOUT_VERDICT_IN_PART["namespaces"]
    assert StrategySettings.model_fields.keys() >= WITHOUT_VERDICT_IN_PART["strategies"]


def test_a_field_that_nobody_knows_yet_asks_again() -> None:
    """What is not listed decides, in sections that are listed in part as in others."""

    class NewPolicy(NamespacePolicy):
        new: int = 0

    class NewSpec(Spec):
        new: int = 0
        namespaces: dict[str, NewPolicy] = Field(default_factory=dict)

    plain = NewSpec(namespaces={"a": NewPolicy()})
    assert are_judged_alike(plain, NewSpec(namespaces={"a": NewPolicy(max_gangs=7)}))
    assert not are_judged_alike(plain, NewSpec(namespaces={"a": NewPolicy(new=7)}))
    assert not are_judged_alike(plain, NewSpec(namespaces={"a": NewPolicy()}, new=7))
