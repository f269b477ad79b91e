"""Safeguards of what changes while others plan, move, or are read first."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PODS = "model/readers/live/pod_cache.py"
TURNS = "model/readers/gangs/turns.py"
TURNS_TESTS = "tests/model/readers/gangs/test_turns.py"
LIVE_TESTS = "tests/model/readers/live/test_live.py"
LATER_TESTS = "tests/k8s_bridge/scheduling/test_read_later.py"
ELASTIC_TESTS = "tests/k8s_bridge/relocation/test_elastic_gangs.py"

READ_MEANWHILE = (
    Mutant(
        "who waited is planned before the other has its turn again",
        "a gang waits for ever for one that finds no place, as pods of others come and go",
        TURNS,
        "        if not self._is_new:\n",
        "        if True:\n",
        "tests/k8s_bridge/scheduling/test_turns.py"
        "::test_what_changes_all_the_time_keeps_none_waiting",
    ),
    Mutant(
        "a turn comes back once others were planned",
        "a gang of high priority goes on coming after lower ones, though there is room for it",
        TURNS,
        "        is_over = self._is_new and self._has_changed\n",
        "        is_over = False\n",
        f"{TURNS_TESTS}::test_who_waited_is_planned_once_before_the_other_has_its_turn_again",
    ),
    Mutant(
        "a namespace that gave way does so for a minute",
        "a tenant whose pod found no place once comes after all others for ever",
        TURNS,
        "if now < at <= until}",
        "if at <= until}",
        f"{TURNS_TESTS}::test_a_namespace_comes_after_others_for_a_minute",
    ),
    Mutant(
        "a clock that is set back lets none give way for longer",
        "a tenant whose pod found no place comes after all others for an hour",
        TURNS,
        "if now < at <= until}",
        "if now < at}",
        f"{TURNS_TESTS}::test_a_namespace_comes_after_others_for_a_minute[-3600.0]",
    ),
    Mutant(
        "amounts of pods that run are read whatever else there is",
        "the room of a pod that has grown in place is given away while others are read",
        "model/readers/live/known_pod.py",
        'metadata.get("labels"), held\n',
        'metadata.get("labels")\n',
        f"{LATER_TESTS}::test_room_that_a_pod_has_been_given_meanwhile_is_taken",
    ),
    Mutant(
        "what a planned pod depends on is read before it is bound",
        "one of four pods of a Job is bound alone",
        PODS,
        " or self._is_put_off(at):",
        ":",
        f"{LATER_TESTS}::test_an_owner_that_changes_meanwhile_is_read",
    ),
    Mutant(
        "all members for whom places are kept start together",
        "places for which pods were evicted are given up, and another gang has them",
        "model/readers/gangs/drafts.py",
        "            more = max(0, kept.left(bound) - len(core))\n",
        "            more = 0\n",
        f"{ELASTIC_TESTS}::test_who_leaves_a_drained_node_has_the_place_that_was_kept",
    ),
    Mutant(
        "places of members that have come are kept for no others",
        "a member that never had room counts as one of those that move",
        "model/readers/gangs/drafts.py",
        "        came = sum(uid not in self.before and",
        "        came = sum(False and",
        f"{LIVE_TESTS}::test_members_for_whom_places_are_kept_start_together",
    ),
    Mutant(
        "the reader knows for whom places are kept",
        "places for which pods were evicted are given up, and another gang has them",
        "k8s_bridge/wiring.py",
        "            cache.kept_places = relocation.store.kept_places\n",
        "",
        f"{ELASTIC_TESTS}::test_who_leaves_a_drained_node_has_the_place_that_was_kept",
    ),
    Mutant(
        "two gangs of one name are read together",
        "a reading has two gangs of one name, and one of them is planned for the other",
        PODS,
        "        some |= {one for one in shared if self._left.discard(one)}\n",
        "",
        "tests/model/readers/live/test_backlog.py::test_no_two_gangs_of_a_reading_have_one_name",
    ),
    Mutant(
        "a pod that was made anew on its node is another one",
        "what is to evict the pod of before is refused for ever",
        "model/readers/live/gang_cache.py",
        "running or self.uids[at] != pod.uid:",
        "running:",
        f"{LIVE_TESTS}::test_a_pod_that_was_made_anew_on_its_node_has_another_uid",
    ),
    Mutant(
        "taints of a place that was kept for long",
        "a pod is bound to a node that is for others by now",
        "k8s_bridge/scheduling/revalidate.py",
        " and wants.tolerates(node)):",
        "):",
        "tests/k8s_bridge/scheduling/test_revalidate.py"
        "::test_a_node_that_a_pod_may_no_longer_use_is_named[tainted]",
    ),
    Mutant(
        "silence of a node that is in doubt",
        "a gang is taken back whose node has just come back",
        "k8s_bridge/ledger/unanswered_bindings.py",
        "        self._failing_since = self._throttled_since = None\n        self.said = f",
        "        self.said = f",
        "tests/k8s_bridge/scheduling/test_unanswered_bindings.py"
        "::test_what_was_silent_before_its_node_was_in_doubt_does_not_count",
    ),
    Mutant(
        "places are kept until their members stand there",
        "a gang that was evicted for a drain loses its places, as a write of its record failed",
        "k8s_bridge/relocation/next_action.py",
        "if view.have_arrived(one) else REST\n",
        "if True else REST\n",
        "tests/k8s_bridge/relocation/test_seats_of_lost_commits.py"
        "::test_places_are_kept_until_their_members_stand_there",
    ),
    Mutant(
        "who came back late from a commit is planned again",
        "a gang whose record was deleted late waits until something else changes, for ever maybe",
        "k8s_bridge/leader.py",
        " or freed or parts.cycle.has_come_back:",
        " or freed:",
        "tests/k8s_bridge/relocation/test_seats_of_lost_commits.py"
        "::test_places_are_kept_until_their_members_stand_there",
    ),
)
