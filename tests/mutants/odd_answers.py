"""Safeguards against answers that no API server gives of itself, and against old caches."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RECORDS = "tests/k8s_bridge/test_denied_records.py"
ODD = "tests/k8s_bridge/test_odd_answers.py"
SERVED = "tests/k8s_bridge/informers/test_served.py"
WATCH = "tests/k8s_bridge/informers/test_watch.py"
ELECTION = "tests/k8s_bridge/election/test_election.py"
LAST_GOOD = "tests/k8s_bridge/cache/test_last_good_config.py"
LAST_GOOD_CONFIG = "k8s_bridge/cache/last_good_config.py"

ODD_ANSWERS = (
    Mutant(
        "nodes are read at a takeover",
        "pods are evicted for a sign of death that the watch has not taken back",
        "k8s_bridge/leader.py",
        "for kind in (PODS, NODES):",
        "for kind in (PODS,):",
        f"{ODD}::test_a_node_that_was_ill_before_the_takeover_costs_no_pod",
    ),
    Mutant(
        "lists that fail at a takeover are asked for again",
        "all pages are written once more for each list of pods that fails",
        "k8s_bridge/leader.py",
        "await records.answer(partial(self.wiring.cluster.list, kind))",
        "await self.wiring.cluster.list(kind)",
        f"{ODD}::test_pods_that_cannot_be_read_at_a_takeover_have_no_page_written_again",
    ),
    Mutant(
        "all kinds are waited for",
        "a replica leads without nodes, where a kind is followed no longer",
        "k8s_bridge/informers/informers.py",
        "            while not synced_task.done():\n",
        "            for _ in range(1):\n",
        f"{ODD}::test_no_replica_leads_before_it_knows_the_nodes",
    ),
    Mutant(
        "what every server serves is never absent",
        "a proxy without a backend ends all quotas, and all nodes",
        "k8s_bridge/informers/reflector.py",
        "        if served or selection.kind.is_always_served:\n",
        "        if served:\n",
        f"{SERVED}::test_what_every_server_serves_is_never_absent",
    ),
    Mutant(
        "a server that was restored from a backup",
        "the scheduler hears nothing any more, and is ready",
        "k8s_bridge/informers/watch.py",
        "    if now - since >= context.timeouts.behind_for:\n",
        "    if False:\n",
        f"{WATCH}::test_a_server_that_was_restored_from_a_backup_is_found_out",
    ),
    Mutant(
        "a server that lags for a moment",
        "all is listed again after each minute in which an older server answered twice",
        "k8s_bridge/informers/watch.py",
        "    if not seen.is_behind:\n        return None\n",
        "    if not seen.is_behind:\n        return since\n",
        f"{WATCH}::test_a_server_that_lags_for_a_moment_is_followed",
    ),
    Mutant(
        "pages that admission denies at a takeover",
        "thousands of writes within a second",
        "k8s_bridge/ledger/takeover.py",
        "                if now is not None and now.version == before:\n"
        "                    await self._wait(denied, name, error)\n",
        "",
        f"{ODD}::test_pages_that_admission_denies_are_no_storm",
    ),
    Mutant(
        "pages that admission denies as if they had changed",
        "a page that cannot be tidied is written several times a second",
        "k8s_bridge/ledger/reconciler.py",
        "            if now is not None and now.version == page.version:\n",
        "            if False:\n",
        f"{ODD}::test_a_leader_whose_pages_are_denied_tries_ever_less",
    ),
    Mutant(
        "commits that admission denies as if a page had changed",
        "a gang is planned and written several times a second",
        "k8s_bridge/ledger/commit.py",
        "            is_other = now is None or now.version != page.version\n",
        "            is_other = True\n",
        f"{ODD}::test_a_leader_whose_pages_are_denied_tries_ever_less",
    ),
    Mutant(
        "the last good config is saved once it can be",
        "a restart after a bad edit knows no quota",
        LAST_GOOD_CONFIG,
        "                if await self.kept.save(document):\n"
        "                    self._saved = config\n",
        "                await self.kept.save(document)\n                self._saved = config\n",
        f"{LAST_GOOD}::test_what_could_not_be_saved_is_saved_later",
    ),
    Mutant(
        "the last good config is read once it can be",
        "a whole term knows no quota, as the API gave no answer at its beginning",
        LAST_GOOD_CONFIG,
        "            await self.restore()\n            config",
        "            config",
        f"{LAST_GOOD}::test_what_could_not_be_read_is_read_later",
    ),
    Mutant(
        "a good edit while the last good config is read",
        "an edit that makes sense is overruled by an older one",
        LAST_GOOD_CONFIG,
        "        if not text or self._is_good:\n",
        "        if not text:\n",
        f"{LAST_GOOD}::test_what_could_not_be_read_is_read_later",
    ),
    Mutant(
        "a follower that is throttled",
        "no replica leads for half a minute, as one answer asked for time",
        "k8s_bridge/election/election.py",
        "await backoff.wait(min(error.retry_after or 0.0, self._timing.renew))",
        "await backoff.wait(error.retry_after)",
        f"{ELECTION}::test_a_follower_that_is_throttled_once_is_not_late",
    ),
    Mutant(
        "a Lease of another when a replica ends",
        "a follower that is stopped ends the term of the leader",
        "k8s_bridge/election/election.py",
        "        if seen is None or seen.holder != self.identity:\n",
        "        if seen is None:\n",
        f"{ELECTION}::test_a_lease_of_another_is_not_given_back",
    ),
    Mutant(
        "writes of a leader that has given the Lease back",
        "two leaders write at once while one of them ends",
        "k8s_bridge/election/election.py",
        "        self._gate.shut()\n        seen = self._seen\n",
        "        seen = self._seen\n",
        f"{ELECTION}::test_who_has_given_the_lease_back_writes_no_more",
    ),
    Mutant(
        "objects of a kind that is followed no longer",
        "gangs of an owner kind that the config has dropped wait as it was for ever",
        "k8s_bridge/informers/informers.py",
        "            self._on_change(kind, Absent())\n",
        "",
        "tests/k8s_bridge/informers/test_informers.py"
        "::test_synced_waits_on_where_a_kind_is_followed_no_longer",
    ),
    Mutant(
        "two refusals of a binding that are not in a row",
        "a gang goes back, as a webhook had a bad moment twice",
        "k8s_bridge/ledger/binding.py",
        "            except Throttled as error:\n                refusing.unsaid(error)\n",
        "            except Throttled as error:\n",
        f"{ODD}::test_two_bad_moments_of_a_binding_take_no_gang_back[429]",
    ),
    Mutant(
        "two refusals of a binding with no answer between them",
        "a gang goes back, as a webhook had a bad moment twice",
        "k8s_bridge/ledger/binding.py",
        "            except Ambiguous as error:\n                refusing.unsaid(error)\n",
        "            except Ambiguous as error:\n",
        f"{ODD}::test_two_bad_moments_of_a_binding_take_no_gang_back[500]",
    ),
    Mutant(
        "two refusals of a binding with a denial between them",
        "a gang goes back, as a webhook had a bad moment twice",
        "k8s_bridge/ledger/binding.py",
        "            except (Conflict, NotFound) as error:\n"
        "                refusing.interrupted()\n",
        "            except (Conflict, NotFound) as error:\n",
        f"{ODD}::test_two_bad_moments_of_a_binding_take_no_gang_back[409]",
    ),
    Mutant(
        "requests that are put off between refusals",
        "three of four pods run for a quarter of an hour without the fourth, which is refused",
        "k8s_bridge/ledger/permanent_refusal.py",
        "        if isinstance(error, Throttled):\n",
        "        if False:\n",
        "tests/k8s_bridge/scheduling/test_refused_again.py"
        "::test_a_refusal_and_a_throttle_in_turn_are_a_refusal",
    ),
    Mutant(
        "rows of refusals within a moment",
        "a gang goes back, as a webhook had one bad moment while requests were put off",
        "k8s_bridge/ledger/permanent_refusal.py",
        "self._until if self._rows < PERMANENT_ROWS else self._first_until",
        "self._until if self._rows < PERMANENT_ROWS else 0.0",
        "tests/k8s_bridge/ledger/test_permanent_refusal.py"
        "::test_rows_of_one_moment_are_not_refused_for_good",
    ),
    Mutant(
        "reads that are put off between refusals",
        "a replica waits for ever for records that it may not read",
        "k8s_bridge/ledger/record_store.py",
        "                refusing.unsaid(error)\n",
        "                refusing.interrupted()\n",
        "tests/k8s_bridge/ledger/test_pages.py"
        "::test_a_read_that_is_forbidden_and_put_off_in_turn_is_refused",
    ),
    Mutant(
        "claims that are put off between refusals",
        "a gang is in part for a quarter of an hour, as one of its claims is refused",
        "k8s_bridge/ledger/claim_allocation.py",
        "                refusing.unsaid(error)\n",
        "                refusing.interrupted()\n",
        "tests/k8s_bridge/ledger/test_claims_back.py"
        "::test_a_write_that_is_forbidden_and_put_off_in_turn_is_refused",
    ),
    Mutant(
        "volumes that are put off between refusals",
        "nodes idle for ten minutes, as the claim of a volume is refused",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "                refusing.unsaid(error)\n",
        "                refusing.interrupted()\n",
        "tests/k8s_bridge/scheduling/test_volumes_told.py"
        "::test_a_claim_that_is_refused_and_put_off_in_turn_is_refused",
    ),
    Mutant(
        "evictions that are put off between refusals",
        "a gang waits for the place of a pod that the API refuses to evict",
        "k8s_bridge/relocation/executor.py",
        "                asked.refusals.unsaid(error)\n",
        "                asked.refusals.interrupted()\n",
        "tests/k8s_bridge/relocation/test_refused_in_spite.py"
        "::test_what_is_said_between_refusals[throttled]",
    ),
    Mutant(
        "a budget between refusals of an eviction",
        "a preemption is given up, as a webhook had a bad moment now and then",
        "k8s_bridge/relocation/executor.py",
        "            if is_forbidden(error):\n",
        "            if False:\n",
        "tests/k8s_bridge/relocation/test_refused_in_spite.py"
        "::test_what_is_said_between_refusals[budget]",
    ),
    Mutant(
        "prepared leases that admission denies at a takeover",
        "thousands of deletions within a second",
        "k8s_bridge/ledger/takeover.py",
        "                if now is not None and now.version == before:\n"
        "                    await self._wait(denied, lease.name, error)\n",
        "",
        f"{RECORDS}::test_a_prepared_lease_that_may_not_go_at_a_takeover_is_no_storm",
    ),
    Mutant(
        "gang leases that admission denies as if they had changed",
        "a gang lease is written several times a second, for ever",
        "k8s_bridge/ledger/reconciler.py",
        "            if now is not None and now.version == lease.version:\n"
        '                self._refused("lease_not_written"',
        '            if False:\n                self._refused("lease_not_written"',
        f"{RECORDS}::test_a_lease_that_may_not_be_converted_waits",
    ),
    Mutant(
        "deletions of gang leases that admission denies as if they had changed",
        "ten requests a second for each wide gang, for ever",
        "k8s_bridge/ledger/reconciler.py",
        "            if now is not None and now.version == lease.version:\n"
        '                self._refused("lease_not_deleted"',
        '            if False:\n                self._refused("lease_not_deleted"',
        f"{RECORDS}::test_a_gang_lease_whose_deletion_is_denied_is_no_storm",
    ),
    Mutant(
        "deletions of relocations that admission denies as if they had changed",
        "seven requests a second for each relocation, for ever",
        "k8s_bridge/relocation/store.py",
        "            if now is not None and now.version == one.version:\n",
        "            if False:\n",
        f"{RECORDS}::test_a_relocation_whose_deletion_is_denied_is_no_storm",
    ),
    Mutant(
        "two refusals of a read that are not in a row",
        "a term ends, as a webhook or an authorizer had a bad moment twice",
        "k8s_bridge/ledger/record_store.py",
        "                refusing.unsaid(error)\n",
        "",
        f"{ODD}::test_two_bad_moments_of_a_takeover_end_no_term",
    ),
    Mutant(
        "what is not there is told by the server",
        "a proxy without a backend has leases taken for gone, and two gangs share their devices",
        "k8s_bridge/cluster/live/answers.py",
        "    if kind is NotFound and not _is_of_the_server(what, reason, words):\n",
        "    if False:\n",
        "tests/k8s_bridge/cluster/live/test_failures.py"
        "::test_what_is_not_there_is_told_by_the_server",
    ),
    Mutant(
        "deletions of records that admission denies by 404",
        "a gang lease that stands is taken for gone, and two gangs share their devices",
        "k8s_bridge/ledger/record_store.py",
        "            if BY_ADMISSION in str(error):\n",
        "            if False:\n",
        f"{ODD}::test_a_deletion_that_admission_denies_fences_no_commit",
    ),
    Mutant(
        "relocations that admission denies at a takeover",
        "hundreds of writes within a second",
        "k8s_bridge/relocation/store.py",
        "                if tried.count(now.version) > 1:\n",
        "                if False:\n",
        f"{ODD}::test_relocations_that_admission_denies_are_no_storm",
    ),
)
