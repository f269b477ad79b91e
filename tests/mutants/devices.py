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
        "tests/model/readers/nodes/test_devices.py::test_one_device_on_two_nodes_holds_both_back",
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
