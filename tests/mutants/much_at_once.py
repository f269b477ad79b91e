"""Safeguards of much that comes at once, and of nodes that answer no binding."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PODS = "model/readers/live/pod_cache.py"
BACKLOG = "model/readers/live/backlog.py"
TESTS = "tests/model/readers/live/test_backlog.py"
NOWHERE = "model/readers/gangs/fit_nowhere.py"
NOWHERE_TESTS = "tests/model/readers/gangs/test_fit_nowhere.py"
SILENT = "k8s_bridge/scheduling/silent_nodes.py"
SILENT_TESTS = "tests/k8s_bridge/scheduling/test_silent_nodes.py"

MUCH_AT_ONCE = (
    Mutant(
        "pods that run are read whatever else there is",
        "a node is planned as free while thousands of pods are read",
        PODS,
        "        urgent = self._urgent_pods & self._stale\n",
        "        urgent: set[Address] = set()\n",
        f"{TESTS}::test_pods_that_run_are_read_at_once",
    ),
    Mutant(
        "gangs of pods that run are read whatever else there is",
        "a node is planned as free while thousands of gangs are read",
        PODS,
        "one in self.urgent or one not in self._members}",
        "one not in self._members}",
        f"{TESTS}::test_pods_that_run_are_read_at_once",
    ),
    Mutant(
        "namespaces are read in turn",
        "one tenant's thousands of pods come before the gang of another",
        BACKLOG,
        "            items = self._left.pop(namespace)\n",
        "            namespace = next(iter(self._left))\n"
        "            items = {**self._left.pop(namespace)}\n"
        "            self._left = {namespace: items, **self._left} if items else self._left\n",
        f"{TESTS}::test_namespaces_take_turns",
    ),
    Mutant(
        "pods that were left and have gone",
        "a pod that is deleted while others are read ends the term",
        PODS,
        "        self._left_pods.discard(at)\n        self._urgent_pods.discard(at)\n",
        "        self._urgent_pods.discard(at)\n",
        f"{TESTS}::test_a_pod_that_goes_meanwhile_is_read_no_more",
    ),
    Mutant(
        "the same object of a list",
        "a new leader reads a hundred thousand pods again, and loses its lead meanwhile",
        "k8s_bridge/cache/cluster_cache.py",
        "before if (before := known.get(key)) and _are_one(before, body) else body\n",
        "body\n",
        "tests/k8s_bridge/cache/test_cluster_cache.py::test_a_list_of_what_is_known_is_not_read",
    ),
    Mutant(
        "a gang goes elsewhere where bindings get no answer",
        "it is planned for the same silent node for ever, while others are free",
        "k8s_bridge/wiring.py",
        "            self.silent_nodes.note(commit.gang, nodes)\n",
        "",
        f"{SILENT_TESTS}::test_its_gang_goes_elsewhere",
    ),
    Mutant(
        "a gang without another place",
        "it waits half an hour for other nodes, and says that none matches",
        "k8s_bridge/scheduling/cycle.py",
        "        if again is not None:\n",
        "        if False:\n",
        f"{SILENT_TESTS}::test_it_waits_for_the_node_where_there_is_no_other",
    ),
    Mutant(
        "how many silent nodes are remembered",
        "a webhook that answers nothing fills the memory of the scheduler",
        SILENT,
        "        while len(self._until) > MOST_GANGS:\n",
        "        while False:\n",
        f"{SILENT_TESTS}::test_few_are_remembered_for_a_while",
    ),
    Mutant(
        "who fits on no node has no turn",
        "a thousand pods that can never start keep each other and others waiting",
        "model/readers/gangs/mind_others.py",
        "        if budget.refuses(draft) or turns.have_none_for(draft):\n",
        "        if budget.refuses(draft):\n",
        f"{NOWHERE_TESTS}::test_none_waits_for_a_pod_that_fits_on_no_node",
    ),
    Mutant(
        "who fits on one node has a turn",
        "two pods that repel each other are planned at once, and both come to one node",
        NOWHERE,
        "fits(node.allocatable, request) > 0:\n                return False\n",
        "fits(node.allocatable, request) > 0:\n                return True\n",
        f"{NOWHERE_TESTS}::test_who_fits_on_one_node_alone_goes_ahead",
    ),
    Mutant(
        "looks for gangs that fit nowhere have an end",
        "thousands of such pods and nodes hold up the event loop",
        NOWHERE,
        "            if self._left < cost:\n",
        "            if self._left < -(10**9):\n",
        f"{NOWHERE_TESTS}::test_looks_have_an_end",
    ),
    Mutant(
        "the values of a constraint count in looks for gangs that fit nowhere",
        "sixty pods of 15,000 values each hold up the event loop until the lead is lost",
        NOWHERE,
        "    terms = (1 + len(one.values) for term in constraint.affinity for one in term)\n",
        "    terms = (1 for term in constraint.affinity for _ in term)\n",
        f"{NOWHERE_TESTS}::test_a_look_counts_as_many_comparisons_as_it_may_take",
    ),
    Mutant(
        "what is known of gangs that fit nowhere has an end",
        "constraints of pods that are gone fill the memory of the leader",
        NOWHERE,
        "self._fabric or self._kept > MOST_KEPT:",
        "self._fabric:",
        f"{NOWHERE_TESTS}::test_what_is_known_has_an_end",
    ),
    Mutant(
        "both gangs of a running pod are read at once",
        "a pod that is given to another gang is forgotten, and its GPUs are given away",
        PODS,
        "                is_urgent = is_urgent or bool(pod.node)\n",
        "",
        f"{TESTS}::test_a_running_pod_that_changes_its_gang_is_always_there",
    ),
    Mutant(
        "a running pod is one of the gang that it was read in last",
        "a pod that is given to another gang is forgotten, and its GPUs are given away",
        "model/readers/live/gang_cache.py",
        "            if self._gang_of.get(at) not in gangs:\n",
        "            if at not in self._gang_of:\n",
        "tests/model/readers/live/test_gang_cache.py"
        "::test_a_pod_that_was_read_in_another_gang_stays",
    ),
    Mutant(
        "what was planned is read before it is bound",
        "a pod that was made anew for eight GPUs is bound where one is free",
        "k8s_bridge/scheduling/revalidate.py",
        "    now = cache.reading_with(planned).snapshot\n",
        "    now = cache.reading_with([] and planned).snapshot\n",
        "tests/k8s_bridge/scheduling/test_read_later.py::test_who_is_another_now_is_not_bound",
    ),
    Mutant(
        "gangs that are gone are read at once",
        "pods that were deleted take room in plans",
        PODS,
        "if one in self.urgent or one not in self._members}",
        "if one in self.urgent}",
        f"{TESTS}::test_gangs_that_are_gone_are_planned_no_more",
    ),
    Mutant(
        "a version is of what was read",
        "what is bound is another pod than the one that was planned",
        PODS,
        " and at not in self._stale and at not in self._left_pods:",
        ":",
        f"{TESTS}::test_a_version_is_told_of_what_was_read_alone",
    ),
    Mutant(
        "gangs whose turn it is not stay kept off silent nodes",
        "a gang jumps the queue, and goes to the node again that answers no binding",
        SILENT,
        "for one in plan.waiting if one.reason.kind in NO_PLACE}",
        "for one in plan.waiting}",
        f"{SILENT_TESTS}::test_only_who_has_no_place_elsewhere_is_planned_for_them_again",
    ),
    Mutant(
        "silent nodes are planned beside what the plan has placed",
        "two gangs are planned on one node",
        SILENT,
        "running=(*snapshot.running, *placed(snapshot, plan)), gangs=again",
        "running=snapshot.running if placed(snapshot, plan) else (), gangs=again",
        f"{SILENT_TESTS}::test_it_takes_no_room_of_who_is_placed_beside_it",
    ),
    Mutant(
        "a term without conditions is met by no node",
        "a pod that fits on no node is bound to one",
        SILENT,
        "        terms = tuple((*term, off) if term else () for term in one.affinity)\n",
        "        terms = tuple((*term, off) for term in one.affinity)\n",
        f"{SILENT_TESTS}::test_a_term_that_no_node_meets_stays_one",
    ),
    Mutant(
        "conditions on nodes are counted before they are decoded",
        "a thousand pods of 1,300 conditions hold up the event loop until the lead is lost",
        "model/readers/pods/node_constraints.py",
        "or too_many_conditions(spec)",
        "or too_many_conditions({})",
        "tests/model/readers/pods/test_named_objects.py"
        "::test_a_pod_that_names_too_much_is_held_by_name",
    ),
)
