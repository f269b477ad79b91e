"""The safeguards of the command's answers: what they go by, and what they never leave unsaid."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

IN_FORCE = "tests/cli/test_config_in_force.py"

DRAIN = "tests/cli/test_drain.py"
SNAPSHOT = "tests/cli/test_snapshot.py"
READING = "tests/model/readers/bad_input/test_reading.py"

ANSWERS = (
    Mutant(
        "answers: the last good config",
        "after a bad edit, verbs answer by the defaults while the scheduler knows quotas",
        "cli/cluster/config_in_force.py",
        "return ConfigInForce(source, (_with(body, config),), problems)",
        "return ConfigInForce(source, (), problems)",
        f"{IN_FORCE}::test_a_bad_edit_leaves_the_last_good_config_in_force",
    ),
    Mutant(
        "answers: what is invalid",
        "events and conditions of an invalid gang hold back the value, or what to do about it",
        "model/readers/gangs/holds.py",
        "return Hold(ReasonKind.INVALID, detail, (), (fault.advice,))",
        "return Hold(ReasonKind.INVALID, detail)",
        f"{READING}::test_a_gang_held_as_invalid_says_what_the_error_says",
    ),
    Mutant(
        "answers: a snapshot is a cluster",
        "one broken gang of a tenant keeps all others in a snapshot from an answer",
        "model/readers/objects/inventory.py",
        "                self.snapshots.add(source.name)",
        "                pass",
        f"{SNAPSHOT}::test_the_dashboard_shows_the_rest",
    ),
    Mutant(
        "answers: Jobs that end",
        "a drain ends a Job whose backoffLimit its evictions pass, without a word",
        "cli/verbs/drain.py",
        "    if ended:\n        raise",
        "    if False:\n        raise",
        f"{DRAIN}::test_a_drain_that_ends_a_job_is_refused",
    ),
    Mutant(
        "answers: pods without a controller",
        "a dry run says that a gang moves which the scheduler leaves on its node",
        "model/previews/drain.py",
        " and not any(_bare(reading, one, at))",
        "",
        f"{DRAIN}::test_what_stays_and_what_is_gone_for_good",
    ),
    Mutant(
        "answers: a bad edit is told of",
        "an edit is not used, and no verb says so",
        "cli/input/plan_input.py",
        "        print_problems(live.config.warnings)\n",
        "",
        f"{IN_FORCE}::test_verbs_go_on_with_the_last_good_config",
    ),
)
