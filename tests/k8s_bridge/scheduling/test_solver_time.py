"""No tenant burns the solver's time for the others."""

from __future__ import annotations

from fourleaf.k8s_bridge.scheduling.holds.hold_back import hold_back
from fourleaf.k8s_bridge.scheduling.holds.solver_time import SolveTime
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot


def gang(namespace: str, pods: int) -> Gang:
    """A gang of so many pods."""
    names = tuple(f"p-{i}" for i in range(pods))
    return Gang(GangKey(namespace, "g"), (Role(names, Resources(gpus=1)),))


def snapshot(most: float | None, *gangs: Gang) -> Snapshot:
    """Gangs on nothing; each namespace may use `most` seconds a minute."""
    policy = {"maxSolveSeconds": most} if most is not None else {}
    spec = {"namespaces": {"*": policy}}
    return Snapshot(Fabric(()), (), gangs, SchedulerConfig.model_validate({"spec": spec}))


def test_seconds_are_shared_by_pods() -> None:
    """Of 4 s for a gang of 1 and one of 3 pods, the namespaces pay 1 s and 3 s."""
    time = SolveTime()
    time.charge(0.0, snapshot(None, gang("a", 1), gang("b", 3)), 4.0)
    assert time.spent(1.0) == {"a": 1.0, "b": 3.0}


def test_who_is_over_its_limit_waits_until_a_minute_has_passed() -> None:
    """The namespace above 2 s is held with its figures; the other is not; later neither is."""
    time = SolveTime()
    both = snapshot(2.0, gang("a", 1), gang("b", 3))
    time.charge(0.0, both, 4.0)
    limited = hold_back(both, [time.rule(10.0, both.config.spec)])
    held = {one.key.namespace: one.hold for one in limited.gangs}
    assert held["a"] is None
    assert held["b"] is not None
    assert held["b"].kind == "NamespaceLimit"
    assert "3.0 s of the solver" in held["b"].detail
    assert time.rule(60.5, both.config.spec) is None


def test_without_a_limit_nothing_is_held() -> None:
    """The default limits nobody."""
    time = SolveTime()
    one = snapshot(None, gang("a", 1))
    time.charge(0.0, one, 1000.0)
    assert hold_back(one, [time.rule(1.0, one.config.spec)]) is one
