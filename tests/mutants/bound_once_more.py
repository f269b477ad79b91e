"""Safeguards of bindings that get no answer, and of nodes about which nothing is known."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

BINDINGS = "tests/k8s_bridge/scheduling/test_unanswered_bindings.py"
CLAIMS = "tests/k8s_bridge/ledger/test_claims_back.py"
LATE = "tests/k8s_bridge/relocation/test_late_members.py"
VOLUMES = "tests/k8s_bridge/scheduling/test_volumes.py"
ATTEMPT = "k8s_bridge/ledger/unanswered_bindings.py"
ALLOCATION = "k8s_bridge/ledger/claim_allocation.py"

BOUND_ONCE_MORE = (
    Mutant(
        "members that got no answer are bound first",
        "a webhook that lets dry runs pass has the others of a gang evicted every four minutes",
        ATTEMPT,
        "        first = [one for one in every if one.pod.uid in self._suspects]\n",
        "        first = list[Member]()\n",
        f"{BINDINGS}::test_who_got_no_answer_is_bound_first_the_next_time",
    ),
    Mutant(
        "an API server without a turn",
        "what an overloaded API server has bound of a gang is evicted after two minutes",
        ATTEMPT,
        "        if error.status == OVERLOADED and BY_ADMISSION not in self.said:\n",
        "        if False:\n",
        f"{BINDINGS}::test_an_overloaded_api_server_takes_no_gang_back",
    ),
    Mutant(
        "webhooks that deny as if they were overloaded",
        "a gang runs in part for ever behind one",
        ATTEMPT,
        "        if error.status == OVERLOADED and BY_ADMISSION not in self.said:\n",
        "        if error.status == OVERLOADED:\n",
        f"{BINDINGS}::test_an_overloaded_api_server_takes_no_gang_back",
    ),
    Mutant(
        "bindings to nodes that are doubted",
        "what runs of a gang is evicted as most nodes fall silent for a while",
        "k8s_bridge/ledger/binding.py",
        "            if not self.pods.is_doubted(member.node) or is_gone(self.pods, member):\n",
        "            if True:\n",
        f"{BINDINGS}::test_a_silence_of_most_nodes_takes_no_gang_back",
    ),
    Mutant(
        "claims that get no answer",
        "a gang runs in part for ever, as one of its claims is not answered",
        ALLOCATION,
        "                if patience.is_hopeless:\n",
        "                if False:\n",
        f"{CLAIMS}::test_a_claim_without_an_answer_takes_the_gang_back",
    ),
    Mutant(
        "claims of pods that are gone",
        "nodes stay held for pods that were deleted while their claims got no answer",
        ALLOCATION,
        "            if is_gone(self.pods, member):\n",
        "            if False:\n",
        f"{CLAIMS}::test_a_claim_without_an_answer_holds_nothing_for_pods_that_are_gone",
    ),
    Mutant(
        "an end of doubt",
        "a kubelet that is off while its host answers keeps a gang from free nodes for 15 minutes",
        "k8s_bridge/cache/unknown_nodes.py",
        " and self.clock.monotonic() - since < DOUBT_SECONDS\n",
        "\n",
        "tests/k8s_bridge/relocation/test_closed_seats.py"
        "::test_a_seat_whose_kubelet_has_died_holds_no_gang_for_long",
    ),
    Mutant(
        "what a replica knew of nodes in an earlier term",
        "what runs of a gang is evicted for a node that was dead long ago",
        "k8s_bridge/leader.py",
        "                # What is known of nodes is old where this replica leads again.\n"
        "                cache.judge(frozenset(), {})\n",
        "                pass\n",
        "tests/k8s_bridge/scheduling/test_leads_again.py"
        "::test_a_node_that_was_dead_in_the_term_before_is_looked_at_anew",
    ),
    Mutant(
        "a StatefulSet in place of another",
        "what was moved for a lost member has no place any more, as its set was replaced",
        "k8s_bridge/relocation/pod_makers.py",
        "            if body is None or kind is not STATEFUL_SETS:\n",
        "            if True:\n",
        f"{LATE}::test_a_stateful_set_that_is_replaced_keeps_its_places[0.0]",
    ),
    Mutant(
        "a StatefulSet on its way to be replaced",
        "what was moved has no place any more where the set is applied a second after its deletion",
        "k8s_bridge/relocation/pod_makers.py",
        "        return now - self._gone_since.get(maker, -math.inf) < REPLACE_SECONDS\n",
        "        return False\n",
        f"{LATE}::test_a_stateful_set_that_is_replaced_keeps_its_places[5.0]",
    ),
    Mutant(
        "the first volume that cannot come",
        "a gang holds its nodes for ten minutes that is known not to start",
        "k8s_bridge/ledger/reconciler.py",
        "        answers = [] if early is None else [early]\n",
        "        answers = list[BindingResult]()\n",
        f"{VOLUMES}::test_one_volume_that_cannot_come_frees_all_nodes[deleted]",
    ),
    Mutant(
        "claims that lose their volume while it is awaited",
        "a gang holds its nodes for ten minutes for a volume that is lost",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        '        if _phase_of(body) == "Lost":\n',
        "        if False:\n",
        f"{VOLUMES}::test_one_volume_that_cannot_come_frees_all_nodes[lost]",
    ),
    Mutant(
        "nodes that fell silent long before others did",
        "a gang is not repaired after a takeover, as most nodes of the cluster have long been off",
        "k8s_bridge/node_health/general_silence.py",
        "    return {name for name, at in last.items() if are_most(beside(at), of_all)}\n",
        "    return set(never)\n",
        "tests/k8s_bridge/node_health/test_general_silence.py"
        "::test_who_was_switched_off_long_before_says_nothing_of_who_fell_silent_just_before",
    ),
)
