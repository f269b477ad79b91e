"""Safeguards of gangs that share a quota, and of those that others have made way for in vain."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

STAYS = "tests/k8s_bridge/relocation/test_brief_stays.py"

WITHIN_A_QUOTA = (
    Mutant(
        "members that fail as soon as they run",
        "a Job that crashes and comes back has a lower gang evicted every five minutes",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        "            if are_over or any(self._has_failed(pod, one) for pod, one in seen):\n",
        "            if False:\n",
        f"{STAYS}::test_one_that_fails_is_enough_and_one_that_succeeds_is_not",
    ),
    Mutant(
        "ever longer waits",
        "a gang that never stays has a lower one evicted in every window",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        "seconds * 2.0 ** min(times - 1, 30)",
        "seconds",
        f"{STAYS}::test_a_gang_that_fails_as_soon_as_it_runs_has_ever_fewer_evicted",
    ),
    Mutant(
        "members that have left for others",
        "a gang waits longer as its node has died, or as it made way for a higher one",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        "        self._excuse({leaver.pod.uid for one in open_ for leaver in one.leavers}, dead)\n",
        "",
        f"{STAYS}::test_members_that_were_sent_away_or_lost_their_node_have_stayed",
    ),
)
