"""Rows about pods that want to be near others, or apart from them."""

from __future__ import annotations

from tests.filters.tables.table import (
    ALL,
    HOST,
    REQUIRED,
    Row,
    Standing,
    apart,
    both,
    near,
    picks,
    term,
)

_NONE = {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}
_NOT_B = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["b"]}]}
_NOT_A = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}
"""What the API server makes of `mismatchLabelKeys` in a pod of app `a`."""
_A = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}
"""What it makes of `matchLabelKeys` in one."""
_A_AND_NO_TIER = {
    "matchExpressions": [
        {"key": "app", "operator": "Exists"},
        {"key": "tier", "operator": "DoesNotExist"},
    ]
}
_ML = {"matchLabels": {"kubernetes.io/metadata.name": "ml"}}
_OPS = {"matchLabels": {"team": "ops"}}
_SOFT = [{"weight": 1, "podAffinityTerm": term("b")}]

NEAR_OTHERS = (
    Row("near an app that runs in one zone", "n0 n1", near(term("b")), (Standing("n0", "b"),)),
    Row("near an app on the same host", "n0", near(term("b", HOST)), (Standing("n0", "b"),)),
    Row("near an app that runs nowhere", "", near(term("b")), gated="affinity"),
    Row("near its own app, of which it is the first", ALL, near(term("a"))),
    Row("near its own app, of which one runs", "n2 n3", near(term("a")), (Standing("n3"),)),
    Row(
        "near one of two apps",
        "n2 n3",
        near(term("b") | {"labelSelector": picks("b", "c")}),
        (Standing("n2", "c"),),
    ),
    Row(
        "near whatever is not of an app",
        "n0 n1",
        near(term("b") | {"labelSelector": _NOT_B}),
        (Standing("n0", "c"), Standing("n2", "b")),
    ),
    Row(
        "all expressions of a selector count",
        "n2 n3",
        near(term("b") | {"labelSelector": _A_AND_NO_TIER}),
        (Standing("n2", "b"),),
    ),
    Row(
        "near pods without the label",
        "",
        near(term("b") | _NONE),
        (Standing("n0", "b"),),
        gated="affinity",
    ),
    Row(
        "both terms of one pod that runs",
        "n0",
        near(term("b"), term("b", HOST)),
        (Standing("n0", "b"),),
    ),
    Row(
        "each term of another pod is not enough",
        "",
        near(term("b"), term("c")),
        (Standing("n0", "b"), Standing("n2", "c")),
        gated="affinity",
    ),
    Row(
        "the app runs in another namespace",
        "",
        near(term("b")),
        (Standing("n0", "b", "ops"),),
        gated="affinity",
    ),
    Row(
        "the namespace is named",
        "n0 n1",
        near(term("b", namespaces=["ops"])),
        (Standing("n0", "b", "ops"), Standing("n2", "b")),
    ),
    Row(
        "all namespaces",
        "n0 n1",
        near(term("b", namespaceSelector={})),
        (Standing("n0", "b", "ops"),),
    ),
    Row(
        "namespaces by label",
        "n0 n1",
        near(term("b", namespaceSelector=_OPS)),
        (Standing("n0", "b", "ops"),),
        refused="namespaceSelector",
    ),
    Row(
        "nodes without the label of a term",
        "n0",
        near(term("b")),
        (Standing("n0", "b"),),
        {"n1": {"labels": {"zone": None}}},
    ),
    Row("near a pod that ends", "n0 n1", near(term("b")), (Standing("n0", "b", going=True),)),
    Row(
        "a preference leaves all nodes",
        ALL,
        {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": _SOFT}}},
    ),
    Row("apart from an app in its zone", "n2 n3", apart(term("b")), (Standing("n0", "b"),)),
    Row(
        "apart from an app on its host", "n1 n2 n3", apart(term("b", HOST)), (Standing("n0", "b"),)
    ),
    Row("apart from an app that runs nowhere", ALL, apart(term("b"))),
    Row(
        "apart from an app of another namespace",
        ALL,
        apart(term("b")),
        (Standing("n0", "b", "ops"),),
    ),
    Row(
        "apart from an app in every zone",
        "",
        apart(term("b")),
        (Standing("n0", "b"), Standing("n2", "b")),
    ),
    Row(
        "either term keeps it away",
        "n3",
        apart(term("b"), term("c", HOST)),
        (Standing("n0", "b"), Standing("n2", "c")),
    ),
    Row(
        "apart from namespaces by name",
        "n0 n1",
        apart(term("b", namespaces=["ops"])),
        (Standing("n2", "b", "ops"),),
    ),
    Row(
        "apart from all namespaces",
        "n0 n1",
        apart(term("b", namespaceSelector={})),
        (Standing("n2", "b", "ops"),),
    ),
    Row(
        "apart from namespaces by label",
        "n0 n1",
        apart(term("b", namespaceSelector=_OPS)),
        (Standing("n2", "b", "ops"),),
        refused="namespaceSelector",
    ),
    Row("who runs repels it", "n2 n3", {}, (Standing("n0", "b", spec=apart(term("a"))),)),
    Row(
        "who runs repels it from its host",
        "n1 n2 n3",
        {},
        (Standing("n0", "b", spec=apart(term("a", HOST))),),
    ),
    Row("who runs repels others", ALL, {}, (Standing("n0", "b", spec=apart(term("c"))),)),
    Row(
        "who runs repels its own namespace alone",
        ALL,
        {},
        (Standing("n0", "b", "ops", apart(term("a"))),),
    ),
    Row(
        "who runs repels this namespace by name",
        "n2 n3",
        {},
        (Standing("n0", "b", "ops", apart(term("a", namespaces=["ml"]))),),
    ),
    Row(
        "who runs repels namespaces by label",
        "n2 n3",
        {},
        (Standing("n0", "b", "ops", spec=apart(term("a", namespaceSelector=_ML))),),
    ),
    Row(
        "who runs repels other namespaces by label",
        ALL,
        {},
        (Standing("n0", "b", spec=apart(term("a", namespaceSelector=_OPS))),),
        unused="n0 n1",
    ),
    Row(
        "who runs repels it by more terms than one that waits may have",
        "n2 n3",
        {},
        (Standing("n0", "b", spec=apart(*[term("c")] * 32, term("a"))),),
    ),
    Row("who runs wants to be near it", ALL, {}, (Standing("n0", "a", spec=near(term("a"))),)),
    Row(
        "near one app and apart from another",
        "n1",
        both(term("b"), term("c", HOST)),
        (Standing("n0", "b"), Standing("n0", "c")),
    ),
    Row(
        "near an app and apart from it",
        "n1",
        both(term("b"), term("b", HOST)),
        (Standing("n0", "b"),),
    ),
    Row(
        "near an app that is repelled everywhere",
        "",
        both(term("b"), term("b")),
        (Standing("n0", "b"),),
    ),
    Row(
        "near an app that repels it",
        "n1",
        near(term("b")),
        (Standing("n0", "b", spec=apart(term("a", HOST))),),
    ),
    Row(
        "its own label, and the same key",
        "n0 n1",
        near(term("b", matchLabelKeys=["app"])),
        (Standing("n0", "b"),),
        app="b",
    ),
    Row(
        "apart from a pod of another label since, whose keys were those of old",
        "n1 n2 n3",
        standing=(
            Standing(
                "n0",
                "b",
                spec=apart(term("a", HOST, matchLabelKeys=["app"]) | {"labelSelector": _A}),
            ),
        ),
    ),
    Row(
        "the same, of a pod that waits",
        "n1 n2 n3",
        apart(term("a", HOST, matchLabelKeys=["app"]) | {"labelSelector": _A}),
        (Standing("n0", "a"),),
        app="b",
    ),
    Row(
        "another label, and mismatched keys",
        "n2 n3",
        {
            "affinity": {
                "podAntiAffinity": {
                    REQUIRED: [{**term("a", mismatchLabelKeys=["app"]), "labelSelector": _NOT_A}]
                }
            }
        },
        (Standing("n0", "b"), Standing("n2", "a")),
    ),
    Row(
        "near whatever is not of its own app, and nothing else runs",
        "",
        near(term("a") | {"labelSelector": _NOT_A}),
        (Standing("n0"),),
        gated="affinity",
    ),
    Row(
        "near an app in either of two namespaces",
        ALL,
        near(term("b", namespaces=["ml", "ops"])),
        (Standing("n0", "b", "ops"), Standing("n2", "b")),
    ),
    Row(
        "near an app of all namespaces, whichever are named",
        "n0 n1",
        near(term("b", namespaces=["ml"], namespaceSelector={})),
        (Standing("n0", "b", "ops"),),
    ),
    Row(
        "near an app by a label that no node has",
        "",
        near(term("b", "rack")),
        (Standing("n0", "b"),),
    ),
    Row(
        "its own first pod by a label that one zone has",
        "n2 n3",
        near(term("a", "rack")),
        nodes={"n2": {"labels": {"rack": "r0"}}, "n3": {"labels": {"rack": "r1"}}},
    ),
    Row(
        "near an app in a zone that a selector rules out",
        "",
        near(term("b")) | {"nodeSelector": {"zone": "z1"}},
        (Standing("n0", "b"),),
    ),
    Row(
        "near a pod that is over",
        "",
        near(term("b")),
        (Standing("n0", "b", status={"phase": "Succeeded"}),),
        gated="affinity",
    ),
    Row(
        "by a key of a label that it does not have",
        "n0 n1",
        near(term("b", matchLabelKeys=["tier"])),
        (Standing("n0", "b"),),
    ),
    Row("apart from its own app, of which none runs", ALL, apart(term("a"))),
    Row("apart from its own app", "n2 n3", apart(term("a")), (Standing("n0"),)),
    Row(
        "apart from an app by a label that no node has",
        ALL,
        apart(term("b", "rack")),
        (Standing("n0", "b"),),
    ),
    Row(
        "apart from an app by a label that some nodes have",
        "n1 n2 n3",
        apart(term("b", "rack")),
        (Standing("n0", "b"), Standing("n2", "b")),
        {"n0": {"labels": {"rack": "r0"}}, "n1": {"labels": {"rack": "r1"}}},
    ),
    Row(
        "apart from a pod that is over",
        ALL,
        apart(term("b")),
        (Standing("n0", "b", status={"phase": "Failed"}),),
    ),
    Row(
        "apart from a pod that ends", "n2 n3", apart(term("b")), (Standing("n0", "b", going=True),)
    ),
    Row(
        "a preference of apartness leaves all nodes",
        ALL,
        {
            "affinity": {
                "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": _SOFT}
            }
        },
        tuple(Standing(node, "b") for node in ("n0", "n1", "n2", "n3")),
    ),
    Row(
        "who runs repels whatever is not of an app",
        "n2 n3",
        {},
        (Standing("n0", "b", spec=apart(term("b") | {"labelSelector": _NOT_B})),),
    ),
    Row(
        "who runs repels whatever is not of its app",
        ALL,
        {},
        (Standing("n0", "b", spec=apart(term("a") | {"labelSelector": _NOT_A})),),
    ),
    Row(
        "who runs and is over repels nothing",
        ALL,
        {},
        (Standing("n0", "b", spec=apart(term("a")), status={"phase": "Succeeded"}),),
    ),
    Row(
        "near an app in its zone, apart from another there, and repelled elsewhere",
        "n1",
        both(term("b"), term("c", HOST)),
        (
            Standing("n0", "b"),
            Standing("n0", "c"),
            Standing("n2", "b", spec=apart(term("a"))),
        ),
    ),
)
