"""Safeguards for operators: Jobs outlast what is done for them, and clocks may have been wrong."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

JOBS = "tests/k8s_bridge/relocation/test_lasting_jobs.py"
FAILURES = "tests/model/readers/pods/test_job_failures.py"
CLOCKS = "tests/k8s_bridge/relocation/test_wrong_clocks.py"
REPAIR = "k8s_bridge/relocation/repair.py"

OPERATORS = (
    Mutant(
        "Jobs that outlast a repair",
        "a repair that moves members, or a drain, ends the Job that it serves",
        REPAIR,
        "eviction_limits(view, standing, self.evictions, jobs, unanswered=True)",
        "eviction_limits(view, standing, self.evictions, unanswered=True)",
        f"{JOBS}::test_members_move_as_far_as_their_job_outlasts_it[one too few]",
    ),
    Mutant(
        "Jobs that outlast a defragmentation",
        "a gang is moved for the room of others, and its Job ends of that",
        "k8s_bridge/relocation/defragmentation.py",
        "eviction_limits(view, standing, self.evictions, jobs)",
        "eviction_limits(view, standing, self.evictions)",
        f"{JOBS}::test_no_job_ends_for_the_room_of_others[1-0]",
    ),
    Mutant(
        "what a Job has lost already",
        "a lost pod, which fails whatever is evicted, is not counted, and its Job ends",
        "k8s_bridge/relocation/evictions/lasting_jobs.py",
        "one.node in view.dead or ",
        "",
        f"{JOBS}::test_members_move_as_far_as_their_job_outlasts_it[one too few]",
    ),
    Mutant(
        "Jobs that have failed meanwhile",
        "pods go for a repair that their Job would have outlasted when it was planned",
        "k8s_bridge/relocation/next_action.py",
        "    return _ended_job(one, there, view)\n",
        '    return ""\n',
        f"{JOBS}::test_a_job_that_has_failed_meanwhile_keeps_its_pods",
    ),
    Mutant(
        "failures that are not counted yet",
        "pods that end already are not counted, and one more than a Job outlasts is evicted",
        "model/readers/pods/job_failures.py",
        'TRACKED in _texts(metadata.get("finalizers")) if is_over else uid in lost',
        "not is_over and uid in lost",
        f"{FAILURES}::test_failures_that_are_not_counted_yet",
    ),
    Mutant(
        "drains that may end Jobs",
        "an operator who lets Jobs end has a node that is never emptied",
        "k8s_bridge/relocation/evictions/lasting_jobs.py",
        "        if any(one.node in ending and not one.finished for one in bound):\n"
        "            continue\n",
        "",
        f"{JOBS}::test_who_drains_may_let_jobs_end",
    ),
    Mutant(
        "evictions of the future",
        "a clock that was ahead once keeps a namespace from preempting until that day has passed",
        "k8s_bridge/relocation/tenants/caused_evictions.py",
        "for at, who, pods in self.current()",
        "for at, who, pods in self.rows",
        f"{CLOCKS}::test_evictions_of_the_future_count_for_nothing[wrong]",
    ),
    Mutant(
        "rows of the future are dropped",
        "moves of a clock that was a day ahead count again when that day has come",
        "k8s_bridge/relocation/evictions/history.py",
        "            self._saved.changed()\n        return self.rows\n",
        "        return self.rows\n",
        f"{CLOCKS}::test_moves_of_the_future_count_for_nothing",
    ),
    Mutant(
        "waits by no wall clock",
        "a gang whose leader's clock was set back has no place kept for it for an hour more",
        "k8s_bridge/relocation/reservation.py",
        "        is_old = self._waited.of(gang) >= after\n",
        "        is_old = self.clock.wall() - gang.created >= after\n",
        f"{CLOCKS}::test_a_place_is_kept_after_the_seconds_that_are_stated[-3600.0]",
    ),
    Mutant(
        "objects of any kind never go back",
        "a node that was cordoned is used once more, as an old answer says",
        "k8s_bridge/cache/cluster_cache.py",
        "        elif self._is_older(kind, body):\n            return\n",
        "",
        "tests/k8s_bridge/cache/test_cluster_cache.py::test_an_object_of_any_kind_never_goes_back",
    ),
    Mutant(
        "members that a sealed record keeps unbound",
        "pods of a gang that is bound in part wait without a word",
        "k8s_bridge/reporting/reporter.py",
        "                self._tell_members(commit, unreadable.reason(commit.gang, use.sealed))\n",
        "                pass\n",
        "tests/k8s_bridge/scheduling/test_sealed_gangs.py"
        "::test_members_that_stay_unbound_are_told_why",
    ),
)
