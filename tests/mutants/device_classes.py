"""The safeguards around devices beside GPUs and shared claims, and the tests that notice."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

ALLOCATION = "k8s_bridge/ledger/claim_allocation.py"
CHOICE = "k8s_bridge/scheduling/device_claims.py"
OFFERS = "model/readers/dra/offers.py"
READERS = "tests/model/readers/dra/test_offers.py"
SHARED = "tests/k8s_bridge/ledger/test_shared_claims.py"
WHOLE = "tests/k8s_bridge/scheduling/test_compute_domain.py"
ON_THEIR_WAY = "tests/k8s_bridge/scheduling/test_claims_on_their_way.py"
LIVE = "tests/model/readers/live/test_live_claims.py"
EXPRESSIONS = "model/readers/dra/expressions.py"
EXPRESSION_TEXT = "model/readers/dra/expression_text.py"
SELECTORS = "tests/model/readers/dra/test_selectors.py"
KILLED = f"{SHARED}::test_killed_at_every_write"

DEVICE_CLASSES = (
    Mutant(
        "features that nodes declare",
        "a pod goes to a kubelet that refuses it, again and again",
        "model/node_constraint.py",
        "        if not self.features <= node.features:\n            return False\n",
        "",
        "tests/filters/test_tables.py::test_a_row[restarts of all containers]",
    ),
    Mutant(
        "shared claim: others stay",
        "a pod that joins a claim takes it from those that use it",
        ALLOCATION,
        '"reservedFor": [*_others(body, member), _consumer(member)]',
        '"reservedFor": [_consumer(member)]',
        KILLED,
    ),
    Mutant(
        "shared claim: others keep the device",
        "a rollback frees the device of a pod that runs",
        ALLOCATION,
        "others = _others(body, member)\n                rest",
        "others: list[Body] = []\n                rest",
        KILLED,
    ),
    Mutant(
        "shared claim: made for one pod",
        "a pod joins a claim that a template made for another",
        ALLOCATION,
        "not (_has(body, one) and _may_be_shared(body))",
        "not _has(body, one)",
        f"{SHARED}::test_a_claim_of_one_pod_is_not_shared",
    ),
    Mutant(
        "shared claim: where it can be reached",
        "a pod is placed where the device of its claim is not",
        "model/readers/pods/pods.py",
        "        for terms in self.reached:\n            constraint = both(constraint, terms)\n",
        "",
        f"{READERS}::test_a_claim_that_has_devices_takes_its_pods_to_their_node",
    ),
    Mutant(
        "shared claim: freed meanwhile",
        "a claim that was freed is given a device that several nodes reach, for one node alone",
        "model/readers/live/fabric_cache.py",
        "if held and wide(Pool(name.driver, name.pool)):",
        "if wide(Pool(name.driver, name.pool)):",
        f"{LIVE}::test_a_device_that_several_nodes_reach_is_there_for_the_claim_that_has_it",
    ),
    Mutant(
        "claim: takes no change",
        "a gang with a claim that no patch can change is never let go of its nodes",
        ALLOCATION,
        "            if not _takes_no_change(error):\n                raise",
        "            if error:\n                raise",
        "tests/k8s_bridge/ledger/test_claims_back.py::"
        "test_a_claim_that_takes_no_change_takes_the_gang_back",
    ),
    Mutant(
        "claim: when it was allocated",
        "kube-scheduler cannot join a claim, since it adds a time that the API refuses",
        ALLOCATION,
        'given | {"allocationTimestamp": second(self.clock.wall())}',
        "given",
        f"{WHOLE}::test_a_gang_gets_channels_and_gpus",
    ),
    Mutant(
        "class: what claims hold",
        "a node is planned for a device that a claim of a stranger holds",
        "model/readers/dra/holders.py",
        "numbers, beside = self.of(names), self._drivers.taken(names)",
        "numbers, beside = self.of(names), dict[str, tuple[tuple[str, int], ...]]()",
        f"{READERS}::test_what_a_claim_holds_is_taken_whatever_made_it",
    ),
    Mutant(
        "class: held while the plan was made",
        "a device that a claim holds is given to another",
        CHOICE,
        "held = (self._held, self._given, ",
        "held = (self._given, ",
        f"{WHOLE}::test_a_device_that_a_claim_holds_is_not_given",
    ),
    Mutant(
        "class: two of one batch",
        "two gangs of one plan get the same device",
        CHOICE,
        "self._given.update(name for names in beside.values() for name in names)",
        "self._given.update(())",
        f"{WHOLE}::test_gangs_of_one_plan_share_no_device",
    ),
    Mutant(
        "class: GPUs are counted once",
        "a GPU that is counted by resource is given by a claim as well",
        OFFERS,
        "if name.driver in gpus.names or gpus.of(name.driver, device):",
        "if False:",
        f"{READERS}::test_a_class_with_gpus_in_it_is_refused_by_name",
    ),
    Mutant(
        "class: devices in parts",
        "a device that several claims may have is given away whole",
        OFFERS,
        "if why := unfit(device):",
        'if why := "":',
        f"{READERS}::test_devices_that_take_more_than_a_name_are_refused_by_name",
    ),
    Mutant(
        "class: wider classes",
        "a device of a narrow class is promised again as one of the wide class",
        OFFERS,
        "for one in self.wider.get(name, (name,)))",
        "for one in (name,))",
        f"{READERS}::test_a_device_of_two_classes_is_one_of_each",
    ),
    Mutant(
        "shared claim: on its way",
        "a gang whose claim goes to another pod keeps a node idle, planned and refused for minutes",
        "k8s_bridge/scheduling/cycle.py",
        "            claims_on_their_way.rule(self.ledger, reading.gangs),\n",
        "",
        f"{ON_THEIR_WAY}::test_the_node_is_free_for_others_meanwhile",
    ),
    Mutant(
        "selector: comments",
        "a comment inside a loop hides the next one, and one claim takes minutes of the leader",
        EXPRESSIONS,
        "text = without_comments(text)",
        "text = str(text)",
        f"{SELECTORS}::test_what_cannot_be_run_is_refused",
    ),
    Mutant(
        "selector: what it binds",
        "thirty names, each of which says the one before twice, take all memory of the leader",
        EXPRESSION_TEXT,
        "if repeats > MOST_REPEATS:",
        "if repeats < 0:",
        f"{SELECTORS}::test_what_cannot_be_run_is_refused",
    ),
    Mutant(
        "selector: letters of any script",
        "a pattern of nine characters is made in 100 ms, anew for each device",
        "model/readers/dra/patterns.py",
        "    plain = _ESCAPE.sub(lambda found: _ASCII.get(found[1], found[0]), text)",
        "    plain = text",
        f"{SELECTORS}::test_an_expression_is_run",
    ),
    Mutant(
        "selector: counts in patterns",
        "a short pattern that counts to a million is made, and fills the leader",
        "model/readers/dra/patterns.py",
        "if len(text) * repeats > MOST_CHARACTERS:",
        "if len(text) > MOST_CHARACTERS:",
        f"{SELECTORS}::test_what_cannot_be_run_is_refused",
    ),
    Mutant(
        "devices by the name of their class",
        "a pod waits for ever, and is told that nodes are too small",
        "model/readers/gangs/holds.py",
        "        if field := pod.wants.unsupported or pod.unsupported or _by_class(pod):\n",
        "        if field := pod.wants.unsupported or pod.unsupported:\n",
        "tests/model/readers/dra/test_offers.py"
        "::test_devices_by_the_name_of_their_class_are_refused_by_name",
    ),
)
