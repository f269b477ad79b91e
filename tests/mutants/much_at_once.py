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
        "        urgent = found & self.urgent\n",
        "        urgent: set[Identity] = set()\n",
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
        "known = not any(self._is_good(node, *asked) for node in self._nodes)",
        "known = not all(self._is_good(node, *asked) for node in self._nodes)",
        f"{NOWHERE_TESTS}::test_who_fits_on_one_node_alone_goes_ahead",
    ),
    Mutant(
        "looks for gangs that fit nowhere have an end",
        "thousands of such pods and nodes hold up the event loop",
        NOWHERE,
        "            if self._left <= 0:\n",
        "            if self._left <= -(10**9):\n",
        f"{NOWHERE_TESTS}::test_looks_have_an_end",
    ),
)
