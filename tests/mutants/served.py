"""Safeguards of what has been evicted for, of judgements, of the lead and of lists."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

CLAIMED = "tests/k8s_bridge/relocation/test_claimed_devices.py"
SIDE = "tests/k8s_bridge/relocation/test_side_by_side.py"
AS_PLANNED = "tests/k8s_bridge/relocation/test_as_planned.py"
PREEMPTION = "tests/k8s_bridge/relocation/test_preemption.py"
STORE = "tests/k8s_bridge/relocation/test_store.py"
MOVING = "tests/k8s_bridge/relocation/test_moving.py"
JUDGE = "tests/k8s_bridge/node_health/test_judge.py"
HEARTBEATS = "tests/k8s_bridge/node_health/test_heartbeats.py"
ELECTION = "tests/k8s_bridge/election/test_election.py"
SCHEDULER = "tests/k8s_bridge/test_scheduler.py"
CURRENT = "tests/k8s_bridge/informers/test_out_of_date.py"
LISTS = "tests/k8s_bridge/informers/test_lists.py"

SERVED = (
    Mutant(
        "victims that are being bound",
        "pods are evicted beside others that are on their way to the same nodes",
        "k8s_bridge/relocation/preemption.py",
        "            and one.gang.key not in busy\n",
        "",
        f"{PREEMPTION}::test_a_gang_that_is_being_bound_is_no_victim",
    ),
    Mutant(
        "seats are looked at before somebody goes",
        "a pod is evicted for a place on a node that was cordoned a while ago",
        "k8s_bridge/relocation/executor.py",
        "            closed = await self._closed_seat(one, due, view)\n",
        '            closed = ""\n',
        f"{PREEMPTION}::test_nobody_goes_for_a_seat_that_has_been_closed",
    ),
    Mutant(
        "the end of a process whose term fails",
        "a process that was told to end campaigns again",
        "k8s_bridge/scheduler.py",
        "            if task is not None and task.cancelling():\n",
        "            if task is None:\n",
        f"{SCHEDULER}::test_one_that_is_to_end_while_its_term_fails_ends",
    ),
    Mutant(
        "evictions wait for the plan under way",
        "a pod is evicted for a gang that finds room elsewhere in the cycle under way",
        "k8s_bridge/relocation/controller.py",
        "or now < self._next_look or is_outdated:",
        "or now < self._next_look:",
        f"{PREEMPTION}::test_evictions_wait_for_a_plan_that_is_under_way_but_not_for_long",
    ),
    Mutant(
        "evictions wait for no plan for long",
        "where something changes all the time no gang may ever preempt",
        "k8s_bridge/relocation/controller.py",
        "if now - self._outdated_since < OUTDATED_PLAN_LIMIT_SECONDS:",
        "if self._outdated_since <= now:",
        f"{PREEMPTION}::test_evictions_wait_for_a_plan_that_is_under_way_but_not_for_long",
    ),
    Mutant(
        "places of claimed devices",
        "a gang that claims its devices never comes to the places that others were evicted for",
        "k8s_bridge/relocation/next_action.py",
        "requests = {pod: counted(role.request) for",
        "requests = {pod: role.request for",
        f"{CLAIMED}::test_members_that_claim_are_seated_where_their_places_are_kept",
    ),
    Mutant(
        "members that have come count once",
        "of two members that move to one node the second loses its place after it was evicted",
        "k8s_bridge/relocation/cluster_view.py",
        "if arrived[one.gang, seat.node] and not seat.waits:",
        "if arrived[one.gang, seat.node] < 0:",
        f"{SIDE}::test_who_has_come_counts_once[]",
    ),
    Mutant(
        "members that their owner has made anew",
        "the same of a single pod, whose replacement goes by another name",
        "k8s_bridge/relocation/cluster_view.py",
        "if key is None and owners:",
        "if key is None and not owners:",
        f"{SIDE}::test_who_has_come_counts_once[training]",
    ),
    Mutant(
        "a pod of the same name is no leaver",
        "a pod that was made anew, and runs elsewhere, is evicted",
        "k8s_bridge/relocation/from_plan.py",
        "return seen if seen is not None and stood == (seen.pod.uid if seen.node else "
        '"") else None',
        "return seen",
        f"{AS_PLANNED}::test_another_of_that_name_is_not_told_to_go",
    ),
    Mutant(
        "late requests of an old leader",
        "a relocation that its leader wrote too late counts as the new one's",
        "k8s_bridge/relocation/store.py",
        "        if found is not None and found.epoch == self.epoch:",
        "        if found is not None:",
        f"{STORE}::test_a_sweep_deletes_what_came_late",
    ),
    Mutant(
        "room that others have taken",
        "a member is evicted although its new place is gone",
        "k8s_bridge/relocation/next_action.py",
        "    if evicts and not view.fits_in_the_end(one):",
        "    if not evicts and not view.fits_in_the_end(one):",
        f"{MOVING}::test_who_has_waited_for_long_is_helped_too",
    ),
    Mutant(
        "two accounts of a death",
        "a kubelet that is late is dead without a look at its host",
        "k8s_bridge/node_health/judge.py",
        "    if signs.answers is False and signs.silence is not None and signs.silence > limit:",
        "    if signs.silence is not None and signs.silence > limit:",
        f"{JUDGE}::test_two_accounts_make_a_node_dead[signs7-None]",
    ),
    Mutant(
        "a host that answers",
        "a node is dead by what the API says, while its host answers",
        "k8s_bridge/node_health/judge.py",
        "    if signs.answers:\n        return None\n",
        "",
        f"{JUDGE}::test_two_accounts_make_a_node_dead[signs13-None]",
    ),
    Mutant(
        "a node that is no longer probed",
        "a dead node counts as back once nobody asks it any more",
        "k8s_bridge/node_health/judge.py",
        "return _returning(now) if _has_come_back(before, signs, limits) else before",
        "return _returning(now)",
        f"{JUDGE}::test_an_answer_alone_does_not_raise_the_dead",
    ),
    Mutant(
        "a return starts anew",
        "a node that flaps is given to gangs by and by",
        "k8s_bridge/node_health/judge.py",
        "            return replace(before, since=now)\n",
        "            return before\n",
        f"{JUDGE}::test_the_dead_return_after_they_have_been_well_for_a_while",
    ),
    Mutant(
        "a rack dies at once",
        "the nodes of a dead rack are found one after the other, and gangs are repaired onto them",
        "k8s_bridge/node_health/judge.py",
        " if signs.leaf_dead else limits.silent",
        " if not signs else limits.silent",
        f"{JUDGE}::test_two_accounts_make_a_node_dead[signs9-Silent]",
    ),
    Mutant(
        "a deletion that the server has confirmed",
        "a node that a stale list lacks is dead",
        "k8s_bridge/node_health/judge.py",
        "return Cause.DELETED if signs.deleted else None",
        "return Cause.DELETED",
        f"{JUDGE}::test_two_accounts_make_a_node_dead[signs1-None]",
    ),
    Mutant(
        "heartbeats by our own clock",
        "the same renewal heard again counts as a heartbeat",
        "k8s_bridge/node_health/heartbeats.py",
        "        if self._renewed.get(node) == renewed:\n            return\n",
        "",
        f"{HEARTBEATS}::test_silence_is_counted_from_the_last_change",
    ),
    Mutant(
        "a new count after a common silence",
        "all nodes are dead at once when the API is back",
        "k8s_bridge/node_health/heartbeats.py",
        "node: heard + uncounted if node in self._resumed else now\n",
        "node: heard\n",
        f"{HEARTBEATS}::test_a_silence_of_everybody_counts_for_nobody",
    ),
    Mutant(
        "the lease is counted from before it was sent",
        "a leader whose renewal took long leads on after another has begun",
        "k8s_bridge/election/election.py",
        "        sent = self._clock.monotonic()\n"
        "        await self._write(self.identity, self._seen, epoch)\n        self._extend(sent)",
        "        await self._write(self.identity, self._seen, epoch)\n"
        "        self._extend(self._clock.monotonic())",
        f"{ELECTION}::test_a_slow_renewal_gives_no_more_time",
    ),
    Mutant(
        "the margin of a leader",
        "a leader stops at the moment in which another may begin",
        "k8s_bridge/election/election.py",
        " - self._timing.margin)",
        ")",
        f"{ELECTION}::test_a_killed_leader_is_followed_after_its_lease",
    ),
    Mutant(
        "a lease that others hold",
        "the lead is taken from a leader that renews in time",
        "k8s_bridge/election/election.py",
        "        if seen is not None and others and not self._expired(seen):",
        "        if seen is None and others:",
        f"{ELECTION}::test_the_first_leads_at_once",
    ),
    Mutant(
        "another has the lead",
        "a leader whose lease was taken goes on until its time is over",
        "k8s_bridge/election/election.py",
        "        if self.leader != self.identity:\n"
        "            self._gate.shut()\n            raise",
        '        if self.leader == "?":\n            self._gate.shut()\n            raise',
        f"{ELECTION}::test_a_lease_that_vanishes_is_written_again",
    ),
    Mutant(
        "evictions pass the gate",
        "a leader that was replaced evicts pods",
        "k8s_bridge/election/gate.py",
        "            self._gate.check()\n            await self._cluster.evict(",
        "            await self._cluster.evict(",
        f"{ELECTION}::test_no_write_of_any_sort_passes_a_shut_gate[evict]",
    ),
    Mutant(
        "bindings pass the gate",
        "a leader that was replaced binds pods",
        "k8s_bridge/election/gate.py",
        "            self._gate.check()\n            await self._cluster.bind(binding, dry_run)",
        "            await self._cluster.bind(binding, dry_run)",
        f"{ELECTION}::test_no_write_of_any_sort_passes_a_shut_gate[bind]",
    ),
    Mutant(
        "a list after a failure is new",
        "a cache that lags answers again and again with what has just failed",
        "k8s_bridge/informers/reflector.py",
        "        cached = False\n",
        "        cached = cached and True\n",
        f"{LISTS}::test_only_a_first_list_may_come_from_a_cache",
    ),
    Mutant(
        "older lists",
        "a list from a cache that lags brings back what is gone",
        "k8s_bridge/informers/resource_version.py",
        "        if self.is_behind:\n            return False\n",
        "",
        f"{LISTS}::test_a_stale_list_is_asked_for_again",
    ),
    Mutant(
        "silent watches end",
        "a watch that hears nothing for ever keeps a leader on an old cluster",
        "k8s_bridge/informers/watchdog.py",
        "                limit.reschedule(0)",
        "                del limit",
        "tests/k8s_bridge/informers/test_watchdog.py::test_a_wait_is_due_by_its_own_beginning[0]",
    ),
    Mutant(
        "silence is not readiness",
        "a leader that hears nothing of pods counts as ready",
        "k8s_bridge/informers/health.py",
        "known and self.age(now) <= SILENT_SECONDS and",
        "known and",
        f"{CURRENT}::test_a_server_that_hangs",
    ),
    Mutant(
        "failing is not readiness",
        "a scheduler whose API refuses everything counts as ready for minutes",
        "k8s_bridge/informers/health.py",
        " and failing <= FAILING_SECONDS",
        "",
        f"{CURRENT}::test_an_api_that_refuses",
    ),
    Mutant(
        "a quiet kind is up to date",
        "the first page of a healthy, quiet cluster says that nothing is up to date",
        "k8s_bridge/informers/watch.py",
        "        context.pulse.opened(context.timeouts.steady_after)\n",
        "",
        f"{CURRENT}::test_ten_quiet_minutes",
    ),
    Mutant(
        "a watch that does not last says nothing",
        "a server that takes each watch and ends it with an error counts as heard",
        "k8s_bridge/informers/health.py",
        "self._clock.monotonic() < self._opened[1]",
        "False",
        f"{CURRENT}::test_watches_that_are_taken_and_broken",
    ),
    Mutant(
        "late answers about an earlier pod of a name",
        "the pod that is there now is forgotten, and the one before it planned in its place",
        "k8s_bridge/cache/cluster_cache.py",
        "if newer is not None and int(newer.pod.version) > version:",
        "if False:",
        "tests/k8s_bridge/cache/test_cluster_cache.py"
        "::test_a_late_answer_about_the_first_pod_of_a_name_does_not_hide_the_second",
    ),
)
