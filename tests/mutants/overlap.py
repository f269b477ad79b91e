"""Safeguards of commits that go on beside other commits and cycles."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LEDGER = "tests/k8s_bridge/ledger/test_overlap.py"
CYCLES = "tests/k8s_bridge/scheduling/test_slow_writes.py"

OVERLAP = (
    Mutant(
        "a page is written by one at a time",
        "two batches meet on a page, and the second loses all its gangs there",
        "k8s_bridge/ledger/commit.py",
        "            async with self.ledger.writing.of([name]):\n                await self._add",
        "            async with self.ledger.writing.of([]):\n                await self._add",
        f"{LEDGER}::test_a_page_that_is_being_written_takes_the_next_gang_after_it",
    ),
    Mutant(
        "what is being decided is no leftover",
        "the reconciler withdraws a gang lease between its two writes",
        "k8s_bridge/ledger/reconciler.py",
        " or commit.name in self.ledger.undecided:",
        ":",
        f"{LEDGER}::test_what_is_being_decided_is_not_cleared_away",
    ),
    Mutant(
        "sweeps leave gang leases to who writes them",
        "the ledger goes back to an older version of a gang lease that is committed by now",
        "k8s_bridge/ledger/reconciler.py",
        "if self.ledger.lease(name) is None and not self._is_being_decided(name)",
        "if self.ledger.lease(name) is None",
        f"{LEDGER}::test_the_sweep_leaves_a_gang_lease_to_who_writes_it",
    ),
    Mutant(
        "devices of what is undecided are taken",
        "two gangs get the same devices of a node while the first one's page is being written",
        "k8s_bridge/ledger/free_devices.py",
        "chain(known, undecided)",
        "chain(known)",
        f"{LEDGER}::test_devices_are_taken_before_the_page_says_so",
    ),
    Mutant(
        "nodes that moved to another page meanwhile",
        "a page holds devices of a node that another page lists",
        "k8s_bridge/ledger/commit.py",
        "_fitting(name, kept, _listed(name, page, drafts))",
        "_fitting(name, kept, drafts)",
        f"{LEDGER}::test_a_gang_whose_node_moves_to_another_page_meanwhile_is_planned_again",
    ),
    Mutant(
        "members of undecided commits count as standing",
        "a gang whose page is being written is planned once more, or others in its places",
        "k8s_bridge/ledger/ledger.py",
        "        yield from self._undecided.values()\n",
        "",
        f"{CYCLES}::test_a_page_that_is_long_in_writing_holds_its_own_gang_alone",
    ),
    Mutant(
        "a cycle does not wait for slow records",
        "one record that the API server puts off keeps every gang waiting",
        "k8s_bridge/scheduling/cycle.py",
        "await patiently(tasks, self.clock.sleep(COMMIT_PATIENCE_SECONDS))",
        "await patiently(tasks, self.clock.sleep(1000 * COMMIT_PATIENCE_SECONDS))",
        f"{CYCLES}::test_a_page_that_is_long_in_writing_holds_its_own_gang_alone",
    ),
    Mutant(
        "gangs that were refused in spite of their dry run",
        "pods are evicted again and again for a gang whose bindings a webhook denies",
        "k8s_bridge/ledger/binding_trials.py",
        "if failed is not None and any(uid in failed.pods for uid, _ in places):",
        "if failed is None and not places:",
        "tests/k8s_bridge/relocation/test_preemption.py"
        "::test_a_gang_that_was_refused_in_spite_of_its_dry_run_evicts_nobody",
    ),
    Mutant(
        "places that are being written down, between cycles",
        "pods are evicted for a gang to go where another is about to be",
        "k8s_bridge/scheduling/cycle.py",
        "            self.is_committing = False\n"
        "        # Who looks at the cluster before the next cycle sees their places as taken.\n"
        "        self._assume_on_their_way()\n",
        "            self.is_committing = False\n",
        f"{CYCLES}::test_nobody_goes_for_places_that_are_being_written_down",
    ),
    Mutant(
        "each loss is heard of at once",
        "a gang waits for the slowest record of its batch before it is planned again",
        "k8s_bridge/ledger/commit.py",
        "        self.ledger.decided(draft.commit)\n        if draft.failure",
        "        if False and draft.failure",
        f"{CYCLES}::test_who_was_planned_beside_it_need_not_wait",
    ),
    Mutant(
        "batches beside slow records",
        "what the batch had no room for waits for the slowest record of the batch before",
        "k8s_bridge/leader.py",
        "            if report.outcome.unfinished:",
        "            if report.outcome is None:",
        f"{CYCLES}::test_the_next_batch_does_not_wait_for_slow_records",
    ),
    Mutant(
        "pages are cleared beside all else",
        "one page that is long in writing leaves a gang half bound that the API has refused",
        "k8s_bridge/ledger/reconciler.py",
        "            await patiently(tasks, self.clock.sleep(RECORD_PATIENCE_SECONDS))\n",
        "            await asyncio.wait(tasks)\n",
        "tests/k8s_bridge/scheduling/test_slow_writes.py"
        "::test_a_page_that_is_long_in_clearing_holds_up_no_rollback",
    ),
)
