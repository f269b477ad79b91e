"""Safeguards of what silence says of nodes, how to take each out, and who notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

GENERAL = "tests/k8s_bridge/node_health/test_general_silence.py"

SILENCE = (
    Mutant(
        "a silence of most nodes",
        "a network that comes apart has the gangs of all nodes but one restarted",
        "k8s_bridge/node_health/judge.py",
        "    if cause in _BY_SILENCE and signs.general and not before.dead:\n",
        "    if cause in _BY_SILENCE and signs.general and before is None:\n",
        f"{GENERAL}::test_one_node_that_is_left_makes_no_other_dead",
    ),
    Mutant(
        "a silence of most nodes: of those that were heard",
        "where most nodes are switched off, no gang is repaired after the leader has changed",
        "k8s_bridge/node_health/monitor.py",
        "general_silence(signs, answering, self._heard, ",
        "general_silence(signs, answering, signs.keys(), ",
        f"{GENERAL}::test_a_leader_repairs_where_most_nodes_are_switched_off",
    ),
    Mutant(
        "one host that answers is not enough",
        "a leader that reaches its own host alone takes late nodes for dead",
        "k8s_bridge/node_health/probe.py",
        " or sum(asked) < HEARD_SHARE * len(asked)",
        "",
        f"{GENERAL}::test_one_host_that_answers_says_nothing_of_a_late_one",
    ),
)
