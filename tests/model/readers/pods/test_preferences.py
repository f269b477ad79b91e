"""What pods prefer, as read from their specs."""

from __future__ import annotations

from fourleaf.model.node_constraint import Operator, Preference, Requirement
from tests.model.readers.gangs.made import only
from tests.model.readers.made import Body, node, pod, reading

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def ssd(weight: int = 30) -> Body:
    """A preference for nodes with a label disk of ssd or nvme."""
    expression = {"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}
    return {"weight": weight, "preference": {"matchExpressions": [expression]}}


def preferring(*terms: Body, name: str = "p", **fields: object) -> Body:
    """A pod with preferred node affinity."""
    return pod(name, affinity={"nodeAffinity": {PREFERRED: list(terms)}}, **fields)


def test_preferred_node_affinity_is_kept_with_its_weight() -> None:
    """Labels and metadata.name both count; a preference that asks for nothing does not."""
    named = {"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}
    other = {"weight": 7, "preference": {"matchFields": [named]}}
    gang = only(node(), preferring(ssd(), other, {"weight": 100, "preference": {}}))
    assert gang.roles[0].preferences == (
        Preference(30, (Requirement("disk", Operator.IN, ("ssd", "nvme")),)),
        Preference(7, (Requirement("metadata.name", Operator.NOT_IN, ("n1",), True),)),
    )


def test_the_first_sixteen_preferences_count() -> None:
    """Of seventeen, the last is left out, and the pod's author is told."""
    found = reading(node(), preferring(*(ssd(weight) for weight in range(1, 18))), strict=False)
    (gang,) = found.snapshot.gangs
    assert [one.weight for one in gang.roles[0].preferences] == list(range(1, 17))
    assert any("more than 16" in str(problem) for problem in found.problems)


def test_a_term_with_a_namespace_selector_counts_for_nothing() -> None:
    """Labels of namespaces are not read; the field is named."""
    term = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "a"}},
        "namespaceSelector": {"matchLabels": {"team": "x"}},
    }
    weighted = {"weight": 1, "podAffinityTerm": term}
    found = reading(node(), pod(affinity={"podAffinity": {PREFERRED: [weighted]}}), strict=False)
    (gang,) = found.snapshot.gangs
    assert gang.hold is None
    assert not gang.roles[0].preferences
    (problem,) = found.problems
    assert "namespaceSelector" in str(problem)
    assert "counts for nothing" in str(problem)


def test_members_that_prefer_other_nodes_have_a_role_each() -> None:
    """Two of one gang: one would have a disk, the other not."""
    size = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    gang = only(node(), preferring(ssd(), name="a", annotations=size), pod("b", annotations=size))
    assert [(role.pods, len(role.preferences)) for role in gang.roles] == [(("a",), 1), (("b",), 0)]


def test_a_gang_of_many_preferences_has_none() -> None:
    """Five members that differ in nothing else stay one role; four that differ are four roles."""
    for members, roles in ((4, 4), (5, 1)):
        size = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": str(members)}
        pods = [
            preferring(ssd(i + 1), name=f"p-{i}", gpus=1, annotations=size) for i in range(members)
        ]
        found = reading(node(), *pods, strict=False)
        (gang,) = found.snapshot.gangs
        assert gang.hold is None
        assert len(gang.roles) == roles
        assert [bool(role.preferences) for role in gang.roles] == [roles == 4] * roles
        told = [str(one) for one in found.problems if "4 sets of preferences" in str(one)]
        assert len(told) == (roles == 1)


def test_a_namespace_has_so_many_preferences() -> None:
    """Of nine gangs with as many sets, the one of the lowest priority goes without; others keep it.

    A tenth that shares its set with another one keeps it, and so does one of another namespace.
    """
    pods = [preferring(ssd(i + 1), name=f"p-{i}", priority=10 - i) for i in range(9)]
    pods.append(preferring(ssd(1), name="shares", priority=-5))
    pods.append(preferring(ssd(50), name="elsewhere", namespace="other"))
    found = reading(node(), *pods, strict=False)
    without = {gang.key.name for gang in found.snapshot.gangs if not gang.roles[0].preferences}
    assert without == {"p-8"}
    (problem,) = found.problems
    assert "more than 8 sets of preferences of waiting gangs in namespace ml" in str(problem)
