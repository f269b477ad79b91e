"""Safeguards of gangs that share a quota, and of those that others have made way for in vain."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

STAYS = "tests/k8s_bridge/relocation/test_brief_stays.py"

TURNS = "tests/k8s_bridge/relocation/test_quota_turns.py"
WHOSE = "tests/k8s_bridge/relocation/test_whose_turn.py"
IN_QUOTA = "tests/k8s_bridge/relocation/test_preemption_in_quota.py"

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
    Mutant(
        "turns within a quota",
        "a gang waits for its quota for as long as smaller ones of its namespace come",
        "k8s_bridge/relocation/controller.py",
        "        turns = self.turns.rule(self.clock.wall())\n",
        "        turns = None\n",
        f"{TURNS}::test_smaller_ones_that_come_later_wait_for_it",
    ),
    Mutant(
        "gangs that end before it is their turn",
        "a quota is idle that a short gang could use meanwhile",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        " and not is_over\n",
        "\n",
        f"{TURNS}::test_who_ends_before_it_can_start_waits_for_nothing",
    ),
    Mutant(
        "words of those who overstay",
        "a namespace that declares ends and keeps none has a gang wait for its quota for ever",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "turn.starts < math.inf and not self.is_barred(gang.key.namespace)",
        "turn.starts < math.inf",
        f"{TURNS}::test_whose_word_is_not_kept_waits",
    ),
    Mutant(
        "gangs beyond their whole quota",
        "a gang that never starts keeps the others of its namespace from starting",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "            and gang.gpus <= quota\n",
        "",
        f"{TURNS}::test_what_is_larger_than_its_quota_holds_no_other",
    ),
    Mutant(
        "turns in which no more comes free",
        "half of a quota is idle for ever beside a pod that never ends",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "        return is_late and now - turn.grew >= FRUITLESS_SECONDS\n",
        "        return False\n",
        f"{TURNS}::test_others_start_where_no_more_comes_free_for_long",
    ),
    Mutant(
        "turns of who does not start",
        "a gang without a place keeps the others of its namespace from starting",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "            return now - turn.free >= START_SECONDS\n",
        "            return False\n",
        f"{WHOSE}::test_who_does_not_start_though_its_quota_is_free_holds_others_for_a_minute",
    ),
    Mutant(
        "rests after turns in vain",
        "a gang that never starts has its next turn at once, and the others wait",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "            and all(rest is None or rest.until <= now for rest in rests)\n",
        "",
        f"{WHOSE}::test_who_does_not_start_though_its_quota_is_free_holds_others_for_a_minute",
    ),
    Mutant(
        "quotas are taken from lower gangs",
        "an urgent gang waits behind lower ones of its own namespace, beside free nodes",
        "k8s_bridge/relocation/preemption.py",
        "        among = waiting_now(crowded | beyond, view, under_way | busy)\n",
        "        among = waiting_now(crowded, view, under_way | busy)\n",
        f"{IN_QUOTA}::test_one_of_its_own_namespace_makes_way_though_there_is_room",
    ),
    Mutant(
        "quotas are taken from no other namespace",
        "pods of another namespace are evicted for a gang that is beyond its own quota",
        "k8s_bridge/relocation/preemption.py",
        "(shares or not is_for_quota)",
        "(shares or not is_for_quota or True)",
        f"{IN_QUOTA}::test_none_of_another_namespace_goes_for_a_quota",
    ),
    Mutant(
        "members that come back within a quota",
        "a gang that has lost a pod waits behind one that has not begun",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "if quota is None or not 0 < asked <= quota or self._is_as_it_was(gang, asked):",
        "if quota is None or not 0 < asked <= quota:",
        f"{WHOSE}::test_members_of_a_gang_that_runs_come_back_to_it",
    ),
    Mutant(
        "turns of gangs that have places kept",
        "gangs wait for a quota of which enough is left beside the places that are kept",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "if not turn.is_served}",
        "if True}",
        f"{WHOSE}::test_who_has_places_kept_holds_no_other",
    ),
    Mutant(
        "turns that end though an end is declared",
        "one pod of a GPU that is to end next year stops its namespace for as long",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "turn.starts <= moment + FRUITLESS_SECONDS\n",
        "turn.starts < math.inf\n",
        "tests/k8s_bridge/relocation/test_whose_turn.py"
        "::test_an_end_that_is_declared_for_next_year_ends_no_turn",
    ),
    Mutant(
        "rests of a namespace",
        "three large gangs stop the small ones of their namespace for nine tenths of the time",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "        self._resting[name] = _longer(self._resting.get(name), seconds, now)\n",
        "        self._resting[name] = _longer(None, seconds, now)\n",
        "tests/k8s_bridge/relocation/test_whose_turn.py"
        "::test_a_namespace_rests_longer_after_each_turn_in_vain",
    ),
    Mutant(
        "growth in the turn of another",
        "a gang grows ninefold past one that has waited for its quota for long",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "        return gang.gpus <= ran.most or (runs and asked <= ran.gpus)\n",
        "        return gang.gpus <= ran.most or runs\n",
        "tests/k8s_bridge/relocation/test_whose_turn.py::test_a_gang_that_grows_waits_as_others_do",
    ),
    Mutant(
        "gangs that start over in the turn of another",
        "a gang that restarts has lost its quota to one that cannot start",
        "k8s_bridge/relocation/tenants/quota_turns.py",
        "        return gang.gpus <= ran.most or (runs and asked <= ran.gpus)\n",
        "        return runs and asked <= ran.gpus\n",
        "tests/k8s_bridge/relocation/test_whose_turn.py"
        "::test_a_gang_that_starts_over_waits_for_none",
    ),
)
