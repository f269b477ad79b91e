"""No tenant burns the solver's time for the others."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.k8s_bridge.scheduling.holds.hold_back import hold_back
from fourleaf.k8s_bridge.scheduling.holds.solver_time import FREE_SECONDS, SolveTime
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node_constraint import NodeConstraint, Toleration
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot


def gang(namespace: str, pods: int, *cpus: int, name: str = "g") -> Gang:
    """A gang of so many equal pods, or with `cpus` of a role for each of them."""
    members = tuple(f"p-{i}" for i in range(pods))
    roles = tuple(Role(members, Resources(gpus=1, cpu=cpu)) for cpu in cpus or (0,))
    return Gang(GangKey(namespace, name), roles)


def snapshot(most: float | None, *gangs: Gang, running: tuple[RunningPod, ...] = ()) -> Snapshot:
    """Gangs on nothing; each namespace may use `most` seconds a minute."""
    policy = {"maxSolveSeconds": most} if most is not None else {}
    spec = {"namespaces": {"*": policy}}
    return Snapshot(Fabric(()), running, gangs, SchedulerConfig.model_validate({"spec": spec}))


def test_seconds_are_shared_by_what_is_asked_for() -> None:
    """Twenty odd pods pay for a solve of 4 s beside 512 equal ones: 20 parts of 21."""
    time = SolveTime()
    odd = [gang("odd", 1, i + 1, name=f"g{i}") for i in range(20)]
    time.charge(0.0, snapshot(None, gang("equal", 512), *odd), 4.2 + FREE_SECONDS)
    spent = {name: round(seconds, 6) for name, seconds in time.spent(1.0).items()}
    assert spent == {"equal": 0.2, "odd": 4.0}


def test_equal_gangs_cost_as_one() -> None:
    """A hundred gangs that are alike are one part, as much as the two roles of another halved."""
    time = SolveTime()
    alike = [gang("alike", 2, name=f"g{i}") for i in range(100)]
    time.charge(0.0, snapshot(None, *alike, gang("two", 1, 1, 2)), 3.0 + FREE_SECONDS)
    assert time.spent(1.0) == {"alike": 1.0, "two": 2.0}


def test_conditions_cost_beside_roles() -> None:
    """One pod with 99 tolerations, and 100 that ask for nothing, each for other cores: halves."""
    time = SolveTime()
    plain = [gang("plain", 1, i + 1, name=f"g{i}") for i in range(100)]
    (role,) = gang("odd", 1, 1).roles
    wants = NodeConstraint(tolerations=tuple(Toleration(f"k{n}", "Exists") for n in range(99)))
    odd = Gang(GangKey("odd", "g"), (replace(role, constraint=wants),))
    time.charge(0.0, snapshot(None, odd, *plain), 2.0 + FREE_SECONDS)
    assert time.spent(1.0) == {"odd": 1.0, "plain": 1.0}


def test_a_short_solve_is_free() -> None:
    """A solve that keeps none waiting for long is charged to none."""
    time = SolveTime()
    time.charge(0.0, snapshot(None, gang("a", 1)), FREE_SECONDS)
    assert time.spent(1.0) == {}


def test_who_is_over_its_limit_waits_until_a_minute_has_passed() -> None:
    """The namespace above 2 s is held with its figures; the other is not; later neither is."""
    time = SolveTime()
    both = snapshot(2.0, gang("a", 1), gang("b", 1, 1, 2, 3))
    time.charge(0.0, both, 4.0 + FREE_SECONDS)
    limited = hold_back(both, [time.rule(10.0, both)])
    held = {one.key.namespace: one.hold for one in limited.gangs}
    assert held["a"] is None
    assert held["b"] is not None
    assert held["b"].kind == "NamespaceLimit"
    assert "3.0 s of the solver" in held["b"].detail
    assert not time.came_due(59.0)
    assert time.came_due(60.5)
    assert not time.came_due(60.5)
    assert time.rule(60.5, both) is None


def test_a_tenant_alone_is_never_held() -> None:
    """With no other namespace there is none to protect; a pod of another that runs is one."""
    time = SolveTime()
    alone = snapshot(2.0, gang("a", 1))
    time.charge(0.0, alone, 9.0)
    assert time.rule(1.0, alone) is None
    other = RunningPod("b", "p", "n", Resources(gpus=1), GangKey("b", "g"), ours=True)
    assert time.rule(1.0, snapshot(2.0, gang("a", 1), running=(other,))) is not None


def test_without_a_limit_nothing_is_held() -> None:
    """Where the config names no seconds, none are counted against a namespace."""
    time = SolveTime()
    two = snapshot(None, gang("a", 1), gang("b", 1))
    time.charge(0.0, two, 1000.0)
    assert hold_back(two, [time.rule(1.0, two)]) is two
