"""Safeguards of fabrics whose nodes do not all name a leaf."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

READ = "tests/model/readers/nodes/test_fabric.py"
TOLD = "tests/k8s_bridge/reporting/test_fabric_doubts.py"
WHO = "tests/model/readers/nodes/test_devices.py"
DISCOVERED = "tests/model/readers/topology/test_discovered_fabric.py"
SEEN = "tests/agent/discovery/test_discover.py"
TOO_LARGE = "tests/solver/explain/test_too_large.py"

FABRIC = (
    Mutant(
        "rails by a majority of nodes",
        "one node that sees two switches, or says so, makes one leaf of them",
        "model/readers/topology/rails.py",
        "if 2 * shared > on[most]:",
        "if shared:",
        f"{DISCOVERED}::test_one_lie_moves_no_other_node",
    ),
    Mutant(
        "names of switches by a majority of nodes",
        "one agent renames the leaf of all others",
        "model/readers/topology/places.py",
        "alone = own == max(rivals) and rivals.count(own) == 1",
        "alone = len(rivals) == 1",
        f"{DISCOVERED}::test_one_lie_moves_no_other_node",
    ),
    Mutant(
        "what was found of an earlier node",
        "a new machine stands where one of its name stood",
        "model/readers/topology/found.py",
        "if devices.node_uid and node_uid and devices.node_uid != node_uid:",
        "if not devices:",
        f"{DISCOVERED}::test_what_speaks_of_an_earlier_node_says_nothing",
    ),
    Mutant(
        "most nodes are discovered before any leaf is",
        "the first agents of a rollout split a flat fabric",
        "model/readers/topology/standing.py",
        "if 2 * len(spotted.places) <= len(with_gpus):",
        "if not spotted.places:",
        f"{DISCOVERED}::test_half_of_the_nodes_is_too_few",
    ),
    Mutant(
        "a silent switch is remembered",
        "nodes lose their leaf while its switch starts anew",
        "agent/discovery/discover.py",
        "if before.empty or self._now() - at >= KEPT_SECONDS:",
        "if before is not seen:",
        f"{SEEN}::test_what_was_seen_lately_counts_while_a_source_is_silent",
    ),
    Mutant(
        "nodes of which none names a leaf share one",
        "a cluster as it comes has a spine for every node, and no pair finds a place",
        "model/readers/nodes/fabric.py",
        "standing = [(one, _ONLY) for one in apart] if flat else standing",
        "standing = list(standing)",
        f"{READ}::test_nodes_of_which_none_names_a_leaf_are_one",
    ),
    Mutant(
        "no cap of a leaf on a flat fabric",
        "a gang larger than a leaf may be never starts where no leaf is known",
        "model/topology.py",
        "    if not fabric.flat:\n        return caps\n",
        "    if fabric.leaves:\n        return caps\n",
        f"{TOO_LARGE}::test_no_cap_of_a_leaf_holds_where_no_node_names_one",
    ),
    Mutant(
        "a flat fabric by the validator",
        "legal plans of flat fabrics are discarded",
        "model/validator/facts.py",
        "self._flat = fabric.flat",
        "self._flat = False",
        "tests/model/test_validator.py::test_legal_plans_pass[flat]",
    ),
    Mutant(
        "pools of a cloud count last",
        "a fabric of which most nodes name their switch is planned by pools",
        "model/topology.py",
        "n and name not in COARSE_PRESETS",
        "n",
        "tests/model/test_topology.py::test_pools_of_a_cloud_are_leaves_where_no_switch_is_named",
    ),
    Mutant(
        "an unlabelled fabric is told",
        "nobody learns that no rule of leaves holds",
        "k8s_bridge/reporting/events/fabric_doubts.py",
        "        if field not in before\n",
        "        if field in before\n",
        f"{TOLD}::test_a_flat_fabric_is_told_once_on_the_config",
    ),
    Mutant(
        "no GPU by resource where no device plugin announces it",
        "the kubelet refuses the pod, which comes anew and is refused again",
        "model/readers/nodes/nodes.py",
        "return len(sources) > 1 or bool(sources & {OF_INVENTORY, OF_DEVICE_MAPS})",
        "return len(sources) > 1",
        "tests/k8s_bridge/scheduling/test_any_cluster.py"
        "::test_a_map_is_enough_where_nothing_announces_gpus",
    ),
    Mutant(
        "a claim is not met on the word of a device map",
        "a pod is told devices that another user made up",
        "model/readers/pods/pods.py",
        "elif mixed and self.request.gpus and not self.pinned:",
        "elif mixed and self.request.gpus and self.pinned:",
        f"{WHO}::test_who_may_go_where_no_device_plugin_announces_gpus",
    ),
    Mutant(
        "0 that a device plugin announces is no silence",
        "pods are given devices while their plugin takes them away",
        "model/readers/nodes/nodes.py",
        "any(name in offered for name in spec.gpu_resources)",
        "any(offered.get(name) for name in spec.gpu_resources)",
        f"{WHO}::test_an_inventory_is_believed_where_no_device_plugin_announces_anything",
    ),
    Mutant(
        "pages for nodes that maps name",
        "the pod of a map waits until the next audit of all pages",
        "k8s_bridge/cache/cluster_cache.py",
        "if reading.snapshot.fabric is not self._fabric:",
        "if self._fabric is None:",
        "tests/k8s_bridge/scheduling/test_any_cluster.py"
        "::test_an_inventory_is_enough_where_nothing_announces_gpus",
    ),
    Mutant(
        "a config with an unknown preset is refused",
        "a slip of the pen makes the fabric flat",
        "model/config/spec.py",
        "if preset is not None and preset not in PRESETS:",
        "if preset is None and preset not in PRESETS:",
        "tests/model/test_topology.py::test_unknown_preset_lists_the_known",
    ),
    Mutant(
        "a switch that one node sees joins no leaves",
        "an agent with a stolen token makes all leaves one, and gangs lose their locality",
        "model/readers/topology/rails.py",
        "        if len(roots) == 1:\n            unions.join(own, *roots)\n",
        "        for root in roots:\n            unions.join(own, root)\n",
        f"{DISCOVERED}::test_a_switch_that_one_node_sees_joins_no_leaves",
    ),
    Mutant(
        "one node renames no leaf",
        "an agent with a stolen token has leaves of others called anew, and preferences miss them",
        "model/readers/topology/places.py",
        "if (leaves[one.leaf, one] > 1 or one.leaf not in shared[0])",
        "if (True or one.leaf not in shared[0])",
        f"{DISCOVERED}::test_one_lie_renames_no_leaf",
    ),
)
