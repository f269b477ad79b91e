"""Safeguards without which a gang never starts, or takes what another was promised."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

FREED = "tests/k8s_bridge/scheduling/test_freed_room.py"
ASIDE = "tests/k8s_bridge/scheduling/test_set_aside.py"
BOUNDS = "tests/k8s_bridge/scheduling/test_aside_bounds.py"
CHANGE = "tests/k8s_bridge/scheduling/test_neighbours_that_change.py"
RELOCATION = "tests/k8s_bridge/relocation"
LOWER = f"{RELOCATION}/test_places_of_lower_gangs.py"

STARVATION = (
    Mutant(
        "a grace period counts for an hour at most",
        "a pod that gives itself a year to end keeps the gang waiting that wants its room",
        "k8s_bridge/relocation/ages.py",
        "return min(grace, LONGEST_GRACE_SECONDS)",
        "return grace",
        f"{RELOCATION}/test_pod_ends.py::test_so_long_a_pod_may_end",
    ),
    Mutant(
        "pods are looked at once for all relocations",
        "a thousand pods of a rack are lost, and with them the lead, again and again",
        "k8s_bridge/relocation/cluster_view.py",
        "    @cached_property\n    def _members(self)",
        "    @property\n    def _members(self)",
        f"{RELOCATION}/test_many_relocations.py::test_each_gang_and_pod_is_looked_at_once",
    ),
    Mutant(
        "who could have no place ends no other's",
        "one gang that can never start keeps all lower ones from a place, as long as it waits",
        "k8s_bridge/relocation/reservation.py",
        "        one = await self._look(gang, others)\n",
        '        [await self.end(kept, "it comes first") for kept in lower]\n'
        "        one = await self._look(gang, others)\n",
        f"{LOWER}::test_who_has_no_place_ends_none",
    ),
    Mutant(
        "who has no place comes before no other",
        "no place is kept for any gang below one for which there is none",
        "k8s_bridge/relocation/reservation.py",
        "return gang.key not in self._placeless and in_vain <= just_now",
        "return in_vain <= just_now",
        f"{LOWER}::test_none_of_many_namespaces_comes_first",
    ),
    Mutant(
        "a namespace without a place comes before none below it",
        "a tenant that makes hopeless gangs of a high priority keeps all others from a place",
        "k8s_bridge/relocation/reservation.py",
        "return gang.key not in self._placeless and in_vain <= just_now",
        "return gang.key not in self._placeless",
        f"{LOWER}::test_however_many_they_are",
    ),
    Mutant(
        "who rests comes before no other",
        "a tenant that takes its gangs back keeps lower ones from a place while it rests",
        "k8s_bridge/relocation/reservation.py",
        "for gang in awake if self._comes_first(gang)), -math.inf)",
        "for gang in waiting if self._comes_first(gang)), -math.inf)",
        f"{LOWER}::test_lower_ones_have_a_place_while_a_namespace_rests",
    ),
    Mutant(
        "kept seats take their uplinks",
        "the uplink that a preempting gang is about to use is given to another",
        "k8s_bridge/relocation/reserved_seats.py",
        "            one.bandwidth,\n",
        "",
        f"{RELOCATION}/test_seats_on_uplinks.py"
        "::test_another_gang_does_not_take_the_uplink_meanwhile",
    ),
    Mutant(
        "a second solve counts the uplinks of the first",
        "two gangs of one cycle are given one uplink",
        "model/snapshot.py",
        "for pod in once_placed(gangs[one.gang], one)]",
        "for pod in once_placed(replace(gangs[one.gang], bandwidth=None), one)]",
        f"{RELOCATION}/test_backfill.py::test_what_was_placed_first_keeps_its_uplinks",
    ),
    Mutant(
        "a relocation that cannot be deleted is asked for later and later",
        "a policy that forbids it is asked four times a second, for each",
        "k8s_bridge/relocation/store.py",
        "if one is None or not self._may_delete(gang):",
        "if one is None:",
        f"{RELOCATION}/test_undeletable.py::test_others_start_meanwhile",
    ),
    Mutant(
        "a cycle asks once to delete a relocation",
        "one Lease that the API does not let go stops scheduling for all",
        "k8s_bridge/relocation/store.py",
        "await self.records.delete_once(",
        "await self.records.delete(",
        f"{RELOCATION}/test_undeletable.py::test_others_start_meanwhile",
    ),
    Mutant(
        "what others do to a gang does not change it",
        "a gang that minds pods of others never starts while these come and go",
        "k8s_bridge/scheduling/revalidate.py",
        "in_itself(gang) != in_itself(gangs[placement.gang])",
        "gang != gangs[placement.gang]",
        f"{CHANGE}::test_it_starts_on_nodes_that_still_do",
    ),
    Mutant(
        "nodes are held against what the gang may use now",
        "a pod is bound beside one that it must not stand beside",
        "k8s_bridge/scheduling/revalidate.py",
        "_unfit_nodes(placement, gang or gangs[placement.gang], now)",
        "_unfit_nodes(placement, gangs[placement.gang], now)",
        f"{CHANGE}::test_a_node_that_does_no_more_is_not_taken",
    ),
    Mutant(
        "set aside: gangs to which others do something",
        "gangs that prefer to be near pods which come and go are the first of every batch",
        "k8s_bridge/scheduling/set_aside.py",
        "if gang is not None and in_itself(gang) == in_itself(before):",
        "if gang is not None and gang == before:",
        f"{CHANGE}::test_those_that_only_prefer_stay_aside",
    ),
    Mutant(
        "a gang's own places use up none of its quota",
        "a gang for which places are kept is refused a free node for a quota that it keeps itself",
        "k8s_bridge/scheduling/cycle.py",
        "            plan = await self._within_own_room(kept, free, plan)\n",
        "            pass\n",
        f"{RELOCATION}/test_own_room.py::test_another_node_becomes_free_first",
    ),
    Mutant(
        "set aside: the part of a namespace is no part of others",
        "urgent gangs that are no part of any batch keep lower ones from being looked at",
        "k8s_bridge/scheduling/set_aside.py",
        "if most is None or back[namespace] < (most + 1) // 2:",
        "if True:",
        f"{ASIDE}::test_room_of_a_namespace_that_is_used_up_is_no_room_of_others",
    ),
    Mutant(
        "gangs are told in turn",
        "of a long queue whose answers are made anew, the last are never told why they wait",
        "k8s_bridge/reporting/conditions/pod_scheduled.py",
        "        new.sort(key=lambda entry: (entry.gang not in untold_before, "
        "entry.gang in before.gangs))\n",
        "",
        "tests/k8s_bridge/reporting/test_told_in_turn.py"
        "::test_answers_that_are_made_anew_keep_none_untold",
    ),
    Mutant(
        "a fruitless plan holds until a pod ends",
        "the gang that waits alone is not planned when its room becomes free",
        "k8s_bridge/scheduling/set_aside.py",
        "            and batch.running == before.running\n",
        "",
        "tests/k8s_bridge/scheduling/test_aside_bounds.py"
        "::test_what_holds_in_one_cycle_alone_is_asked_again[NoFreeCapacity-True]",
    ),
    Mutant(
        "a status that came too late is worked out again",
        "a pod says for good why it waited a moment ago",
        "k8s_bridge/reporting/recorder/recorder.py",
        "                self._again()\n",
        "                pass\n",
        "tests/k8s_bridge/reporting/test_recorder.py::test_what_has_changed_has_a_cycle_started",
    ),
    Mutant(
        "preemption: a gang that has changed meanwhile",
        "victims go for a gang that has another size by the time that it was planned",
        "k8s_bridge/relocation/preemption.py",
        "if not why and self._has_changed(gang, moved, view):",
        "if False:",
        f"{RELOCATION}/test_changed_meanwhile.py"
        "::test_a_gang_that_has_changed_meanwhile_evicts_none",
    ),
    Mutant(
        "who was told to go stands nowhere",
        "the rest of a gang moves no more once the node of those that were told to go is back",
        "k8s_bridge/relocation/cluster_view.py",
        "        return there and uid not in self.told\n",
        "        return there\n",
        f"{RELOCATION}/test_as_planned.py::test_who_was_told_to_go_stands_nowhere",
    ),
    Mutant(
        "gangs that would wait for each other",
        "a drained gang and those on its places keep each other's for minutes, and none moves",
        "k8s_bridge/relocation/repair.py",
        "if self._stay_for_a_while(entangled(drafts, view), hit):",
        "if False:",
        f"{RELOCATION}/test_moving.py::test_gangs_that_would_wait_for_each_other_keep_no_places",
    ),
    Mutant(
        "answers of one cycle are no answers for good",
        "a namespace that had used up its solver time waits until something else changes",
        "k8s_bridge/scheduling/set_aside.py",
        "if done and not kinds & _PASSING else None",
        "if done else None",
        f"{BOUNDS}::test_what_holds_in_one_cycle_alone_is_asked_again[NamespaceLimit-False]",
    ),
    Mutant(
        "half of a namespace's room is for newcomers",
        "its old gangs, which nodes that come and go bring back, keep its new ones from their look",
        "k8s_bridge/scheduling/set_aside.py",
        "back[namespace] < (most + 1) // 2:",
        "back[namespace] < most:",
        f"{BOUNDS}::test_half_of_the_room_of_a_namespace_is_for_who_was_not_looked_at",
    ),
    Mutant(
        "an end gives back an uplink",
        "a gang with bandwidth stands aside although what kept it waiting has ended",
        "k8s_bridge/scheduling/freed_room.py",
        " or gang.bandwidth is not None:",
        ":",
        f"{BOUNDS}::test_an_end_may_give_more_than_the_gpus_of_its_node[50-None-True]",
    ),
    Mutant(
        "an end gives back a quota",
        "a gang stands aside although a pod of its namespace has ended, which had its quota",
        "k8s_bridge/scheduling/freed_room.py",
        "if self._quotas and gang.key.namespace in self._namespaces:",
        "if False:",
        f"{BOUNDS}::test_an_end_may_give_more_than_the_gpus_of_its_node[None-24-True]",
    ),
    Mutant(
        "a bound on hopeless kinds",
        "a tenant whose pods each name another label fills the memory of the leader",
        "k8s_bridge/scheduling/set_aside.py",
        " or len(self._hopeless) > MOST_KINDS:",
        ":",
        f"{BOUNDS}::test_so_many_kinds_are_remembered_as_hopeless",
    ),
    Mutant(
        "who may use other nodes by now is asked",
        "a gang waits beside a free node that a pod of others kept it from, and has left",
        "k8s_bridge/scheduling/set_aside.py",
        "                    self._owed.setdefault(number, None)\n",
        "                    pass\n",
        f"{FREED}::test_who_may_use_other_nodes_by_now_is_asked",
    ),
    Mutant(
        "who is behind others is known by what it is now",
        "a node idles: who was to have it is gone, and the next one was read anew meanwhile",
        "k8s_bridge/scheduling/set_aside.py",
        "        behind = (now.get(number, number) for number in self._behind)\n",
        "        behind = iter(self._behind)\n",
        f"{FREED}::test_who_is_behind_stays_so_where_others_change_what_it_prefers",
    ),
)
"""Each was seen to happen before there was the safeguard, or to go unnoticed without it."""
