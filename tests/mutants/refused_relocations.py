"""Safeguards of relocations whose records the API refuses or loses, and who notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

TESTS = "tests/k8s_bridge/relocation/test_refused_relocations.py"
EXECUTOR = "k8s_bridge/relocation/executor.py"
STORE = "k8s_bridge/relocation/store.py"

REFUSED_RELOCATIONS = (
    Mutant(
        "relocations that are to end",
        "a delete that fails once has pods evicted for a gang that found room elsewhere",
        EXECUTOR,
        "        self._doomed.setdefault((one.gang, one.opened), why)\n",
        "",
        f"{TESTS}::test_a_relocation_that_is_to_end_evicts_nobody",
    ),
    Mutant(
        "preemptions whose record was refused late",
        "a gang waits for five minutes, as the API once took five seconds to refuse a Lease",
        EXECUTOR,
        "        self.store.unwritten = self._unwritten\n",
        "",
        f"{TESTS}::test_a_record_that_is_refused_late_bars_no_gang",
    ),
    Mutant(
        "evictions of what may not be claimed",
        "a member goes for a record that the leader before may still delete",
        STORE,
        "bool(one.version) and one.epoch == self.epoch\n",
        "bool(one.version)\n",
        f"{TESTS}::test_no_pod_goes_for_a_record_that_may_not_be_claimed",
    ),
    Mutant(
        "claims that were refused",
        "a relocation of the leader before is never worked on, as a policy once refused it",
        STORE,
        " or one.epoch != self.epoch\n",
        "\n",
        f"{TESTS}::test_no_pod_goes_for_a_record_that_may_not_be_claimed",
    ),
    Mutant(
        "relocations that somebody has deleted",
        "a member goes for a record that stands no more, of which no next leader knows",
        STORE,
        "sorted(found.keys() | written)",
        "sorted(found)",
        f"{TESTS}::test_no_pod_goes_for_a_record_that_was_deleted",
    ),
    Mutant(
        "relocations that may not be converted",
        "each one that a policy refuses is asked for four times a second",
        STORE,
        " and self._retries.is_due(relocation_name(one.gang))",
        "",
        f"{TESTS}::test_a_record_that_may_not_be_converted_is_no_storm",
    ),
    Mutant(
        "victims that nobody has asked",
        "pods are said not to go whom nobody has asked, and a gang waits for that",
        EXECUTOR,
        "if found.why == VICTIMS_STAY and one.version:",
        "if found.why == VICTIMS_STAY:",
        f"{TESTS}::test_victims_that_nobody_has_asked_are_not_blamed",
    ),
    Mutant(
        "gangs that were refused, before they are seated",
        "a webhook that denies a gang is asked about it eight times a second",
        "k8s_bridge/scheduling/cycle.py",
        " and not self.api_backoff.rests(placement.gang)",
        "",
        f"{TESTS}::test_a_gang_that_is_refused_rests_before_it_is_seated_again",
    ),
    Mutant(
        "evictions for places on a page that hangs",
        "a lower gang is evicted, and nobody is served until the API answers about a page",
        "k8s_bridge/leader.py",
        "(sealed | hung.every, ",
        "(sealed, ",
        f"{TESTS}::test_nobody_goes_for_places_on_a_page_that_hangs",
    ),
    Mutant(
        "gang leases that could not say how they go on",
        "a gang that cannot start stays bound in part, as its record would be too large for that",
        "k8s_bridge/ledger/commit.py",
        "            self.records.check(lease)\n",
        "",
        "tests/k8s_bridge/ledger/test_commit.py"
        "::test_a_gang_whose_record_could_not_say_that_it_goes_back_is_not_begun",
    ),
)
