"""Safeguards that a distrustful operator asked for: what is done for a Job does not end it."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

JOBS = "tests/k8s_bridge/relocation/test_lasting_jobs.py"
FAILURES = "tests/model/readers/pods/test_job_failures.py"
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
)
