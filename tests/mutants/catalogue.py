"""Every safeguard, how to take it out, and the test that notices."""

from __future__ import annotations

from tests.mutants.advice_that_serves import ADVICE_THAT_SERVES
from tests.mutants.answers import ANSWERS
from tests.mutants.answers_that_stay_out import ANSWERS_THAT_STAY_OUT
from tests.mutants.bound_once_more import BOUND_ONCE_MORE
from tests.mutants.claims import CLAIMS
from tests.mutants.conditions import CONDITIONS
from tests.mutants.denied_bindings import DENIED_BINDINGS
from tests.mutants.device_classes import DEVICE_CLASSES
from tests.mutants.devices import DEVICES
from tests.mutants.doubted_nodes import DOUBTED_NODES
from tests.mutants.evictions import EVICTIONS
from tests.mutants.fabric import FABRIC
from tests.mutants.fairness import FAIRNESS
from tests.mutants.formats import FORMATS
from tests.mutants.grants import GRANTS
from tests.mutants.hanging import HANGING
from tests.mutants.harm import HARM
from tests.mutants.held_nodes import HELD_NODES
from tests.mutants.hostile import HOSTILE
from tests.mutants.hung_pages import HUNG_PAGES
from tests.mutants.judged_by_filters import JUDGED_BY_FILTERS
from tests.mutants.kept_places import KEPT_PLACES
from tests.mutants.last_looks import LAST_LOOKS
from tests.mutants.much_at_once import MUCH_AT_ONCE
from tests.mutants.mutant import Mutant
from tests.mutants.named_objects import NAMED_OBJECTS
from tests.mutants.needless import NEEDLESS
from tests.mutants.odd_answers import ODD_ANSWERS
from tests.mutants.odd_records import ODD_RECORDS
from tests.mutants.operators import OPERATORS
from tests.mutants.overlap import OVERLAP
from tests.mutants.own_errors import OWN_ERRORS
from tests.mutants.plugin_calls import PLUGIN_CALLS
from tests.mutants.preempting_repairs import PREEMPTING_REPAIRS
from tests.mutants.preferences import PREFERENCES
from tests.mutants.proofs import PROOFS
from tests.mutants.read_meanwhile import READ_MEANWHILE
from tests.mutants.refused_evictions import REFUSED_EVICTIONS
from tests.mutants.refused_relocations import REFUSED_RELOCATIONS
from tests.mutants.seating import SEATING
from tests.mutants.served import SERVED
from tests.mutants.silence import SILENCE
from tests.mutants.sizes_and_lag import SIZES_AND_LAG
from tests.mutants.stale import STALE
from tests.mutants.starvation import STARVATION
from tests.mutants.storage import STORAGE
from tests.mutants.told import TOLD
from tests.mutants.told_by_verbs import TOLD_BY_VERBS
from tests.mutants.webhook import WEBHOOK
from tests.mutants.within_a_quota import WITHIN_A_QUOTA

SAFEGUARDS = "tests/k8s_bridge/ledger/test_safeguards.py"
BINDINGS = "tests/k8s_bridge/cluster/contract/test_bindings.py"
SCHEDULER = "tests/k8s_bridge/test_scheduler.py"
LAG = "tests/k8s_bridge/scheduling/test_lag.py"
REPAIR = "tests/k8s_bridge/relocation/test_repair.py"


def _insisting(read: str, name: str, version: str) -> str:
    """A write of a record that takes no refusal: it is repeated over whatever is there."""
    return f"""try:
            return {read}(await self._write({name}, {version}, body))
        except (Conflict, NotFound):
            found = await self.read({name})
            body["metadata"].pop("resourceVersion", None)
            version = found["metadata"]["resourceVersion"] if found else ""
            return {read}(await self._write({name}, version, body))"""


