"""Safeguards of repairs and kept places: who counts, what fits, and when a place is given up."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

ENDED = "tests/model/readers/gangs/test_ended_members.py"
TAKEN = "tests/model/readers/pods/test_taken_room.py"
SIZES = "tests/k8s_bridge/ledger/test_sizes.py"
VOLUMES = "tests/k8s_bridge/scheduling/test_volumes.py"
ROOM = "tests/k8s_bridge/relocation/test_record_room.py"

REPAIR = "tests/k8s_bridge/relocation/test_repair.py"
LATE = "tests/k8s_bridge/relocation/test_late_members.py"
RESERVATION = "tests/k8s_bridge/relocation/test_reservation.py"

KEPT_PLACES = (
    Mutant(
        "reservations of gangs that could not start",
        "a tenant that deletes one pod keeps the whole cluster idle for an hour",
        "k8s_bridge/relocation/next_action.py",
        "if one.purpose is Purpose.RESERVATION and _is_unready(one, view):",
        "if False:",
        f"{RESERVATION}::test_what_could_not_start_keeps_nothing[one]",
    ),
    Mutant(
        "places that nothing but room keeps free",
        "a gang that the API never binds keeps nodes idle for an hour",
        "k8s_bridge/relocation/tenants/kept_room.py",
        "        if now - self._free_since.get(one.gang, now) >= START_SECONDS:\n",
        "        if False:\n",
        f"{RESERVATION}::test_what_the_api_never_binds_keeps_nothing",
    ),
    Mutant(
        "shares of the room that is kept",
        "one pod that never ends keeps all other nodes idle for a gang that waits for it",
        "k8s_bridge/relocation/tenants/kept_room.py",
        '        return OVER_SHARE if is_over else ""\n',
        '        return ""\n',
        f"{RESERVATION}::test_room_beyond_the_share_is_kept_for_a_while[False]",
    ),
    Mutant(
        "turns after a place was left unused",
        "a tenant that takes a pod back again and again has a place kept again and again",
        "k8s_bridge/relocation/reservation.py",
        "            and not self._room.rests(gang.key.namespace, after)\n",
        "",
        f"{RESERVATION}::test_others_come_first_after_a_member_was_taken_back",
    ),
    Mutant(
        "turns after a place was kept in vain",
        "a gang that waits for a pod that never ends has the one place that is kept for ever",
        "k8s_bridge/relocation/tenants/kept_room.py",
        "        return -math.inf if last is None else last.at\n",
        "        return -math.inf\n",
        f"{RESERVATION}::test_others_come_first_after_an_hour_in_vain",
    ),
    Mutant(
        "backfill beside gangs that are seated",
        "a gang takes a place for a while that the one it is kept for takes in the same cycle",
        "k8s_bridge/relocation/backfill.py",
        "        reserved.pop(seated, None)\n",
        "        pass\n",
        "tests/k8s_bridge/relocation/test_backfill.py"
        "::test_a_reservation_that_is_being_taken_lends_nothing[True]",
    ),
    Mutant(
        "places while the owner is to make pods",
        "pods that ran are evicted for members whose Job makes them after their places are gone",
        "k8s_bridge/relocation/next_action.py",
        "return _has_come(one, view) or bool(view.lacking(one))",
        "return False",
        f"{LATE}::test_places_are_kept_while_the_job_backs_off[2-2]",
    ),
    Mutant(
        "members that have come wait for their places",
        "the places of members that have come late are given up in the moment they come",
        "k8s_bridge/relocation/next_action.py",
        "return _has_come(one, view) or bool(view.lacking(one))",
        "return bool(view.lacking(one))",
        f"{LATE}::test_places_are_kept_while_the_job_backs_off[1-1]",
    ),
    Mutant(
        "places of an owner that never makes pods",
        "an owner that another controller holds back keeps nodes idle for ever",
        "k8s_bridge/relocation/next_action.py",
        "if view.age(one) >= limit or all(seat.waits for seat in one.seats):",
        "if all(seat.waits for seat in one.seats):",
        f"{LATE}::test_not_for_ever",
    ),
    Mutant(
        "places that no pod is to have",
        "nodes stand idle for minutes after their Job has failed",
        "k8s_bridge/relocation/next_action.py",
        "if not there and not _has_come(one, view) and view.lacking(one) == 0:",
        "if False:",
        f"{LATE}::test_a_job_that_makes_no_more_has_none",
    ),
    Mutant(
        "owners of before",
        "places are kept for a Job of the same name that was made since",
        "k8s_bridge/relocation/pod_makers.py",
        "if body is None or _made_at(body) > since:",
        "if body is None:",
        f"{LATE}::test_one_that_was_made_since_is_another[later]",
    ),
    Mutant(
        "owners that others make anew",
        "a JobSet that starts over loses the places that are kept for its members",
        "k8s_bridge/relocation/pod_makers.py",
        "        if answer.final and _is_made_anew(body):\n",
        "        if False:\n",
        f"{LATE}::test_what_a_job_set_makes_anew_has_not_ended[failed-JobSet-None]",
    ),
    Mutant(
        "owners whose names fit by chance",
        "places are given back since another Job, whose name begins alike, has ended",
        "k8s_bridge/relocation/pod_makers.py",
        'if (spec.get("completionMode") == "Indexed") is not indexed:',
        "if False:",
        f"{LATE}::test_names_that_a_maker_gives_to_no_pod[g-0-x7k2p-kind4-g]",
    ),
    Mutant(
        "pods of a controller: those that are gone",
        "a Job that lacks a pod seems to have all of them, and its places are given back",
        "k8s_bridge/cache/cluster_cache.py",
        "return sum(not pod.finished and not pod.deleting for pod in pods)",
        "return len(list(pods))",
        f"{LATE}::test_the_live_pods_of_a_controller",
    ),
    Mutant(
        "ages of relocations by no wall clock",
        "a clock that is set forward takes the places of pods that were evicted for them",
        "k8s_bridge/relocation/ages.py",
        "key: known.get(key, now - max(0.0, self.clock.wall() - one.opened))",
        "key: now - max(0.0, self.clock.wall() - one.opened)",
        f"{LATE}::test_no_wall_clock_ends_it",
    ),
    Mutant(
        "successes count once",
        "two of three pods of a Job start without the third, as one that is done counts twice",
        "model/readers/gangs/minimum_size.py",
        "return job_need(job, ended) if job else NO_NEED",
        "return job_need(job, 0) if job else NO_NEED",
        f"{ENDED}::test_a_success_counts_once[1]",
    ),
    Mutant(
        "successes that are being deleted",
        "a gang that starts over starts without some of its members",
        "model/readers/gangs/drafts.py",
        'if pod.phase == "Succeeded" and not pod.terminating and pod.owners.missing is None',
        'if pod.phase == "Succeeded" and pod.owners.missing is None',
        f"{ENDED}::test_a_success_that_is_being_deleted_makes_nothing_needless",
    ),
    Mutant(
        "successes of an owner that is gone",
        "the second Job of a group starts without some of its pods, for what the first has done",
        "model/readers/gangs/drafts.py",
        'if pod.phase == "Succeeded" and not pod.terminating and pod.owners.missing is None',
        'if pod.phase == "Succeeded" and not pod.terminating',
        f"{ENDED}::test_a_success_of_a_job_that_is_gone_makes_nothing_needless",
    ),
    Mutant(
        "resizes that no condition speaks of",
        "room is given away that a container still holds, in the moment after it was resized down",
        "k8s_bridge/cluster/slim.py",
        "    return all(one is None or one == (asked or {}) for one in said)\n",
        "    return bool(said)\n",
        "tests/k8s_bridge/cluster/test_slim.py::test_a_resize_that_is_not_made_yet_is_kept[told0]",
    ),
    Mutant(
        "nodes of a packed envelope",
        "a version that cannot read a large relocation gives its nodes to others",
        "k8s_bridge/ledger/formats/envelope.py",
        "        return [*self.nodes, *more]\n",
        "        return self.nodes\n",
        f"{SIZES}::test_a_relocation_over_thousands_of_nodes_fits[8-3992]",
    ),
    Mutant(
        "patience with volumes that do not come",
        "a gang whose volume never comes holds its nodes for ten minutes each time",
        "k8s_bridge/ledger/volume_provisioning.py",
        "                    limit = self.patience.limit(source, uid)\n",
        "",
        f"{VOLUMES}::test_a_gang_whose_volume_never_comes_lets_others_run",
    ),
    Mutant(
        "stepping back after a volume did not come",
        "a gang whose volume never comes takes the nodes again before others are looked at",
        "k8s_bridge/wiring.py",
        "        self.backoff.note(commit.gang, why, max(waits, default=0.0))\n",
        "        self.backoff.note(commit.gang, why)\n",
        f"{VOLUMES}::test_a_gang_whose_volume_never_comes_steps_back",
    ),
    Mutant(
        "relocations that no Lease can hold",
        "the same repair is planned every few seconds, and nothing says why none is made",
        "k8s_bridge/relocation/repair.py",
        "            and not self._room.forbids(one)\n",
        "",
        f"{ROOM}::test_a_repair_that_has_no_room_says_so",
    ),
    Mutant(
        "preemptions that no Lease can hold",
        "a gang of the highest priority waits, and nothing says that its victims are too many",
        "k8s_bridge/relocation/preemption.py",
        "if why := self.store.lacks_room(relocation):",
        "if why := str():",
        f"{ROOM}::test_a_preemption_that_has_no_room_says_so",
    ),
    Mutant(
        "places kept while a plan was made",
        "a plan of before ends a relocation whose pods have been evicted already",
        "k8s_bridge/scheduling/revalidate.py",
        "        why = why or _elsewhere(placement, kept)\n",
        "",
        "tests/k8s_bridge/scheduling/test_revalidate.py"
        "::test_a_gang_starts_where_places_are_kept_for_it",
    ),
    Mutant(
        "lost pods alone end at once",
        "pods that live and move lose the time in which they write their checkpoint",
        "k8s_bridge/relocation/executor.py",
        "return leaver.lost and self.cache",
        "return self.cache",
        f"{REPAIR}::test_pods_that_live_have_their_time",
    ),
)
