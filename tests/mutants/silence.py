"""Safeguards of what silence says of nodes, how to take each out, and who notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

TESTS = "tests/k8s_bridge/node_health"
GENERAL = f"{TESTS}/test_general_silence.py"
END = f"{TESTS}/test_end_of_general_silence.py"
LOOK = f"{TESTS}/test_look.py"
KEPT = f"{TESTS}/test_failures_kept.py"
DELETED = f"{TESTS}/test_deleted_nodes.py"
SILENCES = "k8s_bridge/node_health/general_silence.py"
MONITOR = "k8s_bridge/node_health/monitor.py"
DELETED_NODES = "k8s_bridge/node_health/deleted_nodes.py"
SPREADING = "k8s_bridge/node_health/spreading_silence.py"
SPREADS = f"{TESTS}/test_spreading_silence.py"

SILENCE = (
    Mutant(
        "a silence that spreads",
        "the first nodes behind a network that comes apart switch by switch are taken for dead",
        MONITOR,
        " | self._undecided(signs, now)",
        "",
        f"{SPREADS}::test_a_cut_that_spreads_over_all_kills_none",
    ),
    Mutant(
        "a silence that spreads: hosts that answer",
        "a node without power is dead late, as kubelets of others are restarted",
        MONITOR,
        " and name not in self._probes.answering\n",
        "\n",
        f"{SPREADS}::test_kubelets_that_are_restarted_hold_up_no_death",
    ),
    Mutant(
        "a silence that spreads: nodes that are taken out",
        "a node without power is dead late, as a rack is switched off on purpose",
        MONITOR,
        "[name for name, one in signs.items() if one.there and not one.out_of_service]",
        "[name for name, one in signs.items() if one.there]",
        f"{SPREADS}::test_nodes_that_are_taken_out_hold_up_no_death",
    ),
    Mutant(
        "a silence that spreads: not for ever",
        "nodes that flap keep those that are dead from being found so",
        SPREADING,
        "now - self._began < SPREAD_LIMIT_SECONDS",
        "True",
        f"{SPREADS}::test_nodes_that_fall_silent_for_ever_are_dead_after_a_minute",
    ),
    Mutant(
        "a silence that spreads: who was silent before",
        "no node of a quarter that lost power is found dead for a minute",
        SPREADING,
        "now - since < SPREAD_SECONDS",
        "now - since < 1000",
        f"{SPREADS}::test_a_quarter_that_is_cut_off_at_once_is_dead_in_time",
    ),
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
        "k8s_bridge/node_health/general_silence.py",
        "general_silence(signs, answering, self.heard, ",
        "general_silence(signs, answering, known, ",
        f"{GENERAL}::test_a_leader_repairs_where_most_nodes_are_switched_off",
    ),
    Mutant(
        "nodes that are silent as most are take no gang",
        "gangs are bound to nodes that are perhaps off, and are not repaired there",
        MONITOR,
        "(name in silent or not one.usable)",
        "not one.usable",
        f"{GENERAL}::test_no_gang_is_bound_where_most_nodes_are_silent",
    ),
    Mutant(
        "one host that answers is not enough",
        "a leader that reaches its own host alone takes late nodes for dead",
        "k8s_bridge/node_health/probe.py",
        " or sum(asked) < HEARD_SHARE * len(asked)",
        "",
        f"{GENERAL}::test_one_host_that_answers_says_nothing_of_a_late_one",
    ),
    Mutant(
        "heartbeats read again after the probes",
        "nodes that were heard while many were probed die of what was known before",
        MONITOR,
        "        if suspects:\n",
        "        if not suspects:\n",
        f"{LOOK}::test_who_is_heard_while_it_is_probed_is_not_dead",
    ),
    Mutant(
        "who was not probed in this look",
        "a node that falls silent while others are probed dies without having been asked",
        MONITOR,
        "            answers |= dict.fromkeys(late - asked, True)\n",
        "            late - asked\n",
        f"{LOOK}::test_who_was_not_asked_is_not_dead",
    ),
    Mutant(
        "time to be heard after a silence of most nodes",
        "a network is mended, and the nodes that are heard last lose their gangs",
        SILENCES,
        "            elif now - one.ended > hold:\n",
        "            elif now:\n",
        f"{END}::test_kubelets_come_back_one_by_one",
    ),
    Mutant(
        "time to be heard from the end of a silence",
        "looks that last as long as that time leave no node any of it, and most nodes die",
        SILENCES,
        "                members[name] = _Silent(one.renewed, now)\n",
        "                del members[name]\n",
        f"{END}::test_who_is_not_heard_yet_has_some_time_when_others_are",
    ),
    Mutant(
        "that time is over",
        "a node that is dead since a silence of most is never repaired",
        SILENCES,
        "            elif now - one.ended > hold:\n",
        "            elif now < 0:\n",
        f"{END}::test_who_is_not_heard_yet_has_some_time_when_others_are",
    ),
    Mutant(
        "who was heard is judged as any other",
        "a node that dies after the network has been mended is found dead later",
        SILENCES,
        "            if not _is_renewed(signs.get(name, _NO_SIGNS), one.renewed)\n",
        "            if one\n",
        f"{END}::test_who_was_heard_is_judged_as_any_other",
    ),
    Mutant(
        "who is taken out counts as silent",
        "nodes that are deleted in a silence of most make all others dead",
        SILENCES,
        "judgements, now, members.keys())",
        "judgements, now)",
        f"{END}::test_three_of_ten_are_taken_out",
    ),
    Mutant(
        "who is taken out counts until the silence ends",
        "half of the nodes that are left die a day later, and are not repaired",
        SILENCES,
        "        self._members = members if self.exempt else {}\n",
        "        self._members = members\n",
        f"{END}::test_it_is_over_once_all_were_taken_out",
    ),
    Mutant(
        "only a heartbeat is one",
        "a silence of most nodes is over because the API server answers no one",
        SILENCES,
        "one.renewed != before if one.renewed else not is_suspect(one)",
        "not is_suspect(one)",
        f"{END}::test_where_nobody_is_heard_nobody_is_heard_again",
    ),
    Mutant(
        "hosts that answer were heard",
        "nodes whose hosts answered alone are counted among those that were always off",
        SILENCES,
        "(self.heard & known) | answering | well",
        "(self.heard & known) | well",
        f"{END}::test_a_host_that_answered_is_one_that_was_heard",
    ),
    Mutant(
        "hosts that are probed beside a suspect stand apart",
        "a rack that is cut off from the leader hides the deaths of its nodes",
        "k8s_bridge/node_health/probe.py",
        "names[i * len(names) // count]",
        "names[i]",
        f"{TESTS}/test_probe.py::test_hosts_that_are_probed_beside_a_suspect_stand_apart",
    ),
    Mutant(
        "loads beside the judging",
        "no node is found dead until the API answers about a Lease of statistics",
        MONITOR,
        "        while True:\n            await self.look()\n",
        "        await self.kept.load()\n        while True:\n            await self.look()\n",
        f"{KEPT}::test_a_record_that_hangs_when_it_is_read_makes_no_death_late",
    ),
    Mutant(
        "failures are loaded before they are saved",
        "a bad moment of the API has it forgotten which nodes fail often",
        MONITOR,
        'self.kept.load(float("inf"))',
        "self.kept.load()",
        f"{KEPT}::test_what_could_not_be_read_for_a_while_is_not_written_over",
    ),
    Mutant(
        "failures since the lead changed",
        "what has failed before the record was loaded is forgotten",
        "k8s_bridge/node_health/failure_rates.py",
        "kept + self._left(scores, one, now)",
        "kept",
        f"{TESTS}/test_failure_rates.py::test_what_is_read_is_added_to_what_failed_since",
    ),
    Mutant(
        "a node that is gone is asked for by one request",
        "each look asks once more about a node of which the API does not speak",
        DELETED_NODES,
        "sorted(gone - self.confirmed - self._asked)",
        "sorted(gone - self.confirmed)",
        f"{DELETED}::test_reads_that_hang_make_no_other_death_late",
    ),
    Mutant(
        "waits between reads of a node that is gone",
        "an API server that is ill is asked once a second about each node that is gone",
        DELETED_NODES,
        "                    await backoff.wait(error.retry_after)\n",
        "                    await self.clock.sleep(1.0)\n",
        f"{DELETED}::test_errors_make_it_ask_less_and_less",
    ),
    Mutant(
        "a node that is there after all",
        "each second asks for a node that the cache lacks and the API server has",
        DELETED_NODES,
        "                    if name in self._gone_since:\n",
        "                    if False:\n",
        f"{DELETED}::test_one_that_is_there_after_all_is_asked_for_once_in_forty_seconds",
    ),
    Mutant(
        "an old answer about a node that was back",
        "a node that is registered anew is deleted by an answer from before",
        DELETED_NODES,
        "                    if self._gone_since.get(name) == since:\n",
        "                    if True:\n",
        f"{DELETED}::test_who_was_back_meanwhile_is_not_deleted_by_an_old_answer",
    ),
)