MUTANTS = (
    Mutant(
        "UID precondition: binding",
        "a pod made anew under the same name is bound in the place of the one that was planned",
        "k8s_bridge/cluster/live/client.py",
        'metadata: dict[str, Any] = {"name": pod.name, "namespace": pod.namespace, '
        "**_identity(pod)}",
        'metadata: dict[str, Any] = {"name": pod.name, "namespace": pod.namespace, '
        '**_identity(Target("", "", "", pod.version))}',
        f"{BINDINGS}::test_other_uid[real-wet]",
    ),
    Mutant(
        "UID precondition: reading after a conflict",
        "a pod made anew under the same name is taken for the member that was committed",
        "k8s_bridge/ledger/binding.py",
        "return seen if seen.pod.uid == pod.uid and not seen.finished else None",
        "return None if seen.finished else seen",
        f"{SAFEGUARDS}::test_a_pod_of_the_same_name_is_not_bound_in_its_place",
    ),
    Mutant(
        "UID precondition: eviction",
        "a pod made anew under the same name is evicted instead of the one that was meant",
        "k8s_bridge/cluster/live/client.py",
        "options = _options(Target(pod.namespace, pod.name, pod.uid))",
        "options = _options(Target(pod.namespace, pod.name))",
        "tests/k8s_bridge/cluster/contract/test_evictions.py::test_another_pod[real]",
    ),
    Mutant(
        "version precondition: binding",
        "a binding that was under way when its gang was rolled back takes effect all the same",
        "k8s_bridge/ledger/binding.py",
        "return Binding(pod, member.node, annotations)",
        "return Binding(Target(pod.namespace, pod.name, pod.uid), member.node, annotations)",
        f"{SAFEGUARDS}::test_a_binding_that_arrives_late_finds_its_pod_fenced",
    ),
    Mutant(
        "version precondition: on the wire",
        "the API is not told which version of the pod was planned",
        "k8s_bridge/cluster/live/client.py",
        'found = {"uid": target.uid, "resourceVersion": target.version}',
        'found = {"uid": target.uid, "resourceVersion": ""}',
        f"{BINDINGS}::test_other_version[real-wet]",
    ),
    Mutant(
        "dry run",
        "a webhook that refuses one member leaves the gang half bound, to be rolled back",
        "k8s_bridge/ledger/commit.py",
        "                if refusal:\n                    draft.fail(refusal, conflict)",
        "                if conflict:\n                    draft.fail(refusal, conflict)",
        f"{SAFEGUARDS}::test_who_refuses_in_the_dry_run_is_heard_before_anything_is_written",
    ),
    Mutant(
        "fence: epoch",
        "a leader that was replaced goes on committing after it has met its successor's records",
        "k8s_bridge/ledger/epoch.py",
        "if found > ours:",
        "if found < 0 > ours:",
        "tests/k8s_bridge/ledger/test_commit.py::test_a_paused_leader_cannot_commit",
    ),
    Mutant(
        "fence: unbound members of a gang that goes back",
        "a delayed binding takes a member whose room was freed",
        "k8s_bridge/ledger/compaction.py",
        "return fenced or taken or is_gone(pods, member)",
        "return (seen is not None and not seen.node) or is_gone(pods, member)",
        f"{SAFEGUARDS}::test_a_binding_that_arrives_late_finds_its_pod_fenced",
    ),
    Mutant(
        "quorum list: takeover",
        "a new leader misses what its predecessor wrote last, and frees it",
        "k8s_bridge/ledger/record_store.py",
        "lambda: self._cluster.list(LEASES, self._namespace, labels)",
        "lambda: self._cluster.list(LEASES, self._namespace, labels, cached=True)",
        f"{SAFEGUARDS}::test_a_takeover_reads_what_was_written_last",
    ),
    Mutant(
        "rewriting pages at takeover",
        "a paused predecessor writes a page after its successor has read it",
        "k8s_bridge/ledger/takeover.py",
        "await together(self._claim(page) for page in found.pages)",
        "await together(self._settle_unknown(page) for page in found.pages)",
        "tests/k8s_bridge/ledger/test_commit.py::test_a_paused_leader_cannot_commit",
    ),
    Mutant(
        "killing what is only prepared at takeover",
        "a gang lease that its leader gave up, or never decided, holds room for good",
        "k8s_bridge/ledger/takeover.py",
        "while now is not None and now.phase is Phase.PREPARED:",
        "while now is not None and now.phase is None:",
        f"{SAFEGUARDS}::test_what_a_successor_has_killed_is_not_committed",
    ),
    Mutant(
        "read-your-writes",
        "room that was given away is given away again until the watch has told of it",
        "model/readers/live/reader.py",
        "        self._table.assume(uid, node, devices, grant)",
        "        del uid, node, devices",
        f"{LAG}::test_room_that_was_just_given_away_is_not_given_again",
    ),
    Mutant(
        "page compare-and-swap",
        "two leaders give the same node away",
        "k8s_bridge/ledger/record_store.py",
        "return read_page(await self._write(name, page.version, body))",
        _insisting("read_page", "name", "page.version"),
        f"{SAFEGUARDS}::test_nothing_is_bound_on_a_page_that_was_taken_over",
    ),
    Mutant(
        "phase compare-and-swap",
        "a gang that a successor has killed is committed after all",
        "k8s_bridge/ledger/record_store.py",
        "return read_gang(await self._write(lease.name, lease.version, body))",
        _insisting("read_gang", "lease.name", "lease.version"),
        f"{SAFEGUARDS}::test_what_a_successor_has_killed_is_not_committed",
    ),
    Mutant(
        "write gate",
        "a leader whose lease has run out goes on writing",
        "k8s_bridge/election/gate.py",
        "        if not self.is_open:\n            raise",
        "        if self.is_open is None:\n            raise",
        "tests/k8s_bridge/election/test_election.py"
        "::test_the_gate_shuts_before_others_may_take_over",
    ),
    Mutant(
        "validator",
        "an illegal plan of a solver process that lies is committed",
        "solver/process/client.py",
        "        if breaches:\n            raise WorkerFault",
        "        if breaches is None:\n            raise WorkerFault",
        "tests/solver/process/test_client.py::test_bad_child_costs_optimality_alone",
    ),
    Mutant(
        "looking again at the room",
        "others land on a node while the solver runs, and it is given away twice",
        "k8s_bridge/scheduling/revalidate.py",
        "        why = why or room.take(placement, gangs[placement.gang])\n",
        "",
        f"{SCHEDULER}::test_room_taken_while_solving_is_noticed",
    ),
    Mutant(
        "looking again at the gang",
        "a gang that grew while the solver ran is bound in part",
        "k8s_bridge/scheduling/revalidate.py",
        "if not why and (gang is None or in_itself(gang) != in_itself(gangs[placement.gang])):",
        "if not why and placement.gang not in gangs:",
        f"{SCHEDULER}::test_a_gang_that_grew_while_solving_is_planned_again",
    ),
    Mutant(
        "looking again at the nodes",
        "pods are bound to a node that was cordoned or moved to another leaf meanwhile",
        "k8s_bridge/scheduling/revalidate.py",
        "        why = why or _changed_nodes(placement, solved, now)\n",
        "",
        f"{SCHEDULER}::test_a_node_that_changed_while_solving_is_planned_again",
    ),
    Mutant(
        "completed members: room",
        "what has ended keeps its devices for ever",
        "k8s_bridge/ledger/pods.py",
        "return seen is None or seen.finished or (seen.deleting and not seen.node)",
        "return seen is None or (seen.deleting and not seen.node)",
        "tests/k8s_bridge/ledger/test_commit.py::test_what_ended_is_freed",
    ),
    Mutant(
        "completed members: size",
        "a gang of which one member has ended waits for ever for a member that never comes",
        "model/readers/gangs/drafts.py",
        "[*waiting, *bound], ended)\n        done = ended if need.counts_ended else 0",
        "[*waiting, *bound], ended)\n        done = 0",
        "tests/model/readers/gangs/test_members.py::test_finished_members_count_and_hold_nothing",
    ),
    Mutant(
        "orphan proof",
        "a new leader frees the room of pods of which its watch has not told it yet",
        "k8s_bridge/leader.py",
        "for kind in (PODS, NODES):",
        "for kind in (NODES,):",
        f"{LAG}::test_a_new_leader_asks_before_it_takes_pods_for_gone",
    ),
    Mutant(
        "second witness",
        "a kubelet that is silent costs its gangs their places, although its host lives",
        "k8s_bridge/node_health/probe.py",
        "answers = await self._probed(nodes, suspects)",
        "answers = dict.fromkeys(suspects, False)",
        f"{REPAIR}::test_a_kubelet_that_is_silent_on_a_living_host_moves_nothing",
    ),
    Mutant(
        "silence of everybody",
        "when nobody is heard, as while the API is away, everybody counts as silent",
        "k8s_bridge/node_health/heartbeats.py",
        "return 0.0 if common > COMMON_SILENCE_SECONDS else now - heard",
        "return now - heard",
        "tests/k8s_bridge/node_health/test_heartbeats.py::test_a_silence_of_everybody_counts_for_nobody",
    ),
    Mutant(
        "hysteresis",
        "a node that flaps is given to gangs at every return",
        "k8s_bridge/node_health/judge.py",
        "return before if now - before.since < limits.well else Judgement(since=now)",
        "return Judgement(since=now)",
        "tests/k8s_bridge/node_health/test_judge.py"
        "::test_the_dead_return_after_they_have_been_well_for_a_while",
    ),
    Mutant(
        "kept room",
        "small gangs take the room that is kept for a big one, again and again",
        "k8s_bridge/relocation/reserved_seats.py",
        "running=(*snapshot.running, *_seats(view))",
        "running=snapshot.running",
        "tests/k8s_bridge/relocation/test_reservation.py"
        "::test_a_big_gang_under_a_stream_of_small_ones_has_its_turn",
    ),
    Mutant(
        "kept room makes way",
        "a place is kept for a gang before which another comes",
        "k8s_bridge/relocation/reservation.py",
        '            await self.end(kept, "a gang of a higher priority comes first")\n',
        "            pass\n",
        "tests/k8s_bridge/relocation/test_reservation.py"
        "::test_a_kept_place_makes_way_for_a_gang_that_comes_first",
    ),
    Mutant(
        "budget of moves",
        "every new leader may move as much as if nobody had been moved",
        "k8s_bridge/relocation/controller.py",
        "        await self.moves.load()\n",
        "",
        "tests/k8s_bridge/relocation/test_moving.py::test_a_budget_outlasts_who_has_spent_it",
    ),
    Mutant(
        "epoch before an eviction",
        "a leader that was replaced tells members to go whose places others have by now",
        "k8s_bridge/relocation/executor.py",
        "            await self.store.check_lead()\n            closed",
        "            closed",
        "tests/explorer/test_relocations.py::test_no_schedule_breaks_a_promise[returned--]",
    ),
    Mutant(
        "members of later commits",
        "a commit that goes back evicts whom a later one has bound",
        "k8s_bridge/ledger/compaction.py",
        "return fenced or taken or is_gone(pods, member)",
        "return fenced or is_elsewhere(pods, member) or is_gone(pods, member)",
        "tests/k8s_bridge/ledger/test_bound_by_another.py::test_who_has_bound_it_decides",
    ),
    Mutant(
        "gang leases that a takeover did not list",
        "a commit that is decided between the lists of a new leader and its first page is dropped",
        "k8s_bridge/ledger/takeover.py",
        "            await self._settle_unknown(now)\n",
        "",
        f"{SAFEGUARDS}::test_what_is_decided_while_another_takes_over_stands",
    ),
    Mutant(
        "what is gone stays gone",
        "an answer that comes late brings back an object that was deleted",
        "k8s_bridge/cache/cluster_cache.py",
        "        if _uid(body) in self._gone:\n            return\n        if kind is PODS",
        "        if kind is PODS",
        "tests/k8s_bridge/cache/test_cluster_cache.py"
        "::test_an_answer_from_before_the_end_brings_nobody_back",
    ),
    Mutant(
        "writes at a time",
        "a thousand bindings stand before the renewal of the lead",
        "k8s_bridge/election/gate.py",
        "RequestTurns(at_once)",
        "RequestTurns(10**6)",
        "tests/k8s_bridge/election/test_election.py::test_so_many_writes_are_under_way_at_a_time",
    ),
    *DEVICES,
    *WEBHOOK,
    *ANSWERS,
    *CLAIMS,
    *DEVICE_CLASSES,
    *FORMATS,
    *DOUBTED_NODES,
    *HELD_NODES,
    *EVICTIONS,
    *FABRIC,
    *GRANTS,
    *HANGING,
    *HARM,
    *HOSTILE,
    *KEPT_PLACES,
    *NEEDLESS,
    *PLUGIN_CALLS,
    *OVERLAP,
    *OPERATORS,
    *PREFERENCES,
    *PROOFS,
    *REFUSED_EVICTIONS,
    *SEATING,
    *CONDITIONS,
    *ODD_ANSWERS,
    *ODD_RECORDS,
    *SERVED,
    *SILENCE,
    *HUNG_PAGES,
    *STALE,
    *REFUSED_RELOCATIONS,
    *STARVATION,
    *STORAGE,
    *TOLD,
    *FAIRNESS,
    *NAMED_OBJECTS,
    *LAST_LOOKS,
    *JUDGED_BY_FILTERS,
    *ANSWERS_THAT_STAY_OUT,
    *TOLD_BY_VERBS,
    *BOUND_ONCE_MORE,
    *PREEMPTING_REPAIRS,
    *ADVICE_THAT_SERVES,
    *WITHIN_A_QUOTA,
    *SIZES_AND_LAG,
    *OWN_ERRORS,
    *DENIED_BINDINGS,
    *MUCH_AT_ONCE,
    *READ_MEANWHILE,
)
