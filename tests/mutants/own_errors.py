"""Safeguards against errors of our own that would be taken for another's."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PROBE = "tests/k8s_bridge/node_health/test_probe.py"

OWN_ERRORS = (
    Mutant(
        "probes while the event loop stood still",
        "a scheduler that stood still for a few looks takes living hosts for silent ones",
        "k8s_bridge/node_health/probe.py",
        "            return None if late and error.errno is None else False\n",
        "            return False\n",
        f"{PROBE}::test_a_host_was_not_asked_where_this_process_stood_still",
    ),
    Mutant(
        "answers that were looked at late",
        "a host that answered at once counts as silent, as its answer was looked at late",
        "k8s_bridge/node_health/probe.py",
        "            for seconds in (self.timeout_seconds, LATE_ANSWER_SECONDS):\n",
        "            for seconds in (self.timeout_seconds,):\n",
        f"{PROBE}::test_an_answer_that_came_while_this_process_stood_still_counts",
    ),
    Mutant(
        "fields for which a pod is refused",
        "a pod is refused, and its reason does not say for which of its fields",
        "model/readers/gangs/mind_others.py",
        "{term.field} keeps all members of one gang on one {term.key}",
        "it keeps all members of one gang on one {term.key}",
        "tests/filters/test_same_filters.py::test_a_pod_may_go_where_the_filters_let_it[0]",
    ),
    Mutant(
        "zones of older volumes",
        "a pod is bound to a node on which the driver of its volume does not run",
        "model/readers/pods/volumes.py",
        "        terms = _as_of_driver(driver, terms, labels)\n",
        "        pass\n",
        "tests/model/readers/pods/test_volumes.py"
        "::test_the_zone_of_an_older_volume_is_that_of_its_driver",
    ),
)
