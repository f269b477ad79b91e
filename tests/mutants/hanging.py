"""Safeguards against records about which the API does not answer, and against storms of reads."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RECORDS = "tests/k8s_bridge/scheduling/test_hanging_records.py"
RELOCATIONS = "tests/k8s_bridge/relocation/test_hanging_relocations.py"
MEANWHILE = "tests/k8s_bridge/relocation/test_changed_meanwhile.py"
PAGES = "tests/k8s_bridge/ledger/test_pages.py"
OVERLAP = "tests/k8s_bridge/ledger/test_overlap.py"
KEPT = "tests/k8s_bridge/scheduling/test_hanging_seats.py"
REFUSED = "tests/k8s_bridge/scheduling/test_refused_records.py"
SEATS = "tests/k8s_bridge/relocation/test_closed_seats.py"

HANGING = (
    Mutant(
        "gangs without their gang lease",
        "a gang that was not begun holds its nodes on pages",
        "k8s_bridge/ledger/commit.py",
        "await self._add_entries(name, _sound(ready))",
        "await self._add_entries(name, ready)",
        "tests/k8s_bridge/ledger/test_commit.py::test_a_gang_whose_lease_is_refused_has_no_entry",
    ),
    Mutant(
        "rollbacks that are not written",
        "people are told that a gang goes back, which it may not do yet",
        "k8s_bridge/ledger/reconciler.py",
        "            self._rollbacks.refused(name, EVICTION_RETRY_SECONDS)\n            return\n",
        "            self._rollbacks.refused(name, EVICTION_RETRY_SECONDS)\n",
        "tests/k8s_bridge/ledger/test_commit.py::test_a_rollback_is_told_once_it_is_written",
    ),
    Mutant(
        "members that share a claim",
        "pods of a Job select their own nodes for its data set in turn, for ten minutes",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "if node in nodes else volume",
        "if not node else volume",
        "tests/k8s_bridge/scheduling/test_volumes.py"
        "::test_members_that_share_a_claim_select_one_node",
    ),
    Mutant(
        "reads of a tenant's objects",
        "the lead is lost, as a thousand claims of one namespace have all connections",
        "k8s_bridge/election/gate.py",
        "        if kind == LEASES or not target.namespace:\n",
        "        if kind:\n",
        "tests/k8s_bridge/election/test_gate.py::test_a_thousand_reads_of_one_namespace_leave_room",
    ),
    Mutant(
        "webhooks are listed once",
        "a hundred gangs that are tried at once have webhooks and policies listed for each",
        "k8s_bridge/ledger/dry_run.py",
        "        if self._looking is None or self._looking.done():\n",
        "        if self._clock:\n",
        "tests/k8s_bridge/ledger/test_dry_run.py"
        "::test_who_looks_is_asked_once_for_all_that_are_tried",
    ),
    Mutant(
        "gangs that need no repair any more are counted no more",
        "an alert goes on for a gang whose node is back",
        "k8s_bridge/relocation/controller.py",
        "                self.repair.none_is_hit()\n",
        "                pass\n",
        "tests/k8s_bridge/relocation/test_repair.py"
        "::test_gangs_without_a_repair_are_counted_until_they_need_none",
    ),
    Mutant(
        "a page that hangs while pages are laid out",
        "no new node of any leaf is used until the API answers about one page",
        "k8s_bridge/leader.py",
        "                if not await reconciler.lay_out(self._layout(), patient=False):\n",
        "                if not await reconciler.lay_out(self._layout(), patient=True):\n",
        f"{RECORDS}::test_a_page_that_hangs_keeps_no_other_from_listing_its_nodes",
    ),
    Mutant(
        "writes of an earlier layout: what they drop",
        "no page lists a node that was of its leaf again before its page had let it go",
        "k8s_bridge/ledger/reconciler.py",
        "        return all(done) and not self._laying\n",
        "        return all(done)\n",
        f"{RECORDS}::test_a_node_that_comes_back_is_listed_once_a_late_write_has_dropped_it",
    ),
    Mutant(
        "writes of an earlier layout: what they take up",
        "two pages list a node, and hold the pods there twice",
        "k8s_bridge/ledger/reconciler.py",
        "        if any(not nodes.isdisjoint(page.nodes) for nodes in self._laying.values()):\n",
        "        if False:\n",
        f"{RECORDS}::test_a_node_that_a_late_write_takes_up_is_listed_by_one_page",
    ),
    Mutant(
        "saves beside the judging",
        "no node is found dead until the API answers about a Lease of statistics",
        "k8s_bridge/node_health/monitor.py",
        "            await self.look()\n",
        "            await self.look()\n"
        "            await self._saved.save(lambda: self.failures.content(self.clock.wall()))\n",
        f"{RECORDS}::test_a_record_of_failures_that_hangs_makes_no_death_late",
    ),
    Mutant(
        "a page made behind a successor's back",
        "a replaced leader believes the page that it made itself, and evicts pods of the other",
        "k8s_bridge/relocation/store.py",
        "[name for name in names if name not in self.ledger.founded]",
        "names",
        "tests/k8s_bridge/relocation/test_store.py"
        "::test_a_page_made_behind_a_successors_back_says_nothing_of_it",
    ),
    Mutant(
        "lost pods looked at again",
        "a pod is ended by force though its node was heard again while the API was slow",
        "k8s_bridge/relocation/executor.py",
        "        if self.lost_ends.due(self.nodes.dead):\n"
        "            await self.store.check_lead()\n"
        "            # A node may have been heard again while the API was long in answering.\n"
        "            due = self.lost_ends.due(self.nodes.dead)\n",
        "        if due := self.lost_ends.due(self.nodes.dead):\n"
        "            await self.store.check_lead()\n",
        "tests/k8s_bridge/relocation/test_lost_ends.py"
        "::test_who_is_heard_again_meanwhile_is_not_ended",
    ),
    Mutant(
        "victims of a gang that is gone meanwhile",
        "pods are evicted for nobody, as their preemptor was there when a slow API was asked",
        "k8s_bridge/relocation/executor.py",
        "[self._sent(one, leaver) for leaver in due if leaver in still]",
        "[self._sent(one, leaver) for leaver in due]",
        f"{MEANWHILE}::test_victims_of_a_gang_that_is_gone_stay",
    ),
    Mutant(
        "a seat that is taken meanwhile",
        "a member that runs is evicted though its new place was taken while the API was slow",
        "k8s_bridge/relocation/executor.py",
        "            still = progress(one, self.view()).evict\n",
        "            still = progress(one, view).evict\n",
        f"{MEANWHILE}::test_a_member_stays_whose_seat_is_taken",
    ),
    Mutant(
        "relocations that are written beside each other",
        "no gang is repaired until the API answers about the record of another one",
        "k8s_bridge/relocation/store.py",
        "await self.a_while([task for one in drafts if (task := self._begun(one, held))])",
        "[await task for one in drafts if (task := self._begun(one, held))]",
        f"{RELOCATIONS}::test_a_record_that_is_not_written_keeps_no_other_gang_from_its_repair",
    ),
    Mutant(
        "no pod goes for what is not written",
        "a member is evicted of whose new place no other leader knows",
        "k8s_bridge/relocation/store.py",
        "return self.holds(one) and is_mine and not self._turns.holds(str(one.gang))",
        "return self.holds(one)",
        f"{RELOCATIONS}::test_no_pod_goes_before_its_record_is_written",
    ),
    Mutant(
        "places of what is not written yet",
        "a gang is drained to a place that was given away while its record was on its way",
        "k8s_bridge/relocation/store.py",
        "            self._open.setdefault(one.gang, one)\n",
        "            pass\n",
        f"{RELOCATIONS}::test_places_are_kept_while_the_record_is_on_its_way",
    ),
    Mutant(
        "places of what is never written",
        "room stays idle for as long as the API does not answer about one record",
        "k8s_bridge/relocation/store.py",
        "        if not one.version:\n            self._let_go(gang)\n",
        "",
        f"{RELOCATIONS}::test_places_are_kept_while_the_record_is_on_its_way",
    ),
    Mutant(
        "relocations that end beside the steps",
        "no gang is repaired for a minute, as the API does not delete the record of another one",
        "k8s_bridge/relocation/executor.py",
        "        await self.store.a_while("
        "self._begun_to_end(one, why), EVICTION_PATIENCE_SECONDS)\n",
        "        for task in self._begun_to_end(one, why):\n            await task\n",
        f"{RELOCATIONS}::test_who_ends_a_relocation_does_not_wait_for_its_record",
    ),
    Mutant(
        "seats that are looked at beside each other",
        "no gang is repaired until the API answers about the node of another one's place",
        "k8s_bridge/relocation/executor.py",
        "                begun += self._begun_to_tell(one, due, view, sent)\n",
        "                await asyncio.wait(self._begun_to_tell(one, due, view, sent))\n",
        f"{RELOCATIONS}::test_a_seat_about_which_the_api_is_silent_keeps_no_other_gang_waiting",
    ),
    Mutant(
        "claims beside the term",
        "nothing is scheduled until the API answers a new leader about one relocation",
        "k8s_bridge/relocation/store.py",
        "        await self.a_while([self.spawn(self._claim(one)) for one in found])\n",
        "        for one in found:\n            await self._claim(one)\n",
        f"{RELOCATIONS}::test_a_claim_that_hangs_keeps_nothing_from_being_scheduled",
    ),
    Mutant(
        "pages that are all gone",
        "a replaced leader evicts, as its successor has deleted all pages that it knows",
        "k8s_bridge/relocation/store.py",
        "        elif told:\n",
        "        elif False:\n",
        "tests/k8s_bridge/relocation/test_store.py::test_pages_that_are_all_gone_say_nothing",
    ),
    Mutant(
        "gangs that no room can help",
        "who is new takes the room of a gang that has lost a member, beside one that nobody moves",
        "k8s_bridge/relocation/repair.py",
        "        if for_room <= {one.gang.key for one in hit}:\n",
        "        if self.lost.keys() <= {one.gang.key for one in hit}:\n",
        "tests/k8s_bridge/relocation/test_repair_first.py"
        "::test_a_gang_that_no_room_helps_keeps_no_other_from_it",
    ),
    Mutant(
        "a lease that hangs while a sweep reads it",
        "each sweep asks anew about a lease that the API does not answer about",
        "k8s_bridge/ledger/reconciler.py",
        "        if name in self._rereading:\n            return False\n",
        "",
        f"{RECORDS}::test_a_stray_lease_that_hangs_keeps_no_other_from_its_end",
    ),
    Mutant(
        "a page that hangs before an eviction",
        "no pod of any gang moves until the API answers about the first page",
        "k8s_bridge/relocation/store.py",
        "NEXT_PAGE_SECONDS = 1.0\n",
        "NEXT_PAGE_SECONDS = 1000.0\n",
        f"{RECORDS}::test_a_page_that_hangs_keeps_no_pod_from_moving",
    ),
    Mutant(
        "seats that are read for all victims at once",
        "a gang of 512 nodes whose victims may not go has 2,000 nodes read a second",
        "k8s_bridge/relocation/executor.py",
        "        again = not any(asked[one.pod.uid].is_new for one in due)\n",
        "        again = False\n",
        f"{SEATS}::test_victims_that_may_not_go_yet_are_no_storm_of_reads",
    ),
    Mutant(
        "what could not be saved is saved later",
        "the next leader lets a tenant evict anew what it had evicted while a write failed",
        "k8s_bridge/ledger/state_lease.py",
        "            self._is_saved = False\n            self._due",
        "            self._due",
        "tests/k8s_bridge/ledger/test_state_lease.py::test_what_could_not_be_saved_is_saved_later",
    ),
    Mutant(
        "kept places on a page that hangs",
        "no gang of any tenant starts until the API answers about the page of a relocation",
        "k8s_bridge/scheduling/cycle.py",
        "            await patiently(tasks[-1:], self.clock.sleep(SEATS_PATIENCE_SECONDS))\n",
        "            await asyncio.wait(tasks[-1:])\n",
        f"{KEPT}::test_places_kept_on_a_page_that_hangs_hold_up_nobody_else",
    ),
    Mutant(
        "a gang that has its places may move again",
        "a gang that has been moved once is never planned again in this term",
        "k8s_bridge/scheduling/cycle.py",
        "        finally:\n            self._seating.discard(gang)\n",
        "        finally:\n            pass\n",
        f"{KEPT}::test_places_kept_on_a_page_that_hangs_hold_up_nobody_else",
    ),
    Mutant(
        "other places for a gang that is being seated",
        "a gang is committed to the places kept for it and to others",
        "k8s_bridge/scheduling/cycle.py",
        "            being_seated.rule(self._seating),\n",
        "",
        f"{KEPT}::test_a_gang_that_is_being_seated_is_planned_nowhere_else",
    ),
    Mutant(
        "seats that are refused",
        "a gang whose page was refused once never gets the places that are kept for it",
        "k8s_bridge/scheduling/cycle.py",
        "            self._seating.discard(gang.gang)\n            self._refused(gang)\n",
        "            self._refused(gang)\n",
        f"{KEPT}::test_a_gang_whose_seat_was_refused_is_seated_later",
    ),
    Mutant(
        "a rollback that may not be written",
        "a 403 for one gang lease ends every term, and all gangs wait",
        "k8s_bridge/ledger/reconciler.py",
        '(ClusterError, BadRecord) as error:\n            self._refused("lease',
        'BadRecord as error:\n            self._refused("lease',
        f"{REFUSED}::test_a_rollback_that_may_not_be_written_ends_no_term",
    ),
    Mutant(
        "rollbacks that may not be written: later and later",
        "a gang whose record may not go back is bound, and refused, five times a second",
        "k8s_bridge/ledger/reconciler.py",
        "                    if self._rollbacks.is_due(commit.name):\n",
        "                    if True:\n",
        f"{REFUSED}::test_a_rollback_that_may_not_be_written_ends_no_term",
    ),
    Mutant(
        "gang leases that may not be deleted",
        "five requests a second for each gang lease that a missing right keeps",
        "k8s_bridge/ledger/reconciler.py",
        "not self._is_free(found.lease.name):",
        "self.ledger.writing.holds(found.lease.name):",
        f"{REFUSED}::test_gang_leases_that_may_not_be_deleted_are_no_storm",
    ),
    Mutant(
        "pages that cannot be converted",
        "pages that cannot be written keep all others in the old format, and are a storm of writes",
        "k8s_bridge/ledger/reconciler.py",
        "filter(self._is_free, pages)",
        "pages",
        f"{REFUSED}::test_pages_that_cannot_be_converted_leave_others_their_turn",
    ),
    Mutant(
        "a gang lease that hangs",
        "no gang of the batch starts on the pages of a wide gang until the API answers about it",
        "k8s_bridge/ledger/commit.py",
        "            await patiently(waits, self.trials.clock.sleep(LEASES_PATIENCE_SECONDS))\n",
        "            await asyncio.wait(waits)\n",
        f"{OVERLAP}::test_a_gang_lease_that_hangs_holds_up_no_other_gang_of_its_page",
    ),
    Mutant(
        "pages wait for the gang leases of their batch",
        "each page is written twice where a batch has wide gangs",
        "k8s_bridge/ledger/commit.py",
        "            await patiently(waits, self.trials.clock.sleep(LEASES_PATIENCE_SECONDS))\n",
        "",
        f"{OVERLAP}::test_a_page_is_written_once_for_gangs_whose_leases_come_at_once",
    ),
    Mutant(
        "answers that were not proven",
        "a gang set aside by a solver out of time stays so through the edit that would help it",
        "k8s_bridge/scheduling/set_aside.py",
        "        self._is_unproven |= bool(found) and plan",
        "        self._is_unproven = bool(found) and plan",
        "tests/k8s_bridge/scheduling/test_judged_alike.py"
        "::test_a_later_proof_about_others_proves_no_earlier_answer",
    ),
    Mutant(
        "what changes while it is saved",
        "the next leader does not know of moves that were made while a Lease was being written",
        "k8s_bridge/ledger/state_lease.py",
        "        self._is_saved = True\n"
        "        if not await self.kept.save(content()):\n"
        "            self._is_saved = False\n",
        "        self._is_saved = await self.kept.save(content())\n"
        "        if not self._is_saved:\n",
        "tests/k8s_bridge/ledger/test_state_lease.py"
        "::test_what_changes_while_it_is_saved_is_saved_again",
    ),
    Mutant(
        "reads that are forbidden for a moment",
        "an API server that has just started ends the term of a leader",
        "k8s_bridge/ledger/record_store.py",
        "                if refusing.for_good(error):\n"
        "                    raise\n"
        "                await backoff.wait()",
        "                raise",
        f"{PAGES}::test_a_read_that_is_forbidden_for_a_moment_is_repeated",
    ),
    Mutant(
        "pages that have changed since they were laid out",
        "a node is on no page for half a minute, as its page took a gang in the moment before",
        "k8s_bridge/ledger/reconciler.py",
        "        return known is not None and known.version == page.version",
        "        return known is not None",
        f"{PAGES}::test_a_page_that_has_changed_since_it_was_laid_out_is_laid_out_again",
    ),
    Mutant(
        "gang leases looked at again before they go",
        "the gang lease of a gang that is half bound is deleted, and its entries are void",
        "k8s_bridge/ledger/reconciler.py",
        "            if step.action in (Action.WITHDRAW, Action.DROP):\n                await",
        "            if True:\n                await",
        f"{PAGES}::test_what_is_to_be_deleted_is_looked_at_again",
    ),
    Mutant(
        "members on their way at the end of a term",
        "who leads again later takes pods for standing that nobody has bound",
        "k8s_bridge/scheduling/cycle.py",
        "            self.cache.forget(member)\n        self._assumed = {}",
        "            pass\n        self._assumed = {}",
        "tests/k8s_bridge/scheduling/test_lag.py"
        "::test_members_on_their_way_wait_again_when_the_term_is_over",
    ),
    Mutant(
        "nodes of a page that hangs",
        "gang after gang is sent to a leaf whose page hangs, though nodes are free elsewhere",
        "k8s_bridge/leader.py",
        "(sealed | hung.every, ",
        "(sealed, ",
        f"{RECORDS}::test_nodes_of_a_page_that_hangs_take_no_new_gang",
    ),
    Mutant(
        "pages of a wide gang that waits for its gang lease",
        "no gang starts on the pages of a wide gang until the API answers about its lease",
        "k8s_bridge/scheduling/holds/hung_pages.py",
        "if name is not None and self.ledger.writing.holds(name)}",
        "if name is not None}",
        f"{RECORDS}::test_pages_of_a_wide_gang_whose_lease_hangs_take_others",
    ),
)
