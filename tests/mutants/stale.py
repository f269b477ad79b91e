"""Safeguards against what is true no longer: old answers, late watches, room looked at before."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LEDGER = "tests/k8s_bridge/ledger"
RELOCATION = "tests/k8s_bridge/relocation"

STALE = (
    Mutant(
        "preemptions that told no pod to go",
        "a gang waits five minutes as the first seat was cordoned before a pod had gone",
        "k8s_bridge/relocation/preemption.py",
        "        if is_untold:\n            return bool(why)\n",
        "        if is_untold:\n            return False\n",
        f"{RELOCATION}/test_closed_seats.py"
        "::test_a_preemption_that_told_no_pod_to_go_is_made_again_soon",
    ),
    Mutant(
        "gangs that are back while lost ones are seen to",
        "members that were taken back are planned beside one that only seems to stay",
        "k8s_bridge/scheduling/cycle.py",
        "were taken back.\n            self._assume_on_their_way()\n",
        "were taken back.\n",
        "tests/k8s_bridge/scheduling/test_rollbacks.py"
        "::test_one_that_is_back_while_lost_gangs_are_seen_to_is_planned_as_a_whole",
    ),
    Mutant(
        "stray leases that come while one hangs",
        "what a late request has written is never found while the API is silent about one record",
        "k8s_bridge/leader.py",
        "            await reconciler.sweep(patient=False)\n",
        "            await reconciler.sweep()\n",
        "tests/k8s_bridge/scheduling/test_hanging_records.py"
        "::test_a_stray_lease_that_hangs_keeps_no_other_from_being_found",
    ),
    Mutant(
        "rollbacks of what is settled meanwhile",
        "a gang that runs is evicted for a member that was deleted before its turn came",
        "k8s_bridge/ledger/reconciler.py",
        "            if is_settled(commit, self.pods):\n"
        "                # What could not be bound has gone meanwhile.\n"
        "                return\n",
        "",
        f"{LEDGER}/test_refused_gone.py"
        "::test_the_others_stay_where_it_is_deleted_before_that_is_written_down",
    ),
    Mutant(
        "nodes that move while another leader takes over",
        "two pages list a node, and give its devices away twice",
        "k8s_bridge/ledger/ledger.py",
        "for one in self._pages_of.get(node, ()) if one != name)",
        "for one in self._pages_of.get(node, ()) if False)",
        f"{LEDGER}/test_moving_takeover.py"
        "::test_a_node_that_moves_during_a_takeover_stays_on_its_new_page",
    ),
    Mutant(
        "pods that were let go, while the watch is late",
        "a pod is evicted every two seconds, and each time counted and told of",
        "k8s_bridge/relocation/executor.py",
        "            self._told[leaver.pod.uid] = controller\n",
        "",
        f"{RELOCATION}/test_late_watch.py::test_who_was_told_to_go_is_told_once",
    ),
    Mutant(
        "relocations that a successor has written",
        "a replaced leader keeps places for what is its successor's, and never learns of it",
        "k8s_bridge/relocation/store.py",
        "if known.get(gang) != found.get(gang) and",
        "if gang not in known and",
        f"{RELOCATION}/test_store.py::test_a_sweep_tells_a_replaced_leader_that_it_is_one",
    ),
    Mutant(
        "room that was looked at",
        "every cycle waits for one more look at who was lost, until a pod ends elsewhere",
        "k8s_bridge/relocation/repair.py",
        "        # Once for what has come, whatever becomes of it.\n"
        "        self._planned_on = snapshot\n",
        "",
        f"{RELOCATION}/test_repair_first.py::test_room_that_has_come_hastens_one_look",
    ),
    Mutant(
        "room that comes while nodes die",
        "a gang moves for the first node of a rack, and once more for the second",
        "k8s_bridge/relocation/controller.py",
        "        if settles or not self.repair.hasten",
        "        if not self.repair.hasten",
        f"{RELOCATION}/test_repair_first.py"
        "::test_room_that_comes_while_nodes_die_is_no_reason_to_hurry",
    ),
    Mutant(
        "answers to old trials of evictions",
        "pods go by what a budget allowed an hour ago, and leave others of their gang alone",
        "k8s_bridge/relocation/evictions/trials.py",
        " if one.of.left or one.of.ended >= oldest\n",
        "\n",
        f"{RELOCATION}/test_old_answers.py"
        "::test_an_answer_that_no_plan_has_used_counts_for_a_minute",
    ),
    Mutant(
        "gangs that could only change places",
        "the same plan is made four times a second, and nobody hears why a gang stays",
        "k8s_bridge/relocation/repair.py",
        "        if of_hit.keys() == waiting:\n",
        "        if False:\n",
        f"{RELOCATION}/test_entangled.py"
        "::test_gangs_that_could_only_change_places_stay_and_are_told",
    ),
    Mutant(
        "places of gangs that wait for a gang",
        "a gang loses the place reserved for it when another goes ahead for a moment",
        "k8s_bridge/relocation/next_action.py",
        "    if gang.hold is not None and gang.hold.kind != ReasonKind.WAITS_FOR_GANG:\n",
        "    if gang.hold is not None:\n",
        f"{RELOCATION}/test_waits_for_gang.py::test_a_gang_that_waits_for_another_keeps_its_place",
    ),
    Mutant(
        "kept places while another gang goes ahead",
        "two gangs that keep each other off a leaf are bound there at once",
        "k8s_bridge/relocation/next_action.py",
        "gang.hold.kind is not _BY_NUMBER:",
        "gang.hold.kind not in (_BY_NUMBER, ReasonKind.WAITS_FOR_GANG):",
        f"{RELOCATION}/test_waits_for_gang.py::test_a_place_that_is_kept_breaks_no_anti_affinity",
    ),
    Mutant(
        "kept places for members that were not told",
        "a container that sees all devices of a node is bound to a place kept for its gang",
        "k8s_bridge/relocation/next_action.py",
        "gang.hold.kind is not _BY_NUMBER:",
        "gang.hold.kind not in (_BY_NUMBER, ReasonKind.NOT_TOLD):",
        f"{RELOCATION}/test_kept_places.py"
        "::test_a_member_that_was_not_told_takes_no_place_that_is_kept",
    ),
)
