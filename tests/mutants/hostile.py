"""Safeguards of the loop from what one tenant, or one client, sends: each cost seconds of it."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PROTOCOL = "k8s_bridge/runtime/http/bounded_protocol.py"
PAGES = "tests/k8s_bridge/runtime/http/test_pages.py"
MAPS = "tests/model/readers/pods/test_device_map.py"
ALLOWANCE = "tests/model/readers/live/test_read_allowance.py"
POD_LIMIT = "tests/k8s_bridge/cluster/test_pod_limit.py"
WORDS = "tests/k8s_bridge/test_words_of_tenants.py"

HOSTILE = (
    Mutant(
        "a bound on what follows a body in chunks",
        "one connection fills the memory of any server in seconds",
        PROTOCOL,
        "self._around > self._limits.head + FRAMING * self._body",
        "self._in_head and self._around > self._limits.head",
        f"{PAGES}::test_what_follows_a_body_in_chunks_is_cut_off",
    ),
    Mutant(
        "a bound on requests of one connection that wait for each other",
        "forty connections keep the loop, and so the leader's Lease, for ten seconds",
        PROTOCOL,
        "        if len(self.pipeline) >= MOST_PIPELINED:\n",
        "        if False:\n",
        f"{PAGES}::test_who_waits_for_no_answer_gets_few",
    ),
    Mutant(
        "a bound on bad lines of a device map",
        "a Job of twenty pods with one annotation keeps the leader for half a minute",
        "model/readers/pods/device_map.py",
        "        if len(bad) == MOST_BAD_LINES:\n",
        "        if False:\n",
        f"{MAPS}::test_after_many_bad_lines_the_rest_is_not_read",
    ),
    Mutant(
        "turns of owners and gangs at what a namespace may have read again",
        "no new pod of a namespace starts while one of its owners changes all the time",
        "model/readers/live/pod_cache.py",
        "            if namespace in self._unable and namespace not in self._served:\n",
        "            if False:\n",
        f"{ALLOWANCE}::test_who_changes_all_the_time_keeps_no_other_pod_from_being_read",
    ),
    Mutant(
        "turns of gangs and owners",
        "what an owner says is never read while a gang of its namespace changes all the time",
        "model/readers/live/pod_cache.py",
        " and namespace not in self._served:\n",
        ":\n",
        f"{ALLOWANCE}::test_a_gang_that_changes_all_the_time_keeps_no_owner_from_being_read",
    ),
    Mutant(
        "entries of one pod: kept parts",
        "150 pods of a megabyte each end both replicas again and again",
        "k8s_bridge/cluster/slim.py",
        "        cut_parts(body)\n",
        "        pass\n",
        f"{POD_LIMIT}::test_of_very_many_entries_few_are_kept_and_the_pod_is_held",
    ),
    Mutant(
        "entries of one pod: told",
        "a pod of which parts were cut is placed without them",
        "model/readers/pods/pods.py",
        "    refuse_cut(manifest, spec)\n",
        "",
        f"{POD_LIMIT}::test_a_pod_of_very_many_labels_is_held",
    ),
    Mutant(
        "entries of one pod: what it holds goes first",
        "a pod with very many names of amounts takes GPUs that count as free",
        "k8s_bridge/cluster/pod_limit.py",
        "sorted(value, key=lambda name: name not in _FIRST and not name.startswith(PREFIX))",
        "sorted(value)",
        f"{POD_LIMIT}::test_what_a_pod_holds_counts_however_much_else_it_says",
    ),
    Mutant(
        "conditions and events of one line",
        "a plugin that repeats what a tenant wrote moves the cursor of who reads the condition",
        "k8s_bridge/runtime/api_text.py",
        "    text = one_line(text)\n",
        "",
        f"{WORDS}::test_conditions_and_events_are_one_line",
    ),
    Mutant(
        "containers with GPUs are kept first",
        "a pod of 600 containers of which the last has all GPUs of its node seems to have none",
        "k8s_bridge/cluster/pod_limit.py",
        "sorted(listed, key=_rank)[:MOST_OF_A_FIELD]",
        "listed[:MOST_OF_A_FIELD]",
        "tests/k8s_bridge/cluster/test_pod_limit.py"
        "::test_the_gpus_of_the_last_of_many_containers_count",
    ),
)
"""Each was seen to happen before there was the safeguard."""
