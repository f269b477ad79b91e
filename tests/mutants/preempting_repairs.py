"""Safeguards of room that lower gangs make for one that has lost members."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RELOCATION = "tests/k8s_bridge/relocation"
WHOLE = f"{RELOCATION}/test_whole_gangs.py"
UNUSED = f"{RELOCATION}/test_unused_room.py"

PREEMPTING_REPAIRS = (
    Mutant(
        "lower gangs make way for a gang that lost members as a whole",
        "a gang of priority 1000 that lost a node waits behind lower ones without end",
        "k8s_bridge/relocation/preemption.py",
        "        broken = self._whole.look(view, stranded, busy) if stranded else {}\n",
        "        broken = {}\n",
        f"{WHOLE}::test_lower_gangs_make_way_for_a_gang_that_lost_a_member[its node]",
    ),
    Mutant(
        "members that may not move",
        "lower gangs are evicted for one whose Job would end of the members that move",
        "k8s_bridge/relocation/evictions/whole_gangs.py",
        "standing=(one,), eviction_limits=limits)",
        "standing=(one,), eviction_limits=())",
        f"{WHOLE}::test_none_goes_where_the_job_would_end_of_the_repair",
    ),
    Mutant(
        "members that the API would not let move",
        "lower gangs are evicted for one whose own members a webhook lets not go",
        "k8s_bridge/relocation/preemption.py",
        "self.evictions.refusals(evicting)",
        "self.evictions.refusals(evicting[:1])",
        f"{WHOLE}::test_none_goes_where_the_api_would_not_let_the_gang_move",
    ),
    Mutant(
        "gangs that are whole",
        "lower gangs are evicted so that a healthy one may leave a node that is to be emptied",
        "k8s_bridge/relocation/repair.py",
        "        ).difference(self._drained)\n",
        "        )\n",
        f"{WHOLE}::test_none_goes_for_a_gang_that_is_whole",
    ),
    Mutant(
        "nodes that come back while others make room",
        "room is kept idle for ten minutes for a gang that has all of its members",
        "k8s_bridge/relocation/next_action.py",
        "    if one.makes_room_to_move and _is_whole_again(one, view):\n",
        "    if False:\n",
        f"{WHOLE}::test_a_node_that_comes_back_meanwhile_leaves_the_gang_where_it_is",
    ),
    Mutant(
        "what another leader does not know yet",
        "pods were evicted for a gang whose room another leader gives up",
        "k8s_bridge/relocation/next_action.py",
        "    if not view.is_untold(one) and view.age(one) < silence:\n",
        "    if False:\n",
        f"{WHOLE}::test_another_leader_goes_on",
    ),
    Mutant(
        "members that are made anew",
        "a namespace has no pod evicted for a while, as a gang of it has moved",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        "        self._excuse({leaver.pod.uid for one in open_ for leaver in one.leavers}, dead)\n",
        "        self._excuse(set(), dead)\n",
        f"{WHOLE}::test_a_gang_that_moves_is_not_gone",
    ),
    Mutant(
        "lost members within the quota",
        "none makes way for a gang whose lost members count beside those that replace them",
        "k8s_bridge/relocation/evictions/whole_gangs.py",
        "    members = frozenset(one.members)\n",
        "    members = frozenset(one.live)\n",
        f"{WHOLE}::test_what_the_namespace_of_the_gang_may_have[gpuQuota: 32-True]",
    ),
    Mutant(
        "what is told without a look",
        "a gang that fits nowhere is told that it would start if others were evicted",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        'f"No pods are evicted for it until {until}: pods went for a gang of its namespace "',
        'f"It would start if pods went until {until}: pods went for a gang of its namespace "',
        "tests/k8s_bridge/relocation/test_preemption_told.py"
        "::test_what_was_not_looked_at_is_not_told",
    ),
    Mutant(
        "the end of pods that have no part in a repair",
        "a gang is not repaired in room that has come, as those who left it could not move",
        "k8s_bridge/relocation/repair.py",
        "            and not any(changes(last.running, asked.running))\n",
        "",
        f"{RELOCATION}/test_repairs_in_vain.py::test_the_end_of_pods_that_may_not_move_is_room",
    ),
    Mutant(
        "gangs that may not start over",
        "a Job ends as its pods go so that it may start over",
        "k8s_bridge/relocation/repair.py",
        "            and not self._may_not_restart(one, by_pod)\n",
        "",
        f"{RELOCATION}/test_lasting_jobs.py"
        "::test_a_gang_starts_over_as_far_as_its_job_outlasts_it[one too few]",
    ),
    Mutant(
        "lost pods that the API keeps",
        "a repair is given up and planned anew, again and again, for a pod that runs nowhere",
        "k8s_bridge/relocation/executor.py",
        "elif asked.refusals.for_good(error) and not leaver.lost:",
        "elif asked.refusals.for_good(error):",
        f"{RELOCATION}/test_refused_in_spite.py"
        "::test_what_refuses_to_end_a_lost_pod_ends_no_repair",
    ),
    Mutant(
        "victims of others",
        "pods of others are counted twice, and told to go for two gangs at once",
        "k8s_bridge/relocation/preemption.py",
        "            and going.isdisjoint(one.live)\n",
        "",
        f"{RELOCATION}/test_refused_in_spite.py"
        "::test_who_is_to_go_for_one_gang_is_no_victim_of_another",
    ),
    Mutant(
        "pods that end while the solver runs",
        "a gang is committed of which a pod has ended, or is about to",
        "k8s_bridge/scheduling/revalidate.py",
        "if seen is None or seen.finished or seen.deleting:",
        "if seen is None:",
        "tests/k8s_bridge/scheduling/test_revalidate.py"
        "::test_a_pod_that_is_gone_meanwhile_is_named[ended]",
    ),
    Mutant(
        "gangs that may not move as a whole",
        "the solver is asked again and again for victims that would serve no repair",
        "k8s_bridge/relocation/evictions/whole_gangs.py",
        "one.policy is RepairPolicy.MOVE and",
        "one.policy is not None and",
        f"{WHOLE}::test_for_whom_none_makes_way[high-low-patch]",
    ),
    Mutant(
        "room that was made in vain",
        "a node that comes back each time has a lower gang evicted every five minutes",
        "k8s_bridge/relocation/preemption.py",
        "            self.brief_stays.was_in_vain(one.gang, window)\n",
        "            pass\n",
        "tests/k8s_bridge/relocation/test_whole_gangs.py"
        "::test_a_node_that_comes_back_each_time_has_ever_fewer_evicted",
    ),
    Mutant(
        "a repair in place of what made its room",
        "a lower gang starts in the room that was made, and is evicted again",
        "k8s_bridge/relocation/repair.py",
        "            if kept is not None and kept.makes_room_to_move:\n                made",
        "            if False:\n                made",
        "tests/k8s_bridge/relocation/test_whole_gangs.py::test_the_room_is_free_at_no_moment",
    ),
    Mutant(
        "members that others ended",
        "a gang whose nodes are drained one after the other is kept out for 40 minutes",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        "        if name in dead or node is None",
        "        if name in dead or False",
        "tests/k8s_bridge/relocation/test_brief_stays.py"
        "::test_members_that_others_ended_have_stayed[node deleted]",
    ),
    Mutant(
        "preemptions whose places were closed",
        "places idle for five minutes as one of them was cordoned while victims ended",
        "k8s_bridge/relocation/preemption.py",
        "        return why.endswith(SEAT_CLOSED) and self._windows.may_reopen(one.gang)\n",
        "        return False\n",
        "tests/k8s_bridge/relocation/test_preemption.py"
        "::test_a_node_that_is_closed_while_victims_end_costs_no_window",
    ),
    Mutant(
        "members that their own team evicts",
        "a team evicts its own pods as soon as they run, and takes out one gang after the other",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        '            and one.get("reason") != BY_REQUEST\n',
        "",
        "tests/k8s_bridge/relocation/test_brief_stays.py"
        "::test_members_that_their_team_evicted_have_not_stayed",
    ),
    Mutant(
        "room that a repair may not use",
        "lower gangs wait a quarter of an hour beside room kept for a move that is forbidden",
        "k8s_bridge/relocation/preemption.py",
        "in self._whole.in_vain(view, lost):",
        "in ():",
        f"{WHOLE}::test_room_that_a_repair_may_not_use_is_free_after_a_minute",
    ),
    Mutant(
        "gangs that do not use their room",
        "a gang that takes a pod back each time that others go has them go every ten minutes",
        "k8s_bridge/relocation/preemption.py",
        "        unused = why in UNUSED and one.purpose is Purpose.PREEMPTION and not is_untold\n",
        "        unused = False\n",
        f"{UNUSED}::test_a_gang_that_never_starts_on_its_places_is_barred_like_one_that_fails",
    ),
    Mutant(
        "a refusal after the window",
        "a term ends, as a dry run was refused when the window of its gang was over",
        "k8s_bridge/relocation/preemption.py",
        "                self._tried.pop(gang.key, None)\n            return refused",
        "                del self._tried[gang.key]\n            return refused",
        f"{RELOCATION}/test_refused_evictions.py"
        "::test_a_refusal_as_a_record_is_written_at_last_ends_no_term",
    ),
    Mutant(
        "gangs that had to go",
        "a namespace may not preempt for five minutes, as a gang of it was preempted or drained",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        "            are_over = bool(seen) and all(",
        "            are_over = all(",
        f"{UNUSED}::test_a_gang_that_had_to_go_bars_none_of_its_namespace[drained]",
    ),
    Mutant(
        "the quota that victims hold until they have gone",
        "a namespace runs above its quota for as long as its victims take to end",
        "k8s_bridge/relocation/next_action.py",
        "    return any(seen is not None and not seen.finished for seen in own)\n",
        "    return False\n",
        f"{RELOCATION}/test_preemption_in_quota.py::test_the_quota_is_kept_while_victims_end",
    ),
    Mutant(
        "how long a gang has lacked members this time",
        "lower gangs go at once for a gang whose node is lost for the second time",
        "k8s_bridge/relocation/evictions/whole_gangs.py",
        "        since = self._since if now - looked < FORGOTTEN_SECONDS else {}\n",
        "        since = self._since\n",
        f"{WHOLE}::test_it_waits_each_time_that_it_has_lost_a_node",
    ),
)
