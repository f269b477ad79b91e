"""Safeguards of what is looked at last: who has a place by now, and who is served by what goes."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RELOCATION = "tests/k8s_bridge/relocation"
SEATS = "tests/k8s_bridge/scheduling/test_hanging_seats.py"

LAST_LOOKS = (
    Mutant(
        "places that end while they are taken",
        "a healthy pod is evicted, and its place goes to a gang that was being bound there",
        "k8s_bridge/relocation/store.py",
        "            return False\n        self.freed()\n        return True\n",
        "            return False\n        return True\n",
        f"{SEATS}::test_places_that_end_while_a_gang_is_bound_to_them_stay_its_own",
    ),
    Mutant(
        "repairs beside reservations",
        "a gang that lost a member is not repaired for an hour, as a place is reserved for it",
        "k8s_bridge/relocation/repair.py",
        "        return gang in self.store and not waits and not is_made\n",
        "        return gang in self.store and not is_made\n",
        f"{RELOCATION}/test_repair_and_reservation.py"
        "::test_a_gang_moves_though_a_place_is_reserved_for_it[false]",
    ),
    Mutant(
        "whose a reserved place is",
        "a repair is planned for a place that is reserved for another gang, again and again",
        "k8s_bridge/relocation/repair.py",
        "        if reserved and len(hit) > 1:\n",
        "        if False:\n",
        f"{RELOCATION}/test_repair_and_reservation.py"
        "::test_no_other_is_repaired_by_a_place_that_is_reserved",
    ),
    Mutant(
        "places that are not left yet",
        "a replica waits a quarter of an hour for a place whose pod may go only once it is ready",
        "k8s_bridge/relocation/cluster_view.py",
        "one.gang not in found and self.has_left(one)\n",
        "one.gang not in found\n",
        f"{RELOCATION}/test_replicas.py"
        "::test_who_waits_beside_a_replica_that_may_not_go_yet_starts",
    ),
    Mutant(
        "moves of which one has lost its place",
        "a pod is evicted for a gang that cannot start, as another was to move for it as well",
        "k8s_bridge/relocation/executor.py",
        "                if is_part and view.is_untold(other):\n",
        "                if False:\n",
        f"{RELOCATION}/test_moves_that_serve_none.py"
        "::test_no_moves_of_which_one_has_lost_its_place",
    ),
    Mutant(
        "repairs that have lost their place",
        "a pod is evicted to make way for a gang whose other place was taken meanwhile",
        "k8s_bridge/relocation/repair.py",
        "        taken = self._taken(drafts, view)\n",
        "        taken = frozenset[GangKey]()\n",
        f"{RELOCATION}/test_moves_that_serve_none.py"
        "::test_none_moves_for_a_repair_that_has_lost_its_place",
    ),
    Mutant(
        "relocations that are over",
        "replicas wait for ever for a place whose record the API does not let go",
        "k8s_bridge/relocation/cluster_view.py",
        "        return tuple(one for one in self.open if one.gang not in self.over)\n",
        "        return self.open\n",
        f"{RELOCATION}/test_undeletable.py::test_replicas_that_are_made_later_start[a sibling]",
    ),
    Mutant(
        "kept places of what is over",
        "a replica that is made anew under its name finds no place that is good enough",
        "k8s_bridge/relocation/reserved_seats.py",
        "        or (one.gang not in view.over and one.purpose is not Purpose.RESERVATION)\n",
        "        or one.purpose is not Purpose.RESERVATION\n",
        f"{RELOCATION}/test_undeletable.py::test_replicas_that_are_made_later_start[its own name]",
    ),
    Mutant(
        "a gang's own places take none of its room",
        "a gang for which places are kept waits for all of them, where half of them would do",
        "k8s_bridge/relocation/own_room.py",
        "    return why in CONTENTION_REASONS and any(\n",
        "    return False and any(\n",
        f"{RELOCATION}/test_own_room.py::test_half_of_its_places_and_another_node_will_do",
    ),
    Mutant(
        "each gang that its own places keep out",
        "the first of them keeps the others from being tried, for as long as it waits",
        "k8s_bridge/scheduling/cycle.py",
        "            self._asked.update(gang.key for gang in more.gangs)\n",
        "",
        f"{RELOCATION}/test_own_room.py::test_half_of_its_places_and_another_node_will_do",
    ),
    Mutant(
        "gangs that start while moves are planned for them",
        "pods are evicted so that a gang starts that is being bound to its own place",
        "k8s_bridge/relocation/defragmentation.py",
        "            gang in bound or gang not in now or",
        "            gang not in now or",
        f"{RELOCATION}/test_seated_meanwhile.py::test_no_pod_moves_for_a_gang_that_is_being_seated",
    ),
    Mutant(
        "gangs that start while victims are looked for",
        "pods of lower priority go for a gang that is being bound to its own place",
        "k8s_bridge/relocation/preemption.py",
        "        return is_bound or now is None or",
        "        return now is None or",
        f"{RELOCATION}/test_seated_meanwhile.py"
        "::test_no_pod_makes_way_for_a_gang_that_is_being_seated",
    ),
    Mutant(
        "gangs that are whole while their repair is planned",
        "a gang whose lost member is being bound has its other members evicted, to move elsewhere",
        "k8s_bridge/relocation/repair.py",
        "            one.gang for one in drafts if one.gang in bound or not now.fits",
        "            one.gang for one in drafts if not now.fits",
        f"{RELOCATION}/test_seated_meanwhile.py::test_a_gang_that_is_being_seated_moves_nowhere",
    ),
    Mutant(
        "records whose answer got lost",
        "a relocation that is written counts as refused, and what was planned with it is given up",
        "k8s_bridge/relocation/store.py",
        "                if not self._stands(one):\n",
        "                if True:\n",
        f"{RELOCATION}/test_moves_that_serve_none.py"
        "::test_moves_whose_record_is_there_after_all_are_made",
    ),
    Mutant(
        "the first look at admission",
        "a new leader binds nothing for as long as one list of webhooks hangs",
        "k8s_bridge/ledger/dry_run.py",
        "        await patiently([self._looking], self._clock.sleep(max(0.0, left)))\n",
        "        await asyncio.wait([self._looking])\n",
        "tests/k8s_bridge/ledger/test_dry_run.py"
        "::test_a_list_of_webhooks_that_hangs_keeps_no_gang[the first]",
    ),
    Mutant(
        "admission that is not known yet",
        "bindings that a webhook would refuse are not tried out where nothing is known of it",
        "k8s_bridge/ledger/dry_run.py",
        "        self._is_covered = auto\n",
        "        self._is_covered = False\n",
        "tests/k8s_bridge/ledger/test_dry_run.py"
        "::test_a_list_of_webhooks_that_hangs_keeps_no_gang[the first]",
    ),
    Mutant(
        "an own plan begun late",
        "the interpreter that hears of the cluster plans each full batch a second time, in vain",
        "solver/process/client.py",
        "        begin = deadlines.begin(question.looks)\n",
        "        begin = deadlines.began\n",
        "tests/solver/process/test_client.py"
        "::test_a_plan_of_our_own_for_many_gangs_is_made_only_where_the_worker_is_late",
    ),
    Mutant(
        "an own plan that is wanted",
        "a solver that fails at once costs a batch a fifth of its time before another is begun",
        "solver/process/deadlines.py",
        '        """\n        self._wanted.set()\n        if not',
        '        """\n        if not',
        "tests/solver/process/test_background_task.py"
        "::test_work_begins_when_it_is_time_or_when_it_is_wanted",
    ),
    Mutant(
        "places of a Job that is deleted",
        "nodes stay idle for five minutes for members of a Job that its owner has deleted",
        "k8s_bridge/relocation/pod_makers.py",
        "                found.append(0)\n            continue\n",
        "                pass\n            continue\n",
        "tests/k8s_bridge/relocation/test_late_members.py::test_a_job_that_is_deleted_has_none[False]",
    ),
    Mutant(
        "holds of who has come for a kept place",
        "a pod starts on the place that is kept for it without the volume that is not there",
        "k8s_bridge/relocation/next_action.py",
        "gang.hold.kind is not _BY_NUMBER",
        "gang.hold.kind is ReasonKind.NOT_TOLD",
        f"{RELOCATION}/test_held_members.py"
        "::test_a_member_on_hold_takes_no_place_that_is_kept[a volume]",
    ),
    Mutant(
        "what a node owes of other things",
        "a gang is never repaired where the free node owes CPU, for which it does not ask",
        "k8s_bridge/relocation/cluster_view.py",
        "((asked.cpu or 0) > 0 > (left.cpu or 0))",
        "((left.cpu or 0) < 0)",
        f"{RELOCATION}/test_overcommitted_nodes.py::test_a_repair_takes_such_a_node",
    ),
    Mutant(
        "rules on exit codes before that of disruptions",
        "a drain ends a Job whose policy fails it for all exit codes but one",
        "model/readers/pods/job_failures.py",
        "        if _may_be_of_evicted(rule):\n",
        "        if False:\n",
        "tests/model/readers/pods/test_job_failures.py::test_what_a_job_lets_go",
    ),
    Mutant(
        "room that comes beside what budgets forbid",
        "a gang waits for ten minutes behind a budget although another gang has ended",
        "k8s_bridge/relocation/evictions/forbidden_gangs.py",
        "            and known.ended == self._ended_for(gang)\n",
        "",
        f"{RELOCATION}/test_eviction_limits.py::test_room_that_comes_beside_what_a_budget_keeps",
    ),
    Mutant(
        "who was kept goes first",
        "a webhook that refuses one victim has the other ones evicted again and again for nothing",
        "k8s_bridge/relocation/executor.py",
        "        return kept or leavers\n",
        "        return leavers\n",
        f"{RELOCATION}/test_refused_in_spite.py::test_who_was_kept_once_goes_first_the_next_time",
    ),
    Mutant(
        "refusals in spite of a dry run",
        "a dry run that passes has a refusal forgotten, and all victims are told to go at once",
        "k8s_bridge/relocation/evictions/trials.py",
        "        if not trial.refusal and not self.was_refused(pod):\n",
        "        if not trial.refusal:\n",
        f"{RELOCATION}/test_refused_in_spite.py::test_who_was_kept_once_goes_first_the_next_time",
    ),
    Mutant(
        "repairs in vain",
        "a gang that fits nowhere is planned for every five seconds while nothing changes",
        "k8s_bridge/relocation/repair.py",
        "        if self._is_fruitless(snapshot, hit):\n",
        "        if False:\n",
        f"{RELOCATION}/test_repairs_in_vain.py"
        "::test_what_cannot_be_repaired_is_planned_again_once_room_has_come",
    ),
    Mutant(
        "places while most nodes are silent",
        "pods go in vain for a gang whose places are given up as the API was away for a while",
        "k8s_bridge/relocation/next_action.py",
        "        if not others_will_do and view.is_doubted(seat.node):\n",
        "        if False:\n",
        f"{RELOCATION}/test_closed_seats.py"
        "::test_a_general_silence_ends_no_relocation_for_which_pods_have_gone",
    ),
    Mutant(
        "members that have come unread",
        "a drained pod loses the place it was evicted for, as its namespace is read later",
        "k8s_bridge/relocation/cluster_view.py",
        " and not self.cache.is_behind_in(one.gang.namespace)",
        "",
        f"{RELOCATION}/test_read_later.py::test_a_member_that_has_come_unread_keeps_its_place",
    ),
    Mutant(
        "silence about an eviction",
        "a gang preempts minutes after an API server that was busy has time again",
        "k8s_bridge/relocation/evictions/trials.py",
        "            if refused.why == _SILENT:\n",
        "            if False:\n",
        f"{RELOCATION}/test_throttled_trials.py"
        "::test_a_gang_preempts_soon_after_the_api_server_has_time_again",
    ),
)
