"""Safeguards of how long nodes are doubted and how often they fail, and who notices without."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

TESTS = "tests/k8s_bridge/node_health"
BEATS = f"{TESTS}/test_heartbeats.py"
COMMON = f"{TESTS}/test_common_silence.py"
COUNTED = f"{TESTS}/test_failures_counted.py"
DELETED = f"{TESTS}/test_deleted_nodes.py"
END = f"{TESTS}/test_end_of_general_silence.py"
JUDGES = f"{TESTS}/test_judge.py"
MONITOR_TESTS = f"{TESTS}/test_monitor.py"
PROBES = f"{TESTS}/test_probe.py"
RATE_TESTS = f"{TESTS}/test_failure_rates.py"
SPREADS = f"{TESTS}/test_spreading_silence.py"
CACHE_TESTS = "tests/k8s_bridge/cache/test_cluster_cache.py"
UNKNOWN = "k8s_bridge/cache/unknown_nodes.py"
CACHE = "k8s_bridge/cache/cluster_cache.py"
DELETED_NODES = "k8s_bridge/node_health/deleted_nodes.py"
HEARTBEATS = "k8s_bridge/node_health/heartbeats.py"
JUDGE = "k8s_bridge/node_health/judge.py"
MONITOR = "k8s_bridge/node_health/monitor.py"
PROBE = "k8s_bridge/node_health/probe.py"
RATES = "k8s_bridge/node_health/failure_rates.py"
SILENCES = "k8s_bridge/node_health/general_silence.py"
SPREADING = "k8s_bridge/node_health/spreading_silence.py"

DOUBTED_NODES = (
    Mutant(
        "the dead while no kubelet is heard",
        "a host whose kubelet does not run takes gangs, as no other kubelet is heard either",
        JUDGE,
        " or (signs.hushed and not is_unknown)",
        "",
        f"{JUDGES}::test_what_died_of_its_silence_is_back_once_it_shows_itself[signs3-False]",
    ),
    Mutant(
        "the dead while no kubelet is heard: by what they say",
        "a pause of all heartbeats brings nodes without power back, and gangs are bound to them",
        JUDGE,
        "    if not before.renewed or signs.renewed",
        "    if True or signs.renewed",
        f"{COMMON}::test_a_node_without_power_stays_dead[20]",
    ),
    Mutant(
        "the dead while no kubelet is heard: for long",
        "a node without power is back once Leases were not heard for a minute",
        JUDGE,
        "    return is_unknown and (signs.answered or before.cause is not Cause.SILENT)",
        "    return is_unknown",
        f"{JUDGES}::test_what_died_of_its_silence_is_back_once_it_shows_itself[signs8-False]",
    ),
    Mutant(
        "the dead where Leases may be read no more",
        "what had power again while a role was edited takes no gang until the next leader",
        MONITOR,
        "if is_suspect(one) or (one.hushed and one.there and name in lost)",
        "if is_suspect(one)",
        f"{COMMON}::test_a_host_that_answers_is_back_where_leases_may_be_read_no_more",
    ),
    Mutant(
        "the dead: by the Lease that was silent last",
        "a node that renewed its Lease once more before it fell silent comes back with no power",
        JUDGE,
        "(before.cause, before.renewed) == (cause, renewed)",
        "before.cause is cause",
        f"{JUDGES}::test_a_death_goes_by_the_lease_that_was_silent_last",
    ),
    Mutant(
        "the dead: shut down after they were silent",
        "a taint that goes after a pause of all heartbeats brings a node without power back",
        JUDGE,
        "if cause in _BY_SILENCE else before.renewed",
        'if cause in _BY_SILENCE else ""',
        f"{JUDGES}::test_what_was_silent_before_it_was_shut_down_is_back_once_it_renews",
    ),
    Mutant(
        "what returns while no kubelet is heard",
        "a node that loses power while it returns is well after a pause of all heartbeats",
        JUDGE,
        "    if signs.hushed:\n",
        "    if False:\n",
        f"{COMMON}::test_a_node_that_loses_power_while_it_returns_is_not_well[100]",
    ),
    Mutant(
        "what returns while no kubelet is heard: by a true answer",
        "two probes that failed count as an answer, and a node without power is on its way back",
        JUDGE,
        "known = signs.answered or",
        "known = signs.answers or",
        f"{JUDGES}::test_what_returns_is_well_for_as_long_as_it_is_heard_or_answers",
    ),
    Mutant(
        "kubelets that renew seldom",
        "where kubelets renew each 30 s, a node that failed once takes no gang any more",
        JUDGE,
        "_is_heard(signs, limits) or (signs.answered and _is_ready(signs))",
        "_is_heard(signs, limits)",
        f"{COMMON}::test_a_kubelet_that_renews_each_30_s_is_well_within_a_minute",
    ),
    Mutant(
        "Leases that are read no more",
        "a role is edited, and no node that loses power is found dead any more",
        HEARTBEATS,
        "heard is None or common > UNHEARD_SECONDS",
        "heard is None",
        f"{MONITOR_TESTS}::test_leases_that_may_be_read_no_more_hide_no_death",
    ),
    Mutant(
        "Leases that are read no more: not before most are given up",
        "two kubelets are cut off for a moment, and the first that is given up is dead",
        HEARTBEATS,
        "UNHEARD_SECONDS = 60.0",
        "UNHEARD_SECONDS = 30.0",
        f"{BEATS}::test_after_a_minute_without_any_heartbeat_it_is_not_known_who_is_silent",
    ),
    Mutant(
        "a new count after a common silence: once",
        "of two kubelets that renew each 15 s one hides the death of the other",
        HEARTBEATS,
        "node: heard + uncounted if node in self._resumed else now\n",
        "node: now\n",
        f"{BEATS}::test_a_kubelet_that_renews_each_15_s_hides_no_silence_of_the_other",
    ),
    Mutant(
        "a new count after a common silence: for those that were heard",
        "a second outage of the API takes kubelets for silent that were heard after the first",
        HEARTBEATS,
        "        self._resumed.discard(node)\n",
        "",
        f"{BEATS}::test_who_was_heard_between_two_common_silences_has_the_whole_limit_again",
    ),
    Mutant(
        "connections that are denied",
        "where a policy denies the scheduler connections to hosts, no node is ever dead",
        PROBE,
        "failed <= self._denied",
        "not failed",
        f"{MONITOR_TESTS}::test_who_may_not_be_asked_is_dead_once_it_is_given_up",
    ),
    Mutant(
        "connections that are denied: told apart",
        "a policy that denies connections is taken for an error of our own",
        PROBE,
        "        except PermissionError:\n            raise\n",
        "",
        f"{PROBES}::test_a_process_that_may_not_ask_says_so",
    ),
    Mutant(
        "a host of several addresses",
        "a host that is named, and has two addresses, is never found silent",
        PROBE,
        "error.errno is not None or isinstance(error, TimeoutError)",
        "True",
        f"{PROBES}::test_a_name_of_two_addresses",
    ),
    Mutant(
        "a host of several addresses: one that lives",
        "a host that refuses connections at one address is dead by the other",
        PROBE,
        "raise min(errors, key=_doubt)",
        "raise errors[0]",
        f"{PROBES}::test_a_name_of_two_addresses",
    ),
    Mutant(
        "an address that is not to be had here",
        "where nodes have IPv6 and the scheduler's pod has not, no node is ever dead",
        PROBE,
        "for door in doors)) - {_Found.ABSENT}",
        "for door in doors))",
        f"{MONITOR_TESTS}::test_a_host_without_power_has_an_address_that_is_not_to_be_had_here",
    ),
    Mutant(
        "an address that is not to be had here: told apart",
        "where the pod of the scheduler has no IPv6, that is taken for an error of its own",
        PROBE,
        "                raise AbsentError from error\n",
        "                return None\n",
        f"{PROBES}::test_a_kind_of_address_that_is_not_to_be_had_says_so",
    ),
    Mutant(
        "an address that is not to be had here: of a host that is named",
        "a host that is named, and has an address of IPv6 too, is never found silent",
        PROBE,
        "known = (ALIVE_ERRNOS, frozenset[int](), UNREACHABLE_ERRNOS, ABSENT_ERRNOS)",
        "known = (ALIVE_ERRNOS, frozenset[int](), UNREACHABLE_ERRNOS)",
        f"{PROBES}::test_a_name_of_two_addresses",
    ),
    Mutant(
        "addresses of which none is to be had here",
        "where the scheduler's pod has no address of the nodes' kind, no node is ever dead",
        PROBE,
        "if _Found.DENIED in found or not found:",
        "if _Found.DENIED in found:",
        f"{PROBES}::test_a_host_of_addresses_that_cannot_all_be_asked",
    ),
    Mutant(
        "an address that is denied",
        "a host that may not be asked at one address is dead by the other alone",
        PROBE,
        "return False if found == {_Found.SILENT} else None",
        "return False if _Found.SILENT in found else None",
        f"{PROBES}::test_a_host_of_addresses_that_cannot_all_be_asked",
    ),
    Mutant(
        "an address that is denied: the other one is silent",
        "where one family of addresses is denied, no node is dead, whatever the API says",
        PROBE,
        "if answer is False} | self._in_part",
        "if answer is False}",
        f"{PROBES}::test_a_host_of_addresses_that_cannot_all_be_asked",
    ),
    Mutant(
        "no memory and no thread for a probe",
        "a scheduler short of memory ends its term as it probes a host",
        PROBE,
        "ValueError, OverflowError, MemoryError, RuntimeError",
        "ValueError, OverflowError",
        f"{PROBES}::test_a_process_without_memory_or_threads_has_not_asked",
    ),
    Mutant(
        "failures of a clock that was ahead",
        "a node that failed while a clock was a year ahead is shunned for a year",
        RATES,
        "        if score.at > now:\n",
        "        if False:\n",
        f"{RATE_TESTS}::test_a_failure_of_a_clock_that_was_ahead_fades_once_it_is_set_right",
    ),
    Mutant(
        "failures that have faded",
        "nodes that come under ever new names take memory for ever",
        RATES,
        "self._left(scores, one, now) < SCORE_FLOOR",
        "self._left(scores, one, now) < 0",
        f"{RATE_TESTS}::test_nodes_that_come_under_ever_new_names_are_forgotten",
    ),
    Mutant(
        "failures that an earlier leader has counted",
        "each leader counts the nodes that are dead once more",
        MONITOR,
        "self._count(self._fresh - self._inherited, fabric)",
        "self._count(self._fresh, fabric)",
        f"{COUNTED}::test_the_next_leader_counts_no_failure_again",
    ),
    Mutant(
        "failures that an earlier leader has counted: of leaves",
        "each leader counts the leaves that are dead once more",
        MONITOR,
        "(fallen - self._fallen) & leaves",
        "fallen - self._fallen",
        f"{COUNTED}::test_the_next_leader_counts_no_failure_again",
    ),
    Mutant(
        "failures that an earlier leader has counted: before they are loaded",
        "a leader counts a death again that it finds before it knows what is kept",
        MONITOR,
        "        if self._is_loaded:\n",
        "        if True:\n",
        f"{COUNTED}::test_the_next_leader_counts_no_failure_again",
    ),
    Mutant(
        "failures that an earlier leader has counted: until they are well",
        "what fails once more under the next leader is not counted",
        MONITOR,
        "        self._inherited &= lost\n",
        "",
        f"{COUNTED}::test_what_fails_after_it_was_well_counts_under_the_next_leader",
    ),
    Mutant(
        "who returns as the lead changes",
        "a node that flaps is given gangs at once by the next leader",
        MONITOR,
        "dict.fromkeys(self._inherited - self.dead, returning)",
        "{}",
        f"{COUNTED}::test_who_returns_is_not_well_at_once_for_the_next_leader",
    ),
    Mutant(
        "a leaf of a single node",
        "a failure of its node counts one and a half times",
        MONITOR,
        "dead >= max(2, sizes.get(leaf, dead))",
        "dead >= sizes.get(leaf, dead)",
        f"{COUNTED}::test_the_only_node_of_a_leaf_is_no_leaf_that_failed",
    ),
    Mutant(
        "a leaf that has fallen",
        "a node that flaps in a leaf that is down has all of the leaf shunned",
        MONITOR,
        "(fallen - self._fallen) & leaves",
        "fallen & leaves",
        f"{COUNTED}::test_a_leaf_fails_once_for_a_node_that_flaps",
    ),
    Mutant(
        "doubt about nodes that were well",
        "what is on its way to a node that flaps is kept there where most fall silent",
        MONITOR,
        "frozenset(name for name in silent & withheld if self.judgements[name].usable)",
        "frozenset(silent & withheld)",
        f"{COUNTED}::test_who_returns_is_not_in_doubt_where_most_fall_silent",
    ),
    Mutant(
        "a silence of most nodes: who was dead before",
        "nodes that died before keep a silence of most from ending",
        SILENCES,
        "            if not _is_dead(judgements, name):\n",
        "            if True:\n",
        f"{END}::test_who_was_dead_before_is_no_part_of_it",
    ),
    Mutant(
        "a silence of most nodes: who dies of something else",
        "a node that is broken is told as one that is silent",
        SILENCES,
        "            and not _is_dead(judgements, name)\n",
        "",
        f"{END}::test_who_dies_of_something_else_is_not_spared_any_more",
    ),
    Mutant(
        "a silence that spreads: each for a minute",
        "a minute after the first one, the nodes of every later cut die",
        SPREADING,
        "            self._began = None\n            return False\n",
        "            return False\n",
        f"{SPREADS}::test_each_silence_that_spreads_has_its_own_minute",
    ),
    Mutant(
        "silence beside a dead node: never longer",
        "where short silences suffice, nodes of a dead rack are found dead later",
        JUDGE,
        "min(LEAF_SILENCE_SECONDS, limits.silent)",
        "LEAF_SILENCE_SECONDS",
        f"{JUDGES}::test_beside_a_dead_node_of_its_leaf_none_has_more_time",
    ),
    Mutant(
        "a node that is back is asked for no more",
        "each node that was away for a while is asked for until the API answers",
        DELETED_NODES,
        "            while self._gone_since.get(name) == since:\n",
        "            while True:\n",
        f"{DELETED}::test_one_that_is_back_is_asked_for_no_more",
    ),
    Mutant(
        "doubt about a node: not where it is withheld",
        "what is on its way to a dead node is kept there for a minute",
        CACHE,
        "self._unknown.is_new(node) and node not in self._withheld",
        "self._unknown.is_new(node)",
        f"{CACHE_TESTS}::test_a_node_that_is_withheld_is_not_in_doubt",
    ),
    Mutant(
        "doubt about a node: since it went out of sight",
        "what is on its way to a silent node waits for as long as it is written to",
        UNKNOWN,
        "self._since.setdefault(name, self.clock.monotonic())",
        "self._since[name] = self.clock.monotonic()",
        f"{CACHE_TESTS}::test_a_node_is_in_doubt_since_it_went_out_of_sight",
    ),
    Mutant(
        "doubt about a node: anew once it was gone",
        "a node that is made anew and not heard of at once has its gangs taken back",
        CACHE,
        "            self.nodes.pop(name, None)\n            self._unknown.forget(name)\n",
        "            self.nodes.pop(name, None)\n",
        f"{CACHE_TESTS}::test_a_node_that_was_gone_is_in_doubt_anew",
    ),
    Mutant(
        "doubt about a node: anew once a list lacked it",
        "a node that is made anew after a list without it has its gangs taken back",
        CACHE,
        "            self._unknown.keep(self.nodes)\n",
        "",
        f"{CACHE_TESTS}::test_a_node_that_was_gone_is_in_doubt_anew",
    ),
    Mutant(
        "nodes that are to be emptied take no pod",
        "a pod is moved off a node that was uncordoned, comes back, and is moved again for ever",
        "model/readers/nodes/nodes.py",
        "cordoned=cordoned or is_drained or metadata",
        "cordoned=cordoned or metadata",
        "tests/k8s_bridge/relocation/test_repair.py"
        "::test_who_is_moved_off_a_node_does_not_come_back",
    ),
    Mutant(
        "kept times that could not be written again",
        "a Lease of failure rates with a time of 1e300 ends every term",
        "k8s_bridge/node_health/failure_rates.py",
        " and abs(at) <= LAST_MOMENT for value",
        " for value",
        "tests/k8s_bridge/node_health/test_failure_rates.py"
        "::test_a_time_that_could_not_be_written_again_is_refused",
    ),
    Mutant(
        "evictions of no number that could be written again",
        "a Lease of evictions with a number of 10^30 ends every term",
        "k8s_bridge/relocation/evictions/history.py",
        "Annotated[int, Field(ge=0, le=MOST_PODS)]",
        "Annotated[int, Field()]",
        "tests/k8s_bridge/relocation/test_unread_evictions.py"
        "::test_numbers_that_make_no_sense_count_for_nothing",
    ),
    Mutant(
        "a returning node whose host answers",
        "a lost probe of a kubelet that renews its Lease each 16 s keeps its node waiting",
        "k8s_bridge/node_health/judge.py",
        "limits.silent if signs.answers else RETURN_SILENCE_SHARE * limits.silent",
        "RETURN_SILENCE_SHARE * limits.silent",
        "tests/k8s_bridge/node_health/test_judge.py"
        "::test_what_returns_is_well_for_as_long_as_it_is_heard_or_answers",
    ),
    Mutant(
        "all addresses of a host",
        "a gang is moved off a host that lives, of which one address is not reached",
        "k8s_bridge/node_health/probe.py",
        "for one in found[:MOST_ADDRESSES]]",
        "for one in found[:1]]",
        "tests/k8s_bridge/node_health/test_monitor.py"
        "::test_a_host_that_answers_at_its_second_address_lives",
    ),
    Mutant(
        "the highest score",
        "a node that flapped for a day is avoided for two months",
        "k8s_bridge/node_health/failure_rates.py",
        "FailureScore(min(score, HIGHEST_SCORE), now)",
        "FailureScore(score, now)",
        "tests/k8s_bridge/node_health/test_failure_rates.py"
        "::test_a_node_that_flapped_for_a_day_is_forgiven",
    ),
    Mutant(
        "scores that fit into one Lease",
        "after the loss of thousands of nodes none of the failures is kept for the next leader",
        "k8s_bridge/node_health/failure_rates.py",
        "            return names[:number]\n",
        "            return names\n",
        "tests/k8s_bridge/node_health/test_failure_rates.py"
        "::test_thousands_of_nodes_that_failed_fit_into_one_lease",
    ),
    Mutant(
        "a leaf that falls as a whole once more",
        "a rack whose switch fails again and again counts as one that failed once",
        "k8s_bridge/node_health/monitor.py",
        "        self._fallen &= frozenset(self._leaf_of",
        "        _ = frozenset(self._leaf_of",
        "tests/k8s_bridge/node_health/test_failures_counted.py"
        "::test_a_leaf_that_falls_as_a_whole_twice_is_counted_twice",
    ),
)
