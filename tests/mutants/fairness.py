"""The safeguards of tenants from each other, how to take each out, and who notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

BATCH = "tests/solver/batch/test_select_batch.py"
ALIKE = "tests/model/readers/gangs/test_many_alike.py"
TIME = "tests/k8s_bridge/scheduling/test_solver_time.py"
MEMORY = "tests/solver/process/test_memory_limit.py"
AUDIT = "tests/k8s_bridge/reporting/test_audit.py"
WAITS = "tests/k8s_bridge/reporting/test_pod_scheduled.py"
LIVE = "tests/model/readers/live/test_live.py"
JUDGED = "tests/k8s_bridge/scheduling/test_judged_alike.py"
FLAT = "tests/k8s_bridge/test_memory_stays_flat.py"
TELLING = "tests/k8s_bridge/reporting/test_write_queue.py"

FAIRNESS = (
    Mutant(
        "costs within a namespace",
        "a tenant that says that a move costs a million is never preempted",
        "k8s_bridge/relocation/preemption.py",
        "standing = scaled(self.overstays.first(lower))",
        "standing = tuple(self.overstays.first(lower))",
        "tests/k8s_bridge/relocation/test_preemption.py"
        "::test_a_cost_counts_beside_its_own_namespace_alone",
    ),
    Mutant(
        "evictions that a namespace causes",
        "a tenant with a high priority has pods of others evicted all day for gangs of a second",
        "k8s_bridge/relocation/preemption.py",
        "limits = (*limits, *own)",
        "limits = (*limits,)",
        "tests/k8s_bridge/relocation/test_caused_evictions.py"
        "::test_a_namespace_has_no_more_evicted_than_it_may",
    ),
    Mutant(
        "evictions that a leader leaves to the next",
        "each new leader lets every tenant evict anew",
        "k8s_bridge/relocation/evictions/history.py",
        "        await self._saved.save(lambda: self.rows)\n",
        "        self._saved.changed()\n",
        "tests/k8s_bridge/relocation/test_caused_evictions.py"
        "::test_a_namespace_has_no_more_evicted_than_it_may",
    ),
    Mutant(
        "pods with too much of anything",
        "a pod of a hundred thousand empty containers takes the webhook's memory and its time",
        "webhook/excess.py",
        "if sum(map(len, lists)) > MOST_CONTAINERS:",
        "if sum(map(len, lists)) > 10 * MOST_CONTAINERS:",
        "tests/webhook/validate/test_pods.py::test_too_much_of_anything_is_refused_unread",
    ),
    Mutant(
        "fair queue of dear reviews",
        "long reviews of one client keep the reviews of all others waiting",
        "webhook/http/fair_queue.py",
        "                self._waiting[address] = own",
        "                self._waiting = {address: own, **self._waiting}",
        "tests/webhook/http/test_fair_queue.py::test_addresses_pass_by_round_robin",
    ),
    Mutant(
        "who overstays is evicted first",
        "a gang that says a minute and stays for a day is spared as all others are",
        "k8s_bridge/relocation/preemption.py",
        "standing = scaled(self.overstays.first(lower))",
        "standing = scaled(lower)",
        "tests/k8s_bridge/relocation/test_preemption.py::test_who_overstays_is_evicted_first",
    ),
    Mutant(
        "gangs of one name in two namespaces",
        "a tenant has gangs of others told as invalid, and learns what they are called",
        "model/readers/live/beside_others.py",
        "                whole=True,\n",
        "",
        "tests/k8s_bridge/cache/test_cluster_cache.py"
        "::test_what_others_call_their_gangs_is_nothing_to_a_tenant",
    ),
    Mutant(
        "ages of gangs that hold themselves back",
        "a gang whose last member comes an hour later goes before all that came in that hour",
        "k8s_bridge/cache/cluster_cache.py",
        "        if self._reader.date_anew(now):\n",
        "        if False:\n",
        "tests/k8s_bridge/cache/test_cluster_cache.py"
        "::test_a_gang_that_holds_itself_back_collects_no_age[comes late]",
    ),
    Mutant(
        "costs of moves by GPUs",
        "pods without GPUs make the gangs of their tenant as dear as it likes",
        "k8s_bridge/relocation/tenants/move_costs.py",
        "        size = _gpus(one) if name in with_gpus else len(one.live)\n",
        "        size = len(one.live)\n",
        "tests/k8s_bridge/relocation/test_preemption.py::test_pods_without_gpus_make_no_others_dear",
    ),
    Mutant(
        "places that were not lent",
        "a gang that is late on a place of its own is evicted for one of its own priority",
        "k8s_bridge/relocation/tenants/overstays.py",
        "            if gang in offered:\n",
        "            if True:\n",
        "tests/k8s_bridge/relocation/test_reservation.py"
        "::test_who_was_lent_nothing_gives_nothing_back",
    ),
    Mutant(
        "turns of namespaces: reservations",
        "a dozen gangs that have no place anywhere keep others from having one kept",
        "k8s_bridge/relocation/reservation.py",
        "        last = max(self._room.left_unused(name), self._in_vain.in_namespace(name))\n",
        "        last = self._room.left_unused(name)\n",
        "tests/k8s_bridge/relocation/test_reservation.py"
        "::test_gangs_without_any_place_keep_no_other_waiting",
    ),
    Mutant(
        "turns of namespaces: preemptions",
        "gangs that no victim helps, more of them all the time, keep others from preempting",
        "k8s_bridge/relocation/preemption.py",
        "        vain = self._in_vain.in_namespace(gang.key.namespace)\n",
        "        vain = 0.0\n",
        "tests/k8s_bridge/relocation/test_preemption.py"
        "::test_gangs_that_no_victim_helps_keep_no_other_waiting",
    ),
    Mutant(
        "room that was lent",
        "a gang of ten seconds, as it says, takes room that is kept for another for good",
        "k8s_bridge/relocation/preemption.py",
        "if (one.gang.priority < gang.priority or one.gang.key in squatters)",
        "if one.gang.priority < gang.priority",
        "tests/k8s_bridge/relocation/test_reservation.py"
        "::test_who_stays_longer_than_declared_gives_the_room_back",
    ),
    Mutant(
        "ends as they were declared first",
        "a gang that is let into kept room for ten seconds says an hour once it is there",
        "k8s_bridge/relocation/tenants/overstays.py",
        "ends[uid] = min(declared)",
        "ends[uid] = declared[0]",
        "tests/k8s_bridge/relocation/test_reservation.py"
        "::test_who_stays_longer_than_declared_gives_the_room_back",
    ),
    Mutant(
        "namespaces that are lent no room",
        "a tenant whose pods never end in time fills kept room again and again",
        "k8s_bridge/relocation/backfill.py",
        "        and not is_barred(gang.key.namespace)\n",
        "",
        "tests/k8s_bridge/relocation/test_reservation.py::test_who_overstayed_is_lent_no_more",
    ),
    Mutant(
        "age behind gates",
        "a tenant keeps gangs behind gates of its own until they are the oldest of all",
        "model/readers/gangs/drafts.py",
        "return max([first, *(pod.opened for pod in members if pod.opened is not None)])",
        "return first",
        "tests/k8s_bridge/cache/test_cluster_cache.py::test_a_gang_waits_since_its_last_gate_went",
    ),
    Mutant(
        "batch: turns of namespaces",
        "the backlog of one namespace fills every batch, and no other is looked at",
        "solver/instance/gang_classes.py",
        "order.append((-gang.priority, turns[queue], gang))",
        "order.append((-gang.priority, 0, gang))",
        f"{BATCH}::test_namespaces_take_turns_in_a_full_batch",
    ),
    Mutant(
        "own plan: share of one gang",
        "one gang of many different members takes all the time, and nothing is placed",
        "solver/batch/greedy.py",
        "with time_share(now + (until - now) / (SHARE_OF_ONE_GANG if queue else 1)):",
        "with time_share(until):",
        f"{BATCH}::test_a_gang_that_takes_more_than_its_share_is_given_up",
    ),
    Mutant(
        "comparisons of a namespace",
        "pods with terms of their own block the event loop until the lead is lost",
        "model/readers/gangs/mind_others.py",
        "if not self.begin(draft) or not draft.waiting:",
        "if not draft.waiting or self._spent:",
        f"{ALIKE}::test_who_causes_too_many_comparisons_is_held_and_no_one_else",
    ),
    Mutant(
        "splits under Preferred",
        "a gang of many different members is never placed where no window is free",
        "solver/cpsat/preferred_gangs.py",
        "            found[leaf] = (counts,)\n",
        "            found[leaf] = ()\n",
        f"{BATCH}::test_a_gang_alone_of_too_many_splits_is_placed",
    ),
    Mutant(
        "splits that the validator looks at",
        "a gang of many different members keeps the check of every plan busy, and none is kept",
        "model/validator/locations.py",
        "if self.room.single or splits(self.kind.sizes) > MOST_SPLITS:",
        "if self.room.single:",
        f"{BATCH}::test_no_split_of_many_is_looked_for_where_filling_fails",
    ),
    Mutant(
        "own plan: again after the others",
        "a large gang is given up although there is time left",
        "solver/batch/greedy.py",
        "                queue.append(gang)\n",
        "                continue\n",
        f"{BATCH}::test_a_gang_that_took_its_share_has_what_others_leave",
    ),
    Mutant(
        "constraints of a pod: kept text",
        "a few hundred pods of a megabyte each fill the memory of every replica",
        "k8s_bridge/cluster/slim.py",
        "    if is_too_long(spec):\n",
        "    if False:\n",
        "tests/k8s_bridge/cluster/test_slim.py::test_constraints_that_are_too_long_are_not_kept",
    ),
    Mutant(
        "parts of pods: bounded by length",
        "30,000 pods that came and went leave 150 MiB of each replica",
        "k8s_bridge/cluster/shared_parts.py",
        "        if self._characters > self._half:\n",
        "        if len(self._young) > 2**15:\n",
        "tests/k8s_bridge/cluster/test_shared_parts.py"
        "::test_their_length_is_bounded_whatever_their_number",
    ),
    Mutant(
        "event series: over",
        "what was told of pods that are gone stays in the leader",
        "k8s_bridge/reporting/recorder/event_series.py",
        "            if not silent and len(self._runs) <= _MOST_SERIES:\n",
        "            if len(self._runs) <= _MOST_SERIES:\n",
        f"{FLAT}::test_waves_of_hostile_pods_leave_nothing_behind[3-40]",
    ),
    Mutant(
        "bandwidth: kept text",
        "4,000 pods with a bandwidth behind much space fill the memory of every replica",
        "model/quantity.py",
        "    return _mbits(text.strip())\n",
        "    return _mbits(text)\n",
        f"{FLAT}::test_space_around_a_wish_is_not_kept",
    ),
    Mutant(
        "solver time: by what is asked for",
        "a gang of equal pods pays for what another namespace's odd ones cost",
        "k8s_bridge/scheduling/holds/solver_time.py",
        "kinds.setdefault(gang.key.namespace, {})[gang_kind(gang)] = len(gang.roles)",
        "kinds.setdefault(gang.key.namespace, {})[gang_kind(gang)] = "
        "sum(role.size for role in gang.roles)",
        f"{TIME}::test_seconds_are_shared_by_what_is_asked_for",
    ),
    Mutant(
        "telling: guard",
        "an object of a tenant that makes no sense ends the term of every leader",
        "k8s_bridge/reporting/guard.py",
        "        except Exception as error:\n",
        "        except ZeroDivisionError as error:\n",
        "tests/k8s_bridge/test_scheduler.py::test_what_cannot_be_told_ends_no_term",
    ),
    Mutant(
        "telling: a group that makes no sense",
        "one PodGroup of a kind without a schema keeps the status of all others from being told",
        "k8s_bridge/reporting/pod_groups/statuses.py",
        "        except (TypeError, ValueError, AttributeError, KeyError) as error:\n",
        "        except ZeroDivisionError as error:\n",
        "tests/k8s_bridge/reporting/test_pod_groups.py"
        "::test_a_group_that_makes_no_sense_keeps_no_other_from_being_told",
    ),
    Mutant(
        "memory of the solver: container",
        "the kernel ends the whole replica where only the solver took too much",
        "solver/process/memory_limit.py",
        "return min(mib, max(LEAST_MIB, limit - others - SPARE_MIB))",
        "return mib",
        f"{MEMORY}::test_what_others_hold_and_may_come_to_hold_is_left_to_them",
    ),
    Mutant(
        "set aside: the part of a namespace",
        "gangs that cannot start keep the others of their namespace out of every batch",
        "k8s_bridge/scheduling/set_aside.py",
        "full = (ReasonKind.NOT_IN_BATCH, ReasonKind.NAMESPACE_LIMIT)",
        "full = (ReasonKind.NOT_IN_BATCH,)",
        "tests/k8s_bridge/scheduling/test_aside_bounds.py"
        "::test_half_of_the_room_of_a_namespace_is_for_who_was_not_looked_at",
    ),
    Mutant(
        "what decides in a config asks again",
        "gangs stand aside for good, though a quota was raised that alone kept them",
        "k8s_bridge/scheduling/judged_alike.py",
        'frozenset({"max_gangs", ',
        'frozenset({"gpu_quota", "max_gangs", ',
        f"{JUDGED}::test_an_edit_asks_again_where_it_may_give_a_place",
    ),
    Mutant(
        "weights ask no gang again",
        "each edit of a weight has all gangs looked at that have no place by any weight",
        "k8s_bridge/scheduling/set_aside.py",
        "not self._is_judged_alike(snapshot.config)",
        "snapshot.config is not self._config",
        f"{JUDGED}::test_an_edit_asks_again_where_it_may_give_a_place",
    ),
    Mutant(
        "one answer for gangs alike",
        "thousands of hopeless gangs that ask for the same are looked at one by one",
        "k8s_bridge/scheduling/set_aside.py",
        "        self._join(self._queue.others(snapshot.gangs, self._aside))\n",
        "",
        "tests/k8s_bridge/scheduling/test_set_aside.py"
        "::test_what_holds_of_one_gang_holds_of_all_alike",
    ),
    Mutant(
        "an answer is of one namespace and kind",
        "a gang is told what holds of another namespace's, whose domains are others",
        "k8s_bridge/scheduling/set_aside.py",
        "reason = self._hopeless.get((gang.key.namespace, gang_kind(gang)))",
        "reason = next(iter(self._hopeless.values()), None)",
        "tests/k8s_bridge/scheduling/test_set_aside.py"
        "::test_another_kind_namespace_or_rule_is_another_answer",
    ),
    Mutant(
        "gangs on hold are kept from the solver",
        "thousands of gangs that lack a pod are sent to the solver and explained in every cycle",
        "k8s_bridge/scheduling/cycle.py",
        "able, held = self.held_gangs.apart(free)",
        "able, held = free, ()",
        "tests/k8s_bridge/scheduling/test_held_gangs.py::test_the_solver_does_not_see_them",
    ),
    Mutant(
        "a hold that changes is another answer",
        "a gang is told why it waited once, and not why it does now",
        "k8s_bridge/scheduling/holds/held_gangs.py",
        "before = known.get(id(gang))",
        "before = next((k for k in known.values() if k[0].key == gang.key), None)",
        "tests/k8s_bridge/scheduling/test_held_gangs.py"
        "::test_a_gang_that_stays_as_it_is_keeps_its_answer",
    ),
    Mutant(
        "problems that come or go are put in order",
        "what is wrong is told in an order that depends on what came first, or for ever",
        "model/readers/live/known_problems.py",
        "            del self._in_order[at]\n",
        "            pass\n",
        "tests/model/readers/live/test_known_problems.py"
        "::test_they_are_in_order_whatever_comes_and_goes[0]",
    ),
    Mutant(
        "a rest ends where a gang becomes fit",
        "a gang whose last pod comes after a cycle without result waits for up to a second",
        "k8s_bridge/leader.py",
        "if cache.arrivals() != report.reading.arrivals:",
        "if False:",
        "tests/k8s_bridge/test_scheduler.py"
        "::test_a_gang_whose_last_pod_comes_during_a_rest_is_bound_at_once",
    ),
    Mutant(
        "a rest is not spent on reading",
        "a leader reads the gangs of every few bindings again, 50 times a second",
        "k8s_bridge/leader.py",
        "rest = max(self.pace.settle, (clock.monotonic() - looked) / LOOKING_SHARE)",
        "rest = self.pace.settle",
        "tests/k8s_bridge/test_scheduler.py"
        "::test_a_rest_is_not_spent_on_reading_what_changes_without_end",
    ),
    Mutant(
        "arrivals take nothing from a reading",
        "what was taken in between two readings is in neither",
        "model/readers/live/reader.py",
        "        self._is_outdated = self._is_outdated or changed\n",
        "        self._is_outdated = changed\n",
        f"{LIVE}::test_a_reading_tells_all_that_was_taken_in_before",
    ),
    Mutant(
        "a claim that comes free is noticed",
        "a pod that waits for another's ResourceClaim is not planned once that pod has ended",
        "k8s_bridge/leader.py",
        "if any(due) or returned or freed:",
        "if any(due) or returned:",
        "tests/k8s_bridge/scheduling/test_device_claims.py"
        "::test_a_claim_that_is_named_by_two_pods_is_for_the_first",
    ),
    Mutant(
        "writes: as much as lists carry",
        "each condition that is written reads its gang anew and starts a cycle, twice",
        "k8s_bridge/cache/cluster_cache.py",
        "self.take(kind, object_of(kind, orjson.dumps(body)))",
        "self.take(kind, body)",
        "tests/k8s_bridge/cache/test_cluster_cache.py"
        "::test_a_condition_that_we_have_written_starts_no_cycle",
    ),
    Mutant(
        "conditions: pods as they were",
        "a condition is written under a version that the pod no longer has, and never arrives",
        "k8s_bridge/reporting/conditions/pod_scheduled.py",
        "        and all(map(is_, map(pods.get, earlier.seen), earlier.seen.values()))\n",
        "",
        f"{WAITS}::test_what_is_not_written_yet_is_asked_for_again_and_made_once",
    ),
    Mutant(
        "conditions: of gangs that are gone",
        "what was said of a gang is kept for ever, one more for each that came",
        "k8s_bridge/reporting/conditions/pod_scheduled.py",
        "        del answers[number]\n",
        "        pass\n",
        f"{WAITS}::test_of_a_long_queue_only_what_is_new_is_looked_at",
    ),
    Mutant(
        "conditions: the rest of many",
        "of thousands that wait, those that were too many for one cycle are told nothing",
        "k8s_bridge/reporting/reporter.py",
        "        untold = self._reported.untold or self._reported.news\n",
        "        untold = ()\n",
        "tests/k8s_bridge/test_scheduler.py"
        "::test_what_is_too_much_for_one_cycle_is_told_without_another",
    ),
    Mutant(
        "a solve of the batch alone",
        "100,000 pods that cannot start are sent to the solver, which is killed over them",
        "solver/process/client.py",
        "others.batch_alone()",
        "snapshot",
        "tests/solver/process/test_client.py"
        "::test_who_is_not_in_the_batch_takes_none_of_the_workers_time",
    ),
    Mutant(
        "gangs as read: where none minds others",
        "a gang keeps away for ever from a node whose pod that repelled it has ended",
        "model/readers/live/beside_others.py",
        "tuple(map(_gang, drafts)) if changed else waiting.gangs_in_order",
        "tuple(map(_gang, drafts))",
        f"{LIVE}::test_a_gang_is_what_was_read_of_it_once_no_other_minds_it",
    ),
    Mutant(
        "facts: of the gang whose pod is newer",
        "pods are bound under versions that they no longer have, and every binding is refused",
        "model/readers/live/reader.py",
        "        self._renew()\n",
        "",
        f"{LIVE}::test_what_says_nothing_new_is_no_change_but_its_version_counts",
    ),
    Mutant(
        "gangs read anew",
        "a change that no plan depends on brings thousands of gangs back into the batch",
        "model/readers/live/gang_cache.py",
        "            draft.take(old)\n",
        "            pass\n",
        f"{LIVE}::test_a_gang_read_anew_is_the_object_of_before_where_it_is_equal",
    ),
    Mutant(
        "turns: from the beginning in each reading",
        "a gang that waited for another once waits for it for ever",
        "model/readers/gangs/cross_checks.py",
        "        draft.begin_anew()\n",
        "        pass\n",
        "tests/k8s_bridge/scheduling/test_turns.py"
        "::test_a_replica_that_fits_nowhere_lets_the_next_go_first",
    ),
    Mutant(
        "facts: of gangs that are gone",
        "the facts of a gang are kept for ever, one more for each that came",
        "model/readers/live/waiting_gangs.py",
        "del self._facts[key], self._gangs[key]",
        "del self._gangs[key]",
        f"{LIVE}::test_nothing_is_kept_of_objects_that_are_gone",
    ),
    Mutant(
        "gangs in order: those that come later",
        "gangs are read in the order in which they came: same input, another plan",
        "model/readers/live/waiting_gangs.py",
        "                at = bisect_right(self._in_order, draft.order, key=_order)\n",
        "                at = len(self._in_order)\n",
        f"{LIVE}::test_one_of_many_gangs_has_its_place_in_natural_order",
    ),
    Mutant(
        "names of other namespaces",
        "conditions of a tenant's pods say who runs on which node beside it",
        "k8s_bridge/reporting/cycle_facts.py",
        "        return without_others(text, namespace, self.namespaces)\n",
        "        return text\n",
        "tests/k8s_bridge/reporting/test_other_namespaces.py"
        "::test_a_condition_names_others_where_the_config_lets_it[hidden-False]",
    ),
    Mutant(
        "set aside: gangs that go while they are owed a look",
        "a gang that is deleted at the wrong moment ends every cycle from then on",
        "k8s_bridge/scheduling/set_aside.py",
        "for number in owed if number in self._aside}",
        "for number in owed}",
        "tests/k8s_bridge/scheduling/test_set_aside.py"
        "::test_a_gang_that_goes_while_it_is_to_be_looked_at_again",
    ),
    Mutant(
        "what is remembered of those alike",
        "a replica goes where another has come to run since the last reading",
        "model/readers/gangs/alike.py",
        "last.of is draft.gang and self._are_same(last.by, steps):",
        "last.of is draft.gang:",
        "tests/model/readers/gangs/test_many_alike.py::test_what_is_done_to_those_alike_is_done_once",
    ),
    Mutant(
        "gangs that others hold: the same object",
        "thousands of gangs that wait for another are read, told and hashed anew in each cycle",
        "model/readers/live/beside_others.py",
        "old is not draft.gang and old == draft.gang",
        "False",
        f"{LIVE}::test_a_gang_that_others_hold_stays_the_same_object_and_is_no_arrival",
    ),
    Mutant(
        "arrivals: not of gangs that others hold",
        "each change of a gang that waits for another ends the rest of the scheduler",
        "model/readers/live/gang_cache.py",
        "if draft.as_read.hold is None}",
        "if draft.gang.hold is None}",
        f"{LIVE}::test_a_gang_that_others_hold_stays_the_same_object_and_is_no_arrival",
    ),
    Mutant(
        "conditions: newer numbers of the same answer",
        "the numbers in a condition are those of an hour ago",
        "k8s_bridge/reporting/conditions/pod_scheduled.py",
        "(earlier.text == earlier.newest or now - earlier.at < RETELL_SECONDS)",
        "True",
        f"{WAITS}::test_newer_numbers_are_told_though_the_answer_stays_the_same[one answer]",
    ),
    Mutant(
        "conditions: reminders of the same answer",
        "the API forgets why a gang waits, and so does kubectl describe",
        "k8s_bridge/reporting/conditions/pod_scheduled.py",
        "        and now - earlier.event_at < REMIND_SECONDS\n",
        "",
        f"{WAITS}::test_an_old_reason_is_recalled_before_the_api_forgets_the_event",
    ),
    Mutant(
        "conditions: what they may name",
        "a namespace that has pods now is named to others by what was told before",
        "k8s_bridge/reporting/conditions/pod_scheduled.py",
        "        and earlier.named.isdisjoint(others)\n",
        "",
        "tests/k8s_bridge/reporting/test_other_namespaces.py"
        "::test_a_condition_follows_what_it_may_name",
    ),
    Mutant(
        "audit: gangs that wait no more",
        "a gang made anew under its name waits without a line in the audit log",
        "k8s_bridge/reporting/audit.py",
        "            self._waits.pop(gang, None)\n",
        "            pass\n",
        f"{AUDIT}::test_the_same_reason_is_written_once_however_often_it_is_given",
    ),
    Mutant(
        "audit: the same reason in a new answer",
        "a queue of thousands writes megabytes a minute into the audit log",
        "k8s_bridge/reporting/audit.py",
        "                ended.discard(one.gang)\n",
        "",
        f"{AUDIT}::test_the_same_reason_is_written_once_however_often_it_is_given",
    ),
    Mutant(
        "memory of gangs that were being bound",
        "the reporter keeps each gang that was deleted while it was being bound",
        "k8s_bridge/reporting/reporter.py",
        "for gang, at in self._waited.items() if gang in there}",
        "for gang, at in self._waited.items()}",
        "tests/k8s_bridge/reporting/test_memory.py"
        "::test_gangs_that_were_deleted_while_they_were_being_bound",
    ),
    Mutant(
        "two members on one kept place",
        "a plan that gives one node to two members passes for one that takes both kept places",
        "k8s_bridge/scheduling/revalidate.py",
        "if not seats or seats == Counter(node for _, node in placement.pods):",
        "if not seats or set(seats) == {node for _, node in placement.pods}:",
        "tests/k8s_bridge/scheduling/test_revalidate.py"
        "::test_a_gang_starts_where_places_are_kept_for_it[two on one]",
    ),
    Mutant(
        "conditions: how they are to be said",
        "an edit of messages.otherNamespaces leaves the names in what stands there",
        "k8s_bridge/reporting/conditions/pod_scheduled.py",
        "    if before.messages != facts.messages:\n        return {}\n",
        "",
        "tests/k8s_bridge/reporting/test_other_namespaces.py"
        "::test_a_condition_follows_what_it_may_name",
    ),
    Mutant(
        "set aside: who waits for room",
        "five hundred gangs without a place are solved in each cycle",
        "k8s_bridge/scheduling/set_aside.py",
        "if one.reason.kind in _ASIDE and gangs",
        "if one.reason.kind in OF_THE_FABRIC and gangs",
        "tests/k8s_bridge/scheduling/test_freed_room.py::test_who_has_no_place_for_it_is_not_asked",
    ),
    Mutant(
        "freed room: as many as there are places",
        "hundreds that are alike are solved and told anew for one place that the oldest takes",
        "k8s_bridge/scheduling/freed_room.py",
        "            first += gangs[:most]\n",
        "            first += gangs\n",
        "tests/k8s_bridge/scheduling/test_freed_room.py"
        "::test_of_those_alike_as_many_are_asked_as_there_are_places",
    ),
    Mutant(
        "freed room: who is behind one that did not start",
        "a node idles for ever because the gang that was to have it was refused or deleted",
        "k8s_bridge/scheduling/set_aside.py",
        "if lost_owed or not (planned <= started and there_still):",
        "if False:",
        "tests/k8s_bridge/scheduling/test_freed_room.py"
        "::test_the_others_are_looked_at_where_the_first_is_held",
    ),
    Mutant(
        "reasons stand until their leaves change",
        "gangs say for ever that pods hold a leaf which have ended long ago",
        "k8s_bridge/scheduling/set_aside.py",
        "any(near.leaf in places for near in reason.near)",
        "False",
        "tests/k8s_bridge/scheduling/test_freed_room.py"
        "::test_what_names_a_leaf_is_told_anew_by_one_for_all_alike",
    ),
    Mutant(
        "told: ten at a time",
        "ten thousand pods that wait for one reason are ten thousand events at once",
        "k8s_bridge/reporting/events/waiting_gangs.py",
        "        room = MEMBERS_AT_ONCE - len(events)\n",
        "        room = len(news.pods)\n",
        "tests/k8s_bridge/reporting/test_waiting_gangs.py"
        "::test_thousands_that_wait_are_told_ten_at_a_time",
    ),
    Mutant(
        "told: a forged owner",
        "a pod that names an owner of others has events written about it",
        "k8s_bridge/reporting/events/waiting_gangs.py",
        ' or above["metadata"].get("uid") != owner.get("uid")',
        "",
        "tests/k8s_bridge/reporting/test_waiting_gangs.py"
        "::test_a_reference_that_names_another_object_is_believed_by_none",
    ),
    Mutant(
        "metrics: a bound on namespaces",
        "each namespace that ever was is a series of each metric",
        "k8s_bridge/reporting/namespace_metrics.py",
        " and len(self._named) >= MOST_NAMESPACES",
        " and False",
        "tests/k8s_bridge/reporting/test_namespace_metrics.py"
        "::test_namespaces_beyond_the_bound_are_one",
    ),
    Mutant(
        "turns: a namespace has no more of them than it leaves free",
        "a webhook that lets the requests of one namespace hang stops the writes of all",
        "k8s_bridge/election/write_turns.py",
        "return self._free - self._for_first >= taken if taken else self._free > 0",
        "return self._free > 0",
        "tests/k8s_bridge/election/test_write_turns.py"
        "::test_a_namespace_that_hangs_leaves_turns_to_others",
    ),
    Mutant(
        "turns: a quarter is for namespaces that have none",
        "a webhook that lets the requests of seven namespaces hang stops the writes of all others",
        "k8s_bridge/election/write_turns.py",
        "        self._for_first = at_once // 4\n",
        "        self._for_first = 0\n",
        "tests/k8s_bridge/election/test_write_turns.py"
        "::test_many_namespaces_that_hang_leave_turns_to_others",
    ),
    Mutant(
        "turns: records have their own",
        "a webhook over the pods of many tenants keeps every gang from being committed",
        "k8s_bridge/election/gate.py",
        "return self._record_turns if kind == LEASES else self._turns.turn(namespace)",
        "return self._turns.turn(namespace)",
        "tests/k8s_bridge/election/test_write_turns.py"
        "::test_records_do_not_wait_for_the_writes_of_tenants",
    ),
    Mutant(
        "turns: the next is for who has fewest",
        "a namespace with a long line of writes has each turn that comes free",
        "k8s_bridge/election/write_turns.py",
        "            if not taken:\n                return namespace\n",
        "            return namespace\n",
        "tests/k8s_bridge/election/test_write_turns.py::test_the_next_turn_is_for_who_has_fewest",
    ),
    Mutant(
        "rollbacks go on beside all else",
        "gangs that cannot be let go, one after the other, keep all others from their next try",
        "k8s_bridge/ledger/reconciler.py",
        "await patiently(returning, self.clock.sleep(ROLLBACK_PATIENCE_SECONDS))",
        "await together(returning)",
        "tests/k8s_bridge/scheduling/test_slow_webhooks.py"
        "::test_gangs_that_cannot_be_let_go_keep_no_other_waiting",
    ),
    Mutant(
        "told: writers of a namespace",
        "a webhook that lets the statuses of one namespace hang keeps the others from theirs",
        "k8s_bridge/reporting/recorder/write_queue.py",
        "if count >= self._limits.writers",
        "if count < 0",
        "tests/k8s_bridge/reporting/test_write_queue.py"
        "::test_a_namespace_that_hangs_keeps_no_other_waiting",
    ),
    Mutant(
        "telling: room for all namespaces",
        "5,000 pods of one tenant that make no sense have the events of all others dropped",
        "k8s_bridge/reporting/recorder/items_in_turn.py",
        "if len(self._lines.get(namespace, ())) * len(self._lines) >= self._most:",
        "if is_full:",
        f"{TELLING}::test_a_namespace_that_has_much_to_tell_crowds_out_no_other",
    ),
    Mutant(
        "telling: namespaces in turn",
        "a gang of which little is told waits behind thousands of pods of one tenant",
        "k8s_bridge/reporting/recorder/items_in_turn.py",
        "self._lines[namespace] = self._lines.pop(namespace)",
        "self._lines[namespace] = line",
        f"{TELLING}::test_namespaces_take_turns",
    ),
)
