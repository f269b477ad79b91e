"""Safeguards against records about which the API does not answer, and against storms of reads."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RECORDS = "tests/k8s_bridge/scheduling/test_hanging_records.py"
RELOCATIONS = "tests/k8s_bridge/relocation/test_hanging_relocations.py"
MEANWHILE = "tests/k8s_bridge/relocation/test_changed_meanwhile.py"
SEATS = "tests/k8s_bridge/relocation/test_closed_seats.py"

HANGING = (
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
        "return self.holds(one) and bool(one.version) and not self._turns.holds(str(one.gang))",
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
        "relocations that end beside the cycle",
        "fresh pods wait for a minute, as the API does not delete the record of another gang",
        "k8s_bridge/relocation/executor.py",
        "        await self.store.a_while("
        "self._begun_to_end(one, why), EVICTION_PATIENCE_SECONDS)\n",
        "        for task in self._begun_to_end(one, why):\n            await task\n",
        f"{RELOCATIONS}::test_a_record_that_is_not_deleted_makes_no_cycle_late",
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
        "evictions of what is not claimed",
        "a member goes for a record that the leader before may still delete",
        "k8s_bridge/relocation/store.py",
        "bool(one.version) and not self._turns.holds(str(one.gang))",
        "bool(one.version)",
        f"{RELOCATIONS}::test_no_pod_goes_before_its_record_is_claimed",
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
)
