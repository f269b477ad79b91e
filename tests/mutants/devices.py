"""The safeguards around devices, how to take each out, and the test that notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

TESTS = "tests/k8s_bridge/scheduling/test_devices.py"

DEVICES = (
    Mutant(
        "devices: what pages hold is not free",
        "a device that a commit on its way holds is given to another pod",
        "k8s_bridge/ledger/free_devices.py",
        "free[node] = free_devices(there.allocatable).without(sorted(held))",
        "free[node] = free_devices(there.allocatable)",
        f"{TESTS}::test_a_claim_is_met_and_says_by_whom",
    ),
    Mutant(
        "devices: two nodes with one device",
        "a device that two inventories name is given out on both nodes",
        "model/readers/nodes/fabric.py",
        "doubt_twins((one.node.name, one.devices) for one in nodes)",
        "doubt_twins(())",
        "tests/model/readers/nodes/test_devices.py::test_a_device_belongs_to_the_node_that_was_there_first",
    ),
    Mutant(
        "devices: one agent names devices of many nodes",
        "the nodes that joined after its own are held back for it",
        "model/readers/nodes/node_status.py",
        "shared = Counter(name for names in disputed.values() for name in names)",
        "shared = Counter({name for names in disputed.values() for name in names})",
        "tests/model/readers/nodes/test_devices.py::test_one_agent_takes_no_other_nodes_out",
    ),
    Mutant(
        "devices: pods that were not told",
        "a pod is bound with some devices of a node and sees all of them",
        "model/readers/gangs/holds.py",
        "if pod.untold and pod.request.gpus:",
        "if pod.untold and not pod.request:",
        f"{TESTS}::test_a_pod_that_was_not_told_is_bound_when_it_is_created_again",
    ),
    Mutant(
        "devices: GPUs by annotation alone",
        "a tenant gets GPUs that the quota of its namespace does not count",
        "model/readers/pods/limited_gpus.py",
        "if not devices.require_limits or pod.request.gpus or pod.node or devices.mode",
        "if not devices.require_limits or pod.request.gpus or pod.name or devices.mode",
        "tests/model/readers/pods/test_limited_gpus.py::test_an_annotation_alone",
    ),
    Mutant(
        "devices: unknown holders",
        "a pod with demands gets devices that somebody holds of whom nobody knows which",
        "model/snapshot.py",
        "return FreeDevices(free.layout, 0)",
        "return free.without(held)",
        "tests/model/readers/nodes/test_devices.py::test_unknown_holders_leave_no_device_certain",
    ),
)
