"""The safeguards around storage: room for volumes, and what nodes attach."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

VOLUMES = "tests/k8s_bridge/scheduling/test_volumes.py"
LIMITS = "tests/model/readers/pods/test_storage_limits.py"
LIVE = "tests/model/readers/live/test_live_storage.py"
REPORT = (
    "        for name in touched:\n            self._read_again(self._on(STORAGE_CLASS[1], name))\n"
)

READING = "tests/model/readers/pods/test_volumes.py"

STORAGE = (
    Mutant(
        "storage: disks that no driver attaches",
        "a pod is bound whose disk its node never attaches, where kube-scheduler binds none",
        "model/readers/objects/inline_disks.py",
        'if kind and kind != "Managed"',
        "if not kind",
        f"{READING}::test_a_disk_that_no_driver_attaches_is_refused_by_name",
    ),
    Mutant(
        "storage: drivers that do not report",
        "no pod is placed whose driver says nothing of its room",
        "model/readers/pods/volumes.py",
        'part_of(driver.body, "spec").get("storageCapacity") is True',
        "True",
        f"{LIMITS}::test_a_volume_is_made_where_there_is_room",
    ),
    Mutant(
        "storage: room by size",
        "a gang is sent to nodes whose driver has no room, and back, again and again",
        "model/readers/pods/storage_capacity.py",
        "number = len(sizes) - bisect_left(sizes, size)",
        "number = len(sizes)",
        f"{LIMITS}::test_a_volume_is_made_where_there_is_room",
    ),
    Mutant(
        "storage: room that is reported",
        "a gang waits for storage that has long been free",
        "model/readers/live/storage_cache.py",
        REPORT,
        "        for name in touched:\n            self._on(STORAGE_CLASS[1], name)\n",
        f"{LIVE}::test_a_pod_follows_the_room_for_its_volume",
    ),
    Mutant(
        "storage: reports read little",
        "each report of each driver has all gangs read again",
        "model/readers/live/storage_cache.py",
        REPORT,
        "        if touched:\n            self._pods.read_all_anew()\n",
        f"{LIVE}::test_room_that_is_reported_reads_the_gangs_that_wait_for_it_alone",
    ),
    Mutant(
        "storage: volumes are an amount",
        "members are bound to a node that cannot attach their volumes, and hang there",
        "model/readers/pods/attached_volumes.py",
        "((name, 1) for name in names if name in limited)",
        "()",
        "tests/solver/batch/test_attached_volumes.py"
        "::test_members_of_a_gang_are_split_by_what_a_node_attaches",
    ),
    Mutant(
        "storage: volumes of no pod",
        "what is attached to a node for pods that are gone counts as free",
        "model/readers/pods/attached_volumes.py",
        "        there = self._attached(node, objects)\n",
        "        there: set[AttachedVolume] = set()\n",
        f"{LIMITS}::test_a_node_attaches_so_many_volumes",
    ),
    Mutant(
        "storage: a limit that changes",
        "a node is given more volumes than its driver attaches since it was updated",
        "model/readers/live/fabric_cache.py",
        "        self._read_again(name)\n        return True\n\n    @property\n    def slices",
        "        return True\n\n    @property\n    def slices",
        f"{LIVE}::test_a_node_follows_what_it_can_attach_and_what_is_attached",
    ),
    Mutant(
        "ports that are taken",
        "two pods of one host port are placed on a node once a third pod is",
        "model/resources.py",
        "        left[name] = (unlisted(name) if known is None else known) - amount\n",
        "        left[name] = unlisted(name) - amount\n",
        "tests/model/test_resources.py::test_a_port_that_is_taken_stays_taken",
    ),
    Mutant(
        "what counts the first of its kind",
        "two gangs are planned at once of which the API's own scheduler would refuse either",
        "model/readers/gangs/mind_others.py",
        "if other.wants.spread or id(other) in firsts:",
        "if other.wants.spread:",
        "tests/model/readers/gangs/test_near_others.py"
        "::test_what_counts_the_first_of_its_kind_waits_for_it",
    ),
    Mutant(
        "a volume that came for another node",
        "a pod is bound where its volume cannot be reached, and holds its GPUs for ever",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        '            return self._is_reached(body["spec"]["volumeName"], member)\n',
        "            return True\n",
        f"{VOLUMES}::test_a_volume_that_came_for_another_node[True]",
    ),
    Mutant(
        "a volume that came between two leaders",
        "a new leader binds a pod where its volume cannot be reached",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "            self._is_reached(volume, member)\n",
        "            pass\n",
        f"{VOLUMES}::test_a_volume_that_came_for_another_node[False]",
    ),
    Mutant(
        "who stands repels namespaces by their labels",
        "a pod is placed beside one that repels it, as no other scheduler would",
        "model/readers/pods/node_constraints.py",
        'apart, no_apart = _pod_terms(manifest, affinity, "podAntiAffinity", widely=stands)',
        'apart, no_apart = _pod_terms(manifest, affinity, "podAntiAffinity")',
        "tests/filters/test_tables.py::test_a_row[who runs repels namespaces by label]",
    ),
    Mutant(
        "disks that pods name themselves",
        "two pods that write to one disk are placed on one node, where the second cannot mount it",
        "model/readers/objects/amounts.py",
        "own = _host_ports(manifest, spec) | inline_disks(spec)",
        "own = _host_ports(manifest, spec)",
        "tests/filters/test_tables.py::test_a_row[a disk that another pod writes to]",
    ),
    Mutant(
        "readers of a disk",
        "of two pods that read one disk the second waits for the first",
        "model/readers/objects/inline_disks.py",
        "1 if reads else WHOLE_DISK",
        "WHOLE_DISK",
        "tests/filters/test_tables.py::test_a_row[a disk that other pods read, to read it]",
    ),
    Mutant(
        "a node that another has selected",
        "a gang that goes back keeps another from its volume, for which its nodes idle",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "if not _selected(body) or _is_selected_by_us(body, member.node):",
        "if body:",
        f"{VOLUMES}::test_what_was_selected_for_another_stays",
    ),
)
