"""Safeguards against harm: who is evicted, what makes a node dead, whom the queue forgets."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

MONITOR = "tests/k8s_bridge/node_health/test_monitor.py"
VOLUMES = "tests/k8s_bridge/scheduling/test_volumes.py"
CLAIMS = "tests/model/readers/pods/test_volumes.py"
OWNERS = "tests/k8s_bridge/scheduling/test_owners.py"
REPAIR = "tests/k8s_bridge/relocation/test_repair.py"
PREEMPTION = "tests/k8s_bridge/relocation/test_preemption.py"
ANSWERS = "tests/k8s_bridge/test_api_answers.py"

HARM = (
    Mutant(
        "probes in a row",
        "one lost packet makes a node dead, and its members are evicted",
        "k8s_bridge/node_health/monitor.py",
        "KNOCKS = 3",
        "KNOCKS = 1",
        f"{MONITOR}::test_probes_that_are_lost[1-0]",
    ),
    Mutant(
        "time for a deleted node",
        "a kubelet that registers its node anew loses its members",
        "k8s_bridge/node_health/monitor.py",
        "GONE_SECONDS = 40.0",
        "GONE_SECONDS = 0.5",
        f"{MONITOR}::test_a_node_that_is_registered_anew[10]",
    ),
    Mutant(
        "a deleted node is asked for",
        "a leader with an old list of nodes evicts the members on those that it does not know",
        "k8s_bridge/node_health/monitor.py",
        '                await self.cluster.get(NODES, Target("", name))\n',
        '                raise NotFound("")\n',
        f"{MONITOR}::test_a_standby_that_has_not_heard_of_a_node",
    ),
    Mutant(
        "errors of our own are no silence",
        "a process without files left takes every host for dead",
        "k8s_bridge/node_health/probe.py",
        "return False if error.errno in UNREACHABLE_ERRNOS else None",
        "return False",
        "tests/k8s_bridge/node_health/test_probe.py::test_an_error_of_our_own_is_no_silence",
    ),
    Mutant(
        "budgets of victims",
        "the victim whose budget forbids it is taken apart, and the other one never tried",
        "k8s_bridge/relocation/preemption.py",
        "replace(one, preemptible=False) if one.gang.key in protected else one for one in lower",
        "one for one in lower",
        f"{PREEMPTION}::test_what_a_budget_forbids_is_not_forced",
    ),
    Mutant(
        "budgets of all victims together",
        "one of two victims goes for nothing, as the budget of both forbids the other",
        "k8s_bridge/relocation/preemption.py",
        "why = _forbidden(plan, budgets) or await self._refusal(relocation)",
        "why = await self._refusal(relocation)",
        f"{PREEMPTION}::test_two_victims_of_one_budget",
    ),
    Mutant(
        "dry run before evictions",
        "victims are evicted again and again for a gang that the API refuses to bind",
        "k8s_bridge/relocation/preemption.py",
        "why = _forbidden(plan, budgets) or await self._refusal(relocation)",
        "why = _forbidden(plan, budgets)",
        f"{PREEMPTION}::test_a_gang_that_the_api_would_refuse_evicts_nobody",
    ),
    Mutant(
        "victims that still end",
        "another gang is evicted every ten minutes while the first writes its checkpoint",
        "k8s_bridge/relocation/next_action.py",
        "if view.now >= one.until and not ends:",
        "if view.now >= one.until:",
        f"{PREEMPTION}::test_a_victim_that_ends_slowly_is_the_only_one",
    ),
    Mutant(
        "dry runs that are throttled",
        "one 429 in five keeps a wide gang waiting for a quarter of an hour",
        "k8s_bridge/ledger/dry_run.py",
        "            except (Throttled, Ambiguous) as error:\n                last = str(error)",
        "            except ZeroDivisionError as error:\n                last = str(error)",
        f"{ANSWERS}::test_a_throttled_dry_run_is_repeated",
    ),
    Mutant(
        "dry run after a commit that went back",
        "members are bound and evicted again every minute, for ever",
        "k8s_bridge/wiring.py",
        "        self.dry_run.rolled_back()\n",
        "",
        f"{ANSWERS}::test_a_policy_is_met_once",
    ),
    Mutant(
        "limit of Retry-After",
        "a proxy that asks for an hour for one record stops every gang for an hour",
        "k8s_bridge/cluster/errors.py",
        "retry_after and min(retry_after, RETRY_AFTER_LIMIT_SECONDS)",
        "retry_after",
        f"{ANSWERS}::test_a_proxy_that_asks_for_an_hour",
    ),
    Mutant(
        "back-off of a rollback",
        "evictions that the API refuses are asked for 160 times a second",
        "k8s_bridge/ledger/reconciler.py",
        "retry.backoff.next(max(waits))",
        "max(waits)",
        f"{ANSWERS}::test_evictions_of_a_rollback_back_off[403]",
    ),
    Mutant(
        "dead nodes and rollbacks",
        "a gang whose rack dies while it is being bound waits until a person deletes its pods",
        "k8s_bridge/scheduling/holds/rollbacks.py",
        "lost = (is_ending(pods, one) and one.node in dead for one in commit.members)",
        "lost = (False for one in commit.members)",
        f"{REPAIR}::test_a_rack_dies_while_its_gang_is_being_bound[4-1]",
    ),
    Mutant(
        "members that a rollback has fenced",
        "a pod that stands nowhere is planned around as if it stood on the dead node",
        "k8s_bridge/ledger/next_action.py",
        "return Step(Action.TIDY if len(held) < len(commit.members) else Action.WAIT)",
        "return Step(Action.WAIT)",
        f"{REPAIR}::test_a_rack_dies_while_its_gang_is_being_bound[4-1]",
    ),
    Mutant(
        "gang leases of what has been evicted",
        "a gang over two leaves that die while it is being bound waits for a person",
        "k8s_bridge/ledger/compaction.py",
        "        elif entry.lease and rolling and _all_end(commit, pods):\n",
        "        elif False:\n",
        f"{REPAIR}::test_a_rack_dies_while_its_gang_is_being_bound[8-2]",
    ),
    Mutant(
        "pods that nobody makes anew",
        "a drain takes members for good from a gang of bare pods",
        "k8s_bridge/relocation/repair.py",
        "            and not self._ends_bare_pods(one, view.dead)\n",
        "",
        "tests/k8s_bridge/relocation/test_moving.py"
        "::test_pods_that_no_controller_makes_anew_stay_on_a_drained_node",
    ),
    Mutant(
        "owners that are not known yet",
        "half of a Job's pods are bound while the scheduler has not heard of the Job",
        "model/readers/gangs/holds.py",
        "        if pod.owners.missing is not None:\n",
        "        if False:\n",
        f"{OWNERS}::test_pods_come_long_before_their_job[True]",
    ),
    Mutant(
        "all pods of a Job that is not known are one gang",
        "pods of a Job that is not Indexed start one by one before the Job is known",
        "model/readers/gangs/dialects.py",
        "    if job is None and pod.owners.missing is not None:\n        return True\n",
        "",
        "tests/model/readers/gangs/test_members.py::test_an_owner_that_a_cluster_lacks_holds_its_pods",
    ),
    Mutant(
        "UIDs of owners",
        "a Job made anew under its name counts the members of the one before, and starts in part",
        "model/readers/objects/owners.py",
        "return bool(ref.uid and uid) and uid != ref.uid",
        "return False",
        f"{OWNERS}::test_a_job_that_was_made_anew_under_its_name",
    ),
    Mutant(
        "kinds that come later",
        "a JobSet waits four minutes after its kind was installed",
        "k8s_bridge/informers/timeouts.py",
        "absent_again: float = 15.0",
        "absent_again: float = 180.0",
        f"{OWNERS}::test_a_kind_that_is_installed_later_is_noticed_in_seconds",
    ),
    Mutant(
        "volumes before bindings",
        "a gang starts in part while the volume of one member cannot be made",
        "k8s_bridge/ledger/reconciler.py",
        "        answers = [one for one in early if one is not None]\n",
        "        answers: list[BindingResult] = []\n",
        f"{VOLUMES}::test_a_volume_that_cannot_be_made_sends_the_gang_elsewhere",
    ),
    Mutant(
        "an end to waiting for a volume",
        "a gang holds its nodes for ever for a volume that never comes",
        "k8s_bridge/ledger/volume_provisioning.py",
        "if self.clock.monotonic() >= until:",
        "if False:",
        f"{VOLUMES}::test_a_volume_that_never_comes_frees_the_nodes",
    ),
    Mutant(
        "nodes that were selected are taken back",
        "a volume is made where its pod no longer goes, and ties it to that zone",
        "k8s_bridge/ledger/rollback.py",
        "                await self.provisioner.release(member)\n",
        "",
        f"{VOLUMES}::test_a_volume_that_never_comes_frees_the_nodes",
    ),
    Mutant(
        "claims that are not there",
        "a pod holds its GPUs on a node and never starts, for want of a claim",
        "model/readers/pods/volumes.py",
        '        if whole:\n            return _waits(f"{title} does not exist"',
        '        if False:\n            return _waits(f"{title} does not exist"',
        f"{CLAIMS}::test_what_is_not_there_yet_keeps_the_pod_waiting[missing]",
    ),
    Mutant(
        "terms of volumes",
        "two volumes of a tenant with ten thousand terms each fill the leader's memory",
        "model/readers/pods/volumes.py",
        "len(found.terms) > TERMS_LIMIT:",
        "len(found.terms) > TERMS_LIMIT**4:",
        f"{CLAIMS}::test_terms_that_multiply_are_bounded",
    ),
    Mutant(
        "one word on readiness",
        "a gang is planned onto a node and dropped again, each second, while another node is free",
        "k8s_bridge/cache/cluster_cache.py",
        'ready_status(body) == "True"',
        '"conditions" in body["status"] and ready_status(body) == "True"',
        "tests/k8s_bridge/test_scheduler.py::test_a_node_that_does_not_say_whether_it_is_ready",
    ),
    Mutant(
        "anti-affinity beyond the node",
        "a pod is placed into the zone of one that runs and repels it",
        "model/readers/gangs/keep_apart.py",
        "                taken[key].add(labels[pod.node][key])\n",
        "                continue\n",
        "tests/model/readers/gangs/test_wishes.py"
        "::test_a_zone_is_kept_free_of_pods_that_repel[running]",
    ),
    Mutant(
        "gangs set aside",
        "500 pods with a wrong selector keep every other gang from being looked at",
        "k8s_bridge/scheduling/set_aside.py",
        "        self._waiting |= found\n",
        "        found = {}\n",
        "tests/k8s_bridge/scheduling/test_set_aside.py"
        "::test_pods_that_fit_no_node_keep_nobody_from_starting",
    ),
)
"""Each was seen to happen before there was the safeguard."""
