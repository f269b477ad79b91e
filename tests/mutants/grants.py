"""The safeguards around what bound pods hold, how to take each out, and the test that notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

SETTLED = "tests/model/readers/pods/test_settled.py"

GRANTS = (
    Mutant(
        "grants: a bound pod holds what it was given",
        "a running pod gives devices back, or takes a million, by an annotation of its own",
        "model/readers/gangs/read_gang.py",
        "    for pod in members:\n        pod.hold()\n",
        "",
        f"{SETTLED}::test_a_terminating_pod_holds_its_devices",
    ),
    Mutant(
        "grants: what was given counts",
        "a pod that was given eight GPUs by its annotation counts as what it says now",
        "model/readers/pods/settled.py",
        "        pod.settled = max(asked.gpus, granted)",
        "        pod.settled = None",
        "tests/k8s_bridge/test_grants.py::test_eight_stay_eight",
    ),
    Mutant(
        "priority: that of the pods",
        "a PodGroup lends its pods a priority that no quota has granted",
        "model/readers/gangs/drafts.py",
        "priority=min(first.priority, need.most_priority),",
        "priority=need.most_priority if need.priority is not None else first.priority,",
        "tests/model/readers/gangs/test_wishes.py::"
        "test_a_group_lowers_the_priority_of_its_pods_and_never_raises_it",
    ),
    Mutant(
        "grants: the uplink too",
        "a running pod fills an uplink by an annotation of its own",
        "model/readers/pods/pods.py",
        "return self.wishes.bandwidth if self.grant is None else self.grant.bandwidth",
        "return self.wishes.bandwidth",
        f"{SETTLED}::test_bandwidth_is_settled_too",
    ),
    Mutant(
        "grants: the validator counts what is held",
        "a plan goes through for a node of which fewer GPUs count as used than are held",
        "model/validator/devices.py",
        "    if held > used:",
        "    if False:",
        "tests/model/test_validator.py::test_breaks_exactly_its_law[device held and not counted]",
    ),
)
