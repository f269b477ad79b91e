"""The pods that another tenant submits, made on purpose to cost much."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, RESOURCE_CLAIMS, Kind
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE, gang, node, pod
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.readers.pods.device_map import DEVICE_MAP

NODES = [f"n-{s}-{leaf}-{n}" for s in range(4) for leaf in range(4) for n in range(4)]
"""The nodes of the fabric, by the names that `actors.nodes` gives them."""

TAKEN = NODES[:24]
"""Those that a load which fits may fill; the others are just enough for 20 honest gangs of two."""

HOST = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NOWHERE = {"no": "such"}


def one(name: str, gpus: int = 1, labels: Body | None = None, **spec: Any) -> Body:
    """A pod of one container."""
    body = pod(name, gpus, labels=labels or {})
    body["spec"].update(spec)
    return body


def hopeless(count: int, size: int = 1) -> list[Body]:
    """Gangs that no node suits."""
    bodies = [body for i in range(count) for body in gang(f"e-{i}", size, 1)]
    for body in bodies:
        body["spec"]["nodeSelector"] = _NOWHERE
    return bodies


def hopeless_each(count: int) -> list[Body]:
    """Pods that no node suits, of which no two ask for the same."""
    bodies = hopeless(count)
    for k, body in enumerate(bodies):
        body["spec"]["containers"][0]["resources"]["requests"] = {"cpu": f"{k + 1}m"}
    return bodies


def bound(gang_name: str) -> Body:
    """A pod on the last node that states to be of this gang, or is called like the gang `big`."""
    body = one("big" if not gang_name else "more", 1, nodeName=NODES[-1])
    if gang_name:
        body["metadata"]["annotations"] = {GANG: gang_name}
    return body


def anywhere(count: int) -> list[Body]:
    """A gang without GPUs that may use any leaves."""
    return gang("cpu", count, 0, **{"topology.scheduler/topology-policy": "Preferred"})


def sharing_lines(count: int) -> list[Body]:
    """Pods whose names have no number, each of which takes a line of its map by what is held."""
    bodies = hopeless(count)
    for k, body in enumerate(bodies):
        body["metadata"]["name"] = "w" + str(k).translate(str.maketrans("0123456789", "abcdefghij"))
        body["metadata"]["annotations"] = {DEVICE_MAP: f"{k}={NODES[0]}:0"}
    return bodies


def own_spreads(count: int, each: int) -> list[Body]:
    """Pods of so many spread constraints of their own."""
    bodies = hopeless(count)
    for i, body in enumerate(bodies):
        body["spec"]["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": HOST,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": f"g{i}-{j}"}},
            }
            for j in range(each)
        ]
    return bodies


def own_resources(count: int, each: int) -> list[Body]:
    """Pods without GPUs that ask for so many extended resources that nothing else knows."""
    bodies = [one(f"x-{i}", 0) for i in range(count)]
    for i, body in enumerate(bodies):
        requests = {f"x.y/r{i}-{j}": "1" for j in range(each)}
        body["spec"]["containers"][0]["resources"] = {"requests": requests}
    return bodies


def own_ports(count: int, each: int) -> list[Body]:
    """Pods without GPUs that take so many ports of their nodes, on each node others."""
    bodies = [one(f"y-{i}", 0) for i in range(count)]
    for i, body in enumerate(bodies):
        first = 1024 + i // len(NODES) * each
        ports = [{"containerPort": 1, "hostPort": first + j} for j in range(each)]
        body["spec"]["containers"][0]["ports"] = ports
    return bodies


def many_labels(count: int, each: int) -> list[Body]:
    """Pods of so many labels."""
    bodies = hopeless(count)
    for i, body in enumerate(bodies):
        body["metadata"]["labels"] = {f"k{j}": f"v{i}" for j in range(each)}
    return bodies


def without_plugin(name: str) -> Body:
    """A node of the first leaf on which no device plugin announces anything."""
    body = node(name, "leaf-0-0", "spine-0")
    for amounts in (body["status"]["allocatable"], body["status"]["capacity"]):
        amounts.pop("nvidia.com/gpu", None)
    return body


def mapped(on: str) -> Body:
    """A pod whose device map names a device of the node `on`."""
    body = one("mapped", 0)
    body["metadata"]["annotations"] = {DEVICE_MAP: f"0={on}:0"}
    return body


def _apart(selector: Body, terms: int = 1) -> Body:
    term = {"topologyKey": HOST, "labelSelector": selector}
    return {"podAntiAffinity": {_REQUIRED: [term] * terms}}


def _hosts(names: Sequence[str]) -> Body:
    wanted = {"key": HOST, "operator": "In", "values": list(names)}
    return {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}}}


def many_terms(number: int) -> Body:
    """A node affinity of 300 terms of 48 values."""
    terms = [
        {
            "matchExpressions": [
                values(f"k{t}", "NotIn", f"v{number}-{t}", 8),
                values(HOST, "In", f"x{number}-{t}", 40),
            ]
        }
        for t in range(300)
    ]
    return {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": terms}}}


def values(key: str, operator: str, stem: str, count: int) -> Body:
    """An expression with so many values that begin with `stem`."""
    return {"key": key, "operator": operator, "values": [f"{stem}-{v}" for v in range(count)]}


def picky(rnd: random.Random) -> list[Body]:
    """Pods that fit, each with a place of its own that it wants, as far as `TAKEN` goes."""
    said = "topology.scheduler/"
    bodies = []
    for k in range(450):
        body = one(f"p-{k}", rnd.choice(range(1, 9)))
        body["metadata"]["annotations"] = {
            f"{said}network-bandwidth": f"{rnd.choice([10, 50, 100])}Gb",
            f"{said}preferred-domain": f"leaf-{k % 4}-{k // 4 % 4}",
            f"{said}latency-sensitive": rnd.choice(["true", "false"]),
        }
        if k % 2:
            body["spec"]["nodeSelector"] = {HOST: TAKEN[k % len(TAKEN)]}
        else:
            body["spec"]["affinity"] = _hosts(TAKEN)
        bodies.append(body)
    return bodies


def odd_gangs(rnd: random.Random) -> list[Body]:
    """120 gangs of odd sizes, each pod for 15 hosts of its own among `TAKEN`."""
    bodies = []
    for number in range(120):
        size = rnd.choice([3, 5, 7, 9, 11])
        for k in range(size):
            body = one(f"o{number}-{k}", rnd.choice([1, 2, 3, 5, 6, 7]))
            body["metadata"]["annotations"] = {
                GANG: f"o{number}",
                GANG_SIZE: str(size),
                "topology.scheduler/topology-policy": rnd.choice(["Required", "Preferred"]),
            }
            body["spec"]["affinity"] = _hosts(rnd.sample(TAKEN, 15))
            bodies.append(body)
    return bodies


def differing(size: int) -> list[Body]:
    """A gang of pods of which no two ask for the same."""
    policy = {"topology.scheduler/topology-policy": "Preferred"}
    bodies = []
    for k, body in enumerate(gang("b", size, 1, **policy)):
        limits = {"nvidia.com/gpu": str(2 if k % 10 == 0 else 1)}
        resources = {"limits": limits, "requests": {"cpu": f"{k + 1}m"}}
        body["spec"]["containers"][0]["resources"] = resources
        bodies.append(body)
    return bodies


def mistaken() -> list[Body]:
    """3000 pods of 12 annotations that are misspelt."""
    bodies = [one(f"i-{k}") for k in range(3000)]
    for k, body in enumerate(bodies):
        wrong = {f"topology.scheduler/gang-sise{k}-{j}": "x" for j in range(12)}
        body["metadata"]["annotations"] = wrong | {GANG: f"i{k}"}
    return bodies


def repelling(count: int, stem: str) -> list[Body]:
    """Replicas of which no two share a node."""
    alike = {"matchLabels": {"app": "web"}}
    return [one(f"{stem}-{i}", 0, {"app": "web"}, affinity=_apart(alike)) for i in range(count)]


def spreading(count: int) -> list[Body]:
    """Replicas that spread over the nodes."""
    rule = {
        "maxSkew": 1,
        "topologyKey": HOST,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    labels = {"app": "web"}
    return [
        one(f"s-{i}", 0, labels, topologySpreadConstraints=[rule], nodeSelector=_NOWHERE)
        for i in range(count)
    ]


def all_repel() -> list[Body]:
    """1000 pods that repel every pod with a label that all of them have."""
    every = {"matchExpressions": [{"key": "n", "operator": "Exists"}]}
    return [
        one(f"a-{i}", 8, {"n": str(i)}, affinity=_apart(every), nodeSelector=_NOWHERE)
        for i in range(1000)
    ]


def runners(count: int) -> list[Body]:
    """Pods without GPUs of one label each."""
    return [one(f"r-{i}", 0, {"app": f"x{i}"}) for i in range(count)]


def long_selectors(count: int, entries: int) -> list[Body]:
    """Pods that no node suits, and that repel all pods that lack so many labels of their own."""
    return [
        one(f"t-{i}", 0, affinity=_apart(_lacks(f"k{i}", entries)), nodeSelector=_NOWHERE)
        for i in range(count)
    ]


def near_all(count: int, sorts: int) -> list[Body]:
    """Pods that no node suits, and that stand only near pods of each of so many sorts."""
    bodies = []
    for i in range(count):
        terms = [
            {
                "topologyKey": HOST,
                "namespaceSelector": {},
                "labelSelector": {
                    "matchExpressions": [
                        {"key": "app", "operator": "Exists"},
                        *_lacks(f"u{i}-{t}", 1)["matchExpressions"],
                    ]
                },
            }
            for t in range(sorts)
        ]
        affinity = {"podAffinity": {_REQUIRED: terms}}
        bodies.append(one(f"t-{i}", 0, affinity=affinity, nodeSelector=_NOWHERE))
    return bodies


def _lacks(stem: str, count: int) -> Body:
    """A selector of pods that have none of so many labels."""
    lacking = [{"key": f"{stem}-{n}", "operator": "DoesNotExist"} for n in range(count)]
    return {"matchExpressions": lacking}


def foreign_terms(count: int, each: int, key: str = "no.such/key") -> list[Body]:
    """Pods of so many terms of their own about pods of all namespaces."""
    bodies = []
    for i in range(count):
        terms = [
            {
                "topologyKey": key,
                "namespaceSelector": {},
                "labelSelector": {"matchExpressions": [values("zz", "NotIn", f"{i}-{t}", 1)]},
            }
            for t in range(each)
        ]
        bodies.append(one(f"r-{i}", 0, affinity={"podAntiAffinity": {_REQUIRED: terms}}))
    return bodies


def preferring(count: int, each: int) -> list[Body]:
    """Pods on no node that would rather be near so many pods that are not there."""
    bodies = []
    for i in range(count):
        terms = [
            {
                "weight": 1,
                "podAffinityTerm": {
                    "topologyKey": HOST,
                    "labelSelector": {"matchLabels": {"app": f"gone-{i}-{t}"}},
                },
            }
            for t in range(each)
        ]
        near = {"podAffinity": {_PREFERRED: terms}}
        bodies.append(one(f"p-{i}", nodeSelector=_NOWHERE, affinity=near))
    return bodies


def many_containers() -> list[Body]:
    """400 pods of 51 containers."""
    bodies = []
    for i in range(400):
        requests = {"requests": {"cpu": f"{i + 1}m", "memory": f"{i + 1}Mi"}}
        more = [{"name": f"c{j}", "image": "x", "resources": requests} for j in range(50)]
        body = one(f"h-{i}", nodeSelector=_NOWHERE)
        body["spec"]["containers"] += more
        bodies.append(body)
    return bodies


def tolerant() -> list[Body]:
    """500 pods of 100 tolerations of their own."""
    bodies = []
    for i in range(500):
        tolerated = [{"key": f"k{i}-{j}", "operator": "Exists"} for j in range(100)]
        bodies.append(one(f"t-{i}", tolerations=tolerated, nodeSelector=_NOWHERE))
    return bodies


def followers() -> list[Body]:
    """500 pods that want to be near a pod that is not there."""
    bodies = []
    for i in range(500):
        term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": f"gone-{i}"}}}
        bodies.append(one(f"f-{i}", affinity={"podAffinity": {_REQUIRED: [term]}}))
    return bodies


def wide(size: int, count: int) -> list[Body]:
    """Gangs of whole nodes."""
    return [body for i in range(count) for body in gang(f"w-{i}", size, 8)]


def terms_apart(count: int) -> list[Body]:
    """Pods of 100 anti-affinity terms."""
    exists = {"matchExpressions": [{"key": "zz", "operator": "Exists"}]}
    affinity = _apart(exists, 100)
    return [
        one(f"e-{i}", 8, {"n": str(i)}, nodeSelector=_NOWHERE, affinity=affinity)
        for i in range(count)
    ]


def own_hosts(rnd: random.Random) -> list[Body]:
    """500 pods too large for any node, each for 40 hosts of its own."""
    return [one(f"n-{i}", 9, affinity=_hosts(rnd.sample(TAKEN, 15))) for i in range(500)]


def tolerant_gangs() -> list[Body]:
    """100 gangs of 4 pods that fit nowhere together, each with 100 tolerations of its own."""
    bodies = []
    for i in range(100):
        for k, body in enumerate(gang(f"v-{i}", 4, 9)):
            tolerated = [{"key": f"k{i}-{k}-{j}", "operator": "Exists"} for j in range(100)]
            body["spec"]["tolerations"] = tolerated
            bodies.append(body)
    return bodies


def members_apart(count: int) -> list[Body]:
    """A gang of so many pods, each with 32 terms of its own about pods that are not there."""
    return _with_own_terms(gang("m", count, 1))


def own_terms(count: int) -> list[Body]:
    """The same without a gang, on no node that there is."""
    return _with_own_terms([one(f"q-{i}", nodeSelector=_NOWHERE) for i in range(count)])


def _with_own_terms(bodies: list[Body]) -> list[Body]:
    for k, body in enumerate(bodies):
        terms = [
            {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": f"gone-{k}-{t}"}}}
            for t in range(32)
        ]
        body["spec"]["affinity"] = {"podAntiAffinity": {_REQUIRED: terms}}
    return bodies


def with_disks(count: int, each: int) -> list[Body]:
    """Pods of so many disks of their own, named in the pods themselves."""
    bodies = []
    for i in range(count):
        body = one(f"d-{i}", 0)
        body["spec"]["volumes"] = [
            {"name": f"v-{j}", "gcePersistentDisk": {"pdName": f"disk-{i}-{j}"}}
            for j in range(each)
        ]
        bodies.append(body)
    return bodies


def claims(count: int) -> list[tuple[Kind, Body]]:
    """ResourceClaims of one request."""
    request = {"name": "r", "exactly": {"deviceClassName": "no-such", "count": 1}}
    spec = {"devices": {"requests": [request]}}
    return [(RESOURCE_CLAIMS, {"metadata": {"name": f"c-{i}"}, "spec": spec}) for i in range(count)]


def claiming(size: int, each: int) -> list[Body]:
    """A gang of pods that name so many of these claims each."""
    bodies = gang("k", size, 0)
    for body in bodies:
        body["spec"]["resourceClaims"] = [
            {"name": f"c-{i}", "resourceClaimName": f"c-{i}"} for i in range(each)
        ]
    return bodies


def budgets(count: int, values_of_each: int) -> list[tuple[Kind, Body]]:
    """Disruption budgets whose selectors name so many values."""
    found = []
    for i in range(count):
        picks = {"matchExpressions": [values("app", "In", f"v{i}", values_of_each)]}
        spec = {"maxUnavailable": 1, "selector": picks}
        found.append((DISRUPTION_BUDGETS, {"metadata": {"name": f"b-{i}"}, "spec": spec}))
    return found
