"""Safeguards in which the filters of kube-scheduler have judged clusters otherwise."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

VOLUMES = "tests/model/readers/pods/test_volumes.py"
LIMITS = "tests/model/readers/pods/test_storage_limits.py"
LIVE = "tests/model/readers/live/test_live_storage.py"
TAKEN = "tests/model/readers/pods/test_taken_room.py"
SLIM = "tests/k8s_bridge/cluster/test_slim_pods.py"
WANTS = "model/readers/pods/volumes.py"

JUDGED_BY_FILTERS = (
    Mutant(
        "claims that have lost their volume",
        "a gang holds its nodes for ten minutes at a time for a volume that is never made",
        WANTS,
        '    if _phase_of(claim.body) == "Lost":\n',
        "    if False:\n",
        f"{VOLUMES}::test_no_volume_is_made_for_a_claim_that_names_one[lost]",
    ),
    Mutant(
        "claims that name a volume and are not bound",
        "a gang is bound to nodes that do not reach the volume that its claim names",
        WANTS,
        "    if volume_of(claim.body):\n        what",
        "    if False:\n        what",
        f"{VOLUMES}::test_no_volume_is_made_for_a_claim_that_names_one[pending]",
    ),
    Mutant(
        "claims that name a volume, as they are bound",
        "a gang whose claim is bound late is told what it waited for before",
        "model/readers/live/storage_cache.py",
        "place = (VOLUME[1], volume) if volume else (STORAGE_CLASS[1], class_of(claim))",
        "place = (STORAGE_CLASS[1], class_of(claim))",
        f"{LIVE}::test_a_claim_that_names_its_volume_is_followed_until_it_is_bound",
    ),
    Mutant(
        "nodes that others have selected",
        "a volume that is made for the pod of another scheduler is told another node",
        WANTS,
        "_allowed_terms(found.on(Report()), selected_by_others(claim.body))",
        '_allowed_terms(found.on(Report()), "")',
        f"{VOLUMES}::test_a_node_that_another_scheduler_has_selected_for_a_claim",
    ),
    Mutant(
        "nodes that were selected for gangs of ours",
        "a gang whose members are made anew waits for the node that one of them had before",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "dict.fromkeys((SELECTED_NODE, SELECTED_BY_US), node)",
        "dict.fromkeys((SELECTED_NODE,), node)",
        "tests/k8s_bridge/scheduling/test_volumes.py::test_a_claim_follows_its_own_member",
    ),
    Mutant(
        "nodes that others select meanwhile",
        "two schedulers write their nodes over each other's, and no volume is made for either",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "            if other := selected_by_others(body):\n",
        '            if other := "":\n',
        "tests/k8s_bridge/scheduling/test_volumes.py"
        "::test_a_node_that_another_scheduler_has_selected",
    ),
    Mutant(
        "nodes that others have selected, when a gang goes back",
        "the volume of another scheduler's pod is given up for a gang that goes back",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "    return _selected(claim) == node and not selected_by_others(claim)\n",
        "    return _selected(claim) == node\n",
        "tests/k8s_bridge/scheduling/test_volumes.py::test_what_was_selected_for_another_stays",
    ),
    Mutant(
        "classes by annotation",
        "a gang is given nodes for a claim whose volume is made at once, and is not there",
        WANTS,
        "    name = _annotations_of(claim).get(_OLD_CLASS)\n    if name is None:\n        name =",
        "    if True:\n        name =",
        f"{VOLUMES}::test_the_class_that_an_annotation_names_comes_first",
    ),
    Mutant(
        "annotations of claims that change",
        "a node that another scheduler selects for a claim is heeded after the next restart",
        "model/readers/live/object_cache.py",
        "return (spec, *phase, ends, *told, *_some",
        "return (spec, *phase, ends, *_some",
        f"{LIVE}::test_annotations_of_a_claim_count_as_they_come",
    ),
    Mutant(
        "zones by the labels of old",
        "a pod waits for ever where its volume is, as the nodes there have the new label alone",
        WANTS,
        "    return told, (untold, Requirement(new, Operator.IN, values))\n",
        "    return (told,)\n",
        f"{VOLUMES}::test_an_old_zone_of_a_volume_counts_for_nodes_with_the_new_label",
    ),
    Mutant(
        "zones without a name",
        "a pod waits for ever for a node in a zone that has no name",
        WANTS,
        "    return zones if all(zones) else ()\n",
        "    return zones\n",
        f"{VOLUMES}::test_a_zone_that_is_none_ties_to_no_node",
    ),
    Mutant(
        "claims that a pod controls",
        "a pod is bound beside a claim of another, and its kubelet refuses to mount it",
        WANTS,
        'one.get("uid") == uid and one.get("controller") is True',
        'one.get("uid") == uid',
        f"{VOLUMES}::test_an_ephemeral_volume_is_the_pods_own",
    ),
    Mutant(
        "resizes of pods as a whole",
        "pods are bound to room that a pod holds until it is made smaller, and are refused there",
        "model/readers/objects/resizes.py",
        '    if spec.get("resources") and isinstance(',
        "    if False and isinstance(",
        f"{TAKEN}::test_a_resize_of_a_pod_as_a_whole",
    ),
    Mutant(
        "resizes of pods as a whole, in memory",
        "what a pod as a whole holds is dropped before anything has read it",
        "k8s_bridge/cluster/slim.py",
        '"allocatedResources" in status) and _is_settled(',
        '"allocatedResources" in status) or _is_settled(',
        f"{SLIM}::test_a_resize_of_a_pod_as_a_whole_is_kept",
    ),
    Mutant(
        "containers that wait with a resize that can never be",
        "a container counts as nothing, and its room is given away",
        "model/readers/objects/resizes.py",
        'if status is None or not isinstance(status.get("resources"), dict):',
        "if status is None:",
        f"{TAKEN}::test_a_resize_that_can_never_be_of_a_container_that_waits",
    ),
    Mutant(
        "disks that pods have attached",
        "pods that name their disks are bound where no more can be attached, and hang there",
        "model/readers/pods/attached_volumes.py",
        "            found[_MIGRATED[source], handle] = None\n",
        "            pass\n",
        f"{LIMITS}::test_a_disk_that_a_pod_itself_names_is_attached_too",
    ),
    Mutant(
        "disks that pods have attached, in memory",
        "disks of Azure are dropped before anything has counted them",
        "k8s_bridge/cluster/shapes.py",
        "    azureDisk: Any\n",
        "",
        f"{SLIM}::test_a_disk_of_the_pod_itself_that_is_attached_is_kept[azureDisk]",
    ),
    Mutant(
        "numbers of labels",
        "a pod is bound to a node of which its affinity does not hold for any other scheduler",
        "model/node_constraint.py",
        "    return number if -(2**63) <= number < 2**63 else None\n",
        "    return number\n",
        "tests/model/test_node_constraint.py::test_numbers_are_read_as_kube_scheduler_reads_them",
    ),
    Mutant(
        "numbers of labels that are looked up",
        "a plan puts a pod where its own affinity does not hold",
        "solver/instance/label_index.py",
        "read = ((number_in(value), value) for value in self._nodes)",
        "read = ((int(v) if v[0].isdigit() else None, v) for v in self._nodes)",
        "tests/solver/instance/test_label_index.py::test_numbers_are_compared_as_numbers",
    ),
    Mutant(
        "numbers of taints",
        "a pod is bound to a node whose taint it does not tolerate for any other scheduler",
        "model/node_constraint.py",
        "            if not (self.key and _PLAIN.fullmatch(self.value) "
        "and _PLAIN.fullmatch(taint.value)):\n",
        "            if not self.key:\n",
        f"{TAKEN}::test_taints_that_are_compared",
    ),
    Mutant(
        "labels that are merged once",
        "a pod is placed beside one that repels it, which has been labelled anew",
        "model/readers/pods/pod_terms.py",
        "if named in labels and not (is_merged and (named, operator) in said):",
        "if named in labels:",
        "tests/model/readers/gangs/test_near_others.py"
        "::test_what_a_pod_that_is_labelled_anew_minds_stays",
    ),
    Mutant(
        "ports of init containers",
        "a pod waits for a port that no container has any more",
        "model/readers/objects/amounts.py",
        'if kind == "initContainers" and container.get("restartPolicy") != "Always":',
        "if False:",
        "tests/model/readers/objects/test_amounts.py"
        "::test_the_port_of_an_init_container_is_free_again",
    ),
    Mutant(
        "spreads beside needed features",
        "pods crowd in one zone though another counts for their spread",
        "model/readers/gangs/spread_values.py",
        "counting &= index.selected(wants.constraint)",
        "counting &= index.selected(wants.constraint) & sum(\n"
        "                    1 << n\n"
        "                    for n, one in enumerate(self._nodes.values())\n"
        "                    if wants.constraint.features <= one.features\n"
        "                )",
        "tests/filters/test_tables.py::test_a_row"
        "[over zones of which one has no kubelet with a feature that the pod needs]",
    ),
)
