"""`status`, `queue`, `why`, `snapshot` and the live `plan`, on a real apiserver and scheduler."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import Result

from fourleaf.model.devices.visibility import ENTRY
from tests.cli.conftest import Run
from tests.controlplane.api import Api
from tests.controlplane.fixtures import (  # noqa: F401 - fixtures by name
    Plane,
    control_plane_programs,
    module_control_plane,
)
from tests.controlplane.fleet import LEAF_LABEL, Fleet, create_fleet
from tests.controlplane.processes import free_ports
from tests.controlplane.waiting import eventually
from tests.e2e.replica import Replica

HIDDEN = "do-not-tell"


@dataclass(frozen=True)
class Stage:
    """A cluster with a scheduler: 8 leaves of 4 nodes under one spine."""

    plane: Plane
    replica: Replica
    namespace: str

    @property
    def kubeconfig(self) -> str:
        """The owner's kubeconfig file."""
        return str(self.plane.kubeconfig())

    @property
    def url(self) -> str:
        """Where the scheduler listens."""
        return f"http://127.0.0.1:{self.replica.port}"


def pod(name: str, gpus: int, leaf: str = "", **annotations: str) -> dict[str, Any]:
    """A pod for our scheduler, whose environment holds what nobody else may see."""
    container = {
        "name": "main",
        "image": "train",
        "command": ["sh", "-c", HIDDEN],
        "env": [ENTRY, {"name": "TOKEN", "value": HIDDEN}],
        "resources": {"limits": {"nvidia.com/gpu": str(gpus)}},
    }
    spec: dict[str, Any] = {
        "schedulerName": "topology-aware-scheduler",
        "containers": [container],
    }
    if leaf:
        spec["nodeSelector"] = {LEAF_LABEL: leaf}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": spec}


def gang(api: Api, namespace: str, name: str, size: int) -> None:
    """Create a gang of whole nodes."""
    said = {"topology.scheduler/gang": name, "topology.scheduler/gang-size": str(size)}
    for i in range(size):
        api.create(f"/api/v1/namespaces/{namespace}/pods", pod(f"{name}-{i}", 8, **said))


def placed(api: Api, namespace: str) -> int:
    """How many pods have a node."""
    items = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    return sum(bool(item["spec"].get("nodeName")) for item in items)


def explained(api: Api, namespace: str, name: str) -> bool:
    """Whether the scheduler has written to every pod of a gang why it waits."""
    items = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    pods = [one for one in items if one["metadata"]["name"].startswith(f"{name}-")]
    return all("adjacent" in json.dumps(one["status"].get("conditions", [])) for one in pods)


@pytest.fixture(scope="module")
def stage(
    module_control_plane: Plane,  # noqa: F811 - the fixture
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    """A pair that runs, a notebook in the leaves 3 and 7, and 16 nodes wanted that must wait."""
    plane = module_control_plane
    create_fleet(plane.kubeconfig(), Fleet(32))
    with plane.api() as api, Replica(plane, "admin", tmp_path_factory.mktemp("run")) as replica:
        eventually(lambda: replica.leads, "the scheduler leads")
        namespace = api.new_namespace()
        path = f"/api/v1/namespaces/{namespace}"
        secret = {"metadata": {"name": "keys"}, "stringData": {"key": HIDDEN}}
        api.create(f"{path}/secrets", secret)
        for leaf in (3, 7):
            api.create(f"{path}/pods", pod(f"notebook-{leaf}", 1, f"leaf-{leaf}"))
        eventually(lambda: placed(api, namespace) == 2, "the notebooks are bound")
        gang(api, namespace, "pair", 2)
        eventually(lambda: placed(api, namespace) == 4, "the pair is bound")
        gang(api, namespace, "big", 16)
        eventually(lambda: explained(api, namespace, "big"), "the big gang knows why it waits")
        yield Stage(plane, replica, namespace)


def asked(result: Result, code: int = 0) -> Any:
    """The JSON that a verb has printed, having ended with `code`."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_status_counts_what_was_set_up(stage: Stage, run: Run) -> None:
    """18 of 256 GPUs are used by three gangs, one gang waits, and every leaf has its page."""
    told = asked(run("status", "--kubeconfig", stage.kubeconfig, "-o", "json"))
    assert told["leader"]["valid"]
    assert told["leader"]["holder"] == stage.replica.get("/status")["identity"]
    assert told["gpus"] == {"total": 256, "used": 18, "free": 238}
    assert told["nodes"] == {
        "total": 32,
        "schedulable": 32,
        "leaves": 8,
        "spines": 1,
        "unlabelled": 0,
        "refused": 0,
        "withoutGpus": 0,
        "notReady": 0,
        "away": 0,
        "silent": [],
        "mostAway": False,
    }
    assert told["gangs"] == {
        "running": 3,
        "onLostNodes": [],
        "onSilentNodes": [],
        "waiting": 1,
        "reasons": {"NoAdjacentLeaves": 1},
    }
    assert told["records"]["pages"] == 8
    assert told["records"]["unreadable"] == 0
    assert set(told["records"]["formats"]) == {"1"}


def test_status_for_people(stage: Stage, run: Run) -> None:
    """The same as lines, from the cluster and from the scheduler itself."""
    told = run("status", "--kubeconfig", stage.kubeconfig)
    assert told.exit_code == 0
    assert "256: 18 used, 238 free to be scheduled" in told.stdout
    assert "3 running, 1 waiting" in told.stdout
    assert "all records are format 1" in told.stdout
    served = run("status", "--server", stage.url)
    assert served.exit_code == 0
    assert ": leads" in served.stdout
    assert "all records are format 1; writes 1" in served.stdout
    assert "1 NoAdjacentLeaves" in served.stdout


def test_status_without_a_leader(stage: Stage, run: Run) -> None:
    """Where nobody holds a Lease, the exit code is 3."""
    words = ("--kubeconfig", stage.kubeconfig, "--scheduler-namespace", stage.namespace)
    told = run("status", *words)
    assert told.exit_code == 3
    assert "leader      none" in told.stdout


def test_a_lapsed_lease_is_not_valid(stage: Stage, run: Run) -> None:
    """A holder who has not renewed and does not while we look leads no more."""
    body = {
        "metadata": {"name": "fourleaf-scheduler"},
        "spec": {
            "holderIdentity": "gone",
            "leaseDurationSeconds": 1,
            "leaseTransitions": 7,
            "renewTime": "2020-01-01T00:00:00.000000Z",
        },
    }
    with stage.plane.api() as api:
        namespace = api.new_namespace()
        api.create(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases", body)
    words = ("--kubeconfig", stage.kubeconfig, "--scheduler-namespace", namespace, "-o", "json")
    leader = asked(run("status", *words), 3)["leader"]
    assert leader["holder"] == "gone"
    assert leader["epoch"] == 7
    assert not leader["valid"]


def test_queue_from_cluster_and_scheduler(stage: Stage, run: Run) -> None:
    """Both tell of the one gang that waits, for the same reason in the same words."""
    (seen,) = asked(run("queue", "--kubeconfig", stage.kubeconfig, "-o", "json"))["gangs"]
    assert seen["name"] == "big"
    assert seen["reason"] == "NoAdjacentLeaves"
    assert (seen["gpus"], seen["pods"]) == (128, 16)
    told = ("name", "reason", "message", "gpus", "pods")

    def agrees() -> bool:
        (gang,) = asked(run("queue", "--server", stage.url, "-o", "json"))["gangs"]
        return all(gang[key] == seen[key] for key in told)

    # The scheduler tells of its last cycle, which may be from before the last change of a node.
    eventually(agrees, "the scheduler tells the same")
    assert any("notebook-3" in step for step in seen["unblock"])
    wide = run("queue", "--kubeconfig", stage.kubeconfig, "-o", "wide").stdout
    assert "no 4 adjacent leaves have the room together" in wide
    elsewhere = run("queue", "--kubeconfig", stage.kubeconfig, "-n", "default")
    assert elsewhere.stdout == "no gang waits\n"


def test_why_of_a_gang_that_runs(stage: Stage, run: Run) -> None:
    """It stands on two nodes of one leaf with all 8 devices of each."""
    told = asked(run("why", "pair", "--kubeconfig", stage.kubeconfig, "-o", "json"))
    assert told["state"] == "Placed"
    assert len({one["node"] for one in told["pods"]}) == 2
    assert len({one["leaf"] for one in told["pods"]}) == 1
    assert [one["devices"] for one in told["pods"]] == [list(range(8))] * 2
    table = run("why", f"{stage.namespace}/pair", "--kubeconfig", stage.kubeconfig).stdout
    assert "0,1,2,3,4,5,6,7" in table


def test_why_of_a_gang_that_waits(stage: Stage, run: Run) -> None:
    """It waits for a notebook, and the exit code says that it waits."""
    words = ("why", "big", "-n", stage.namespace, "--kubeconfig", stage.kubeconfig)
    told = asked(run(*words, "-o", "json"), 3)
    assert told["state"] == "Waiting"
    assert told["why"]["reason"] == "NoAdjacentLeaves"
    assert told["why"]["counts"]["leaves"] == 4
    assert any("notebook-3" in step for step in told["why"]["unblock"])
    assert "unblock: it starts when" in run(*words).stdout


HEAVY = ("ortools", "numpy", "kubernetes", "fastapi", "structlog", "fourleaf.solver.process.client")
LOADED = """
import sys
from fourleaf.cli.main import app
kubeconfig, heavy, *verbs = sys.argv[1:]
for words in verbs:
    try:
        app([*words.split(), "--kubeconfig", kubeconfig])
    except SystemExit as end:
        print(end.code)
print([one for one in heavy.split() if one in sys.modules])
"""


def test_verbs_load_nothing_that_takes_long(stage: Stage) -> None:
    """Nor is anything solved for `why`: what the scheduler has written answers it."""
    verbs = ("status", "queue", f"why -n {stage.namespace} pair", f"why -n {stage.namespace} big")
    words = [sys.executable, "-c", LOADED, stage.kubeconfig, " ".join(HEAVY), *verbs]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    said = done.stdout.splitlines()
    assert [line for line in said if line.isdigit()] == ["0", "0", "0", "3"]
    assert "as the scheduler says" in done.stdout
    assert said[-1] == "[]"


def test_why_of_an_unknown_gang(stage: Stage, run: Run) -> None:
    """A slip of the pen is bad input, and the right name is offered."""
    told = run("why", "piar", "--kubeconfig", stage.kubeconfig)
    assert told.exit_code == 2
    assert f"Perhaps {stage.namespace}/pair?" in told.stderr


def test_scores_of_what_runs_and_waits(stage: Stage, run: Run) -> None:
    """The pair fills half a leaf, and one GPU more where a notebook stands in it."""
    told = asked(run("score", "--kubeconfig", stage.kubeconfig, "-o", "json"), 3)
    states = {one["name"]: one["state"] for one in told["gangs"]}
    running = dict.fromkeys(("pair", "notebook-3", "notebook-7"), "Placed")
    assert states == {**running, "big": "Waiting"}
    place = next(one["place"] for one in told["gangs"] if one["name"] == "pair")
    used = 16 + (place["leaves"][0] in ("leaf-3", "leaf-7"))
    terms = {term["name"]: term for term in place["terms"]}
    assert terms["domainUtilization"]["raw"] == {"used": used, "gpus": 32}
    assert terms["domainUtilization"]["points"] == 16 * (285 * (1000 * used // 32) // 1000)


JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "what-if", "namespace": "ml"},
    "spec": {
        "parallelism": 4,
        "completions": 4,
        "template": {
            "spec": {
                "schedulerName": "topology-aware-scheduler",
                "containers": [
                    {"name": "main", "resources": {"limits": {"nvidia.com/gpu": "8"}}},
                ],
            }
        },
    },
}


def answers(document: dict[str, Any]) -> Any:
    """What a plan says of each gang."""
    return document["gangs"], document["status"], document["objective"]


def test_what_if_on_the_cluster_and_on_its_snapshot(stage: Stage, run: Run, tmp_path: Path) -> None:
    """A Job that nobody has submitted gets one leaf, the same from both, and nothing changes."""
    job, file = tmp_path / "job.yaml", tmp_path / "now.json"
    job.write_text(yaml.safe_dump(JOB))
    taken = run("snapshot", "--kubeconfig", stage.kubeconfig, "-o", file)
    assert taken.exit_code == 0
    moment = re.search(r"--now (\S+)", taken.stderr)
    assert moment
    now = ("--now", moment[1], "-o", "json")
    of_file = asked(run("plan", "-f", file, "-f", job, *now), 3)
    of_cluster = asked(run("plan", "--live", "-f", job, "--kubeconfig", stage.kubeconfig, *now), 3)
    assert answers(of_file) == answers(of_cluster)
    fits = next(one for one in of_cluster["gangs"] if one["name"] == "what-if")
    leaves = {int(one["node"].removeprefix("gpu-")) // 4 for one in fits["pods"]}
    assert len(fits["pods"]) == 4
    assert len(leaves) == 1
    with stage.plane.api() as api:
        jobs = api.get("/apis/batch/v1/jobs")["items"]
        assert all(item["metadata"]["name"] != "what-if" for item in jobs)


def test_live_plan(stage: Stage, run: Run) -> None:
    """Without files, `plan` plans the cluster: the gang that waits still has to."""
    told = asked(run("plan", "--kubeconfig", stage.kubeconfig, "-o", "json"), 3)
    assert [(one["name"], one["placed"]) for one in told["gangs"]] == [("big", False)]


def test_an_owner_without_pods_is_not_planned_live(stage: Stage, run: Run) -> None:
    """In a cluster, pods that do not exist are their controller's business."""
    with stage.plane.api() as api:
        namespace = api.new_namespace()
        body = {**JOB, "metadata": {"name": "unmade"}}
        body["spec"] = json.loads(json.dumps(JOB["spec"]))
        body["spec"]["template"]["spec"]["restartPolicy"] = "Never"
        body["spec"]["template"]["spec"]["containers"][0]["image"] = "train"
        path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        api.create(path, body)
        told = asked(run("plan", "--kubeconfig", stage.kubeconfig, "-o", "json"), 3)
        api.delete(f"{path}/unmade")
    assert [one["name"] for one in told["gangs"]] == ["big"]


def test_snapshot_tells_no_secrets(stage: Stage, run: Run) -> None:
    """It holds nodes, pods and pages, each with its kind, and nothing that containers are told."""
    told = asked(run("snapshot", "--kubeconfig", stage.kubeconfig))
    kinds = [item["kind"] for item in told["items"]]
    assert kinds.count("Node") == 32
    assert kinds.count("Pod") == 20
    assert kinds.count("Lease") == 8
    assert "Secret" not in kinds
    assert HIDDEN not in json.dumps(told)
    assert all(item["apiVersion"] for item in told["items"])


def test_snapshot_into_nowhere(stage: Stage, run: Run) -> None:
    """A file that cannot be written is bad input."""
    told = run("snapshot", "--kubeconfig", stage.kubeconfig, "-o", "/nowhere/now.json")
    assert told.exit_code == 2
    assert "/nowhere/now.json: cannot be written: No such file or directory" in told.stderr


def kubeconfig(folder: Path, server: str, token: str, authority: str = "") -> Path:
    """A kubeconfig file."""
    cluster = {"server": server, **({"certificate-authority": authority} if authority else {})}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return path


def test_when_the_gang_that_waits_could_start(stage: Stage, run: Run) -> None:
    """Of the two notebooks that nobody says the end of, one would have to go."""
    words = ("queue", "--start", "--kubeconfig", stage.kubeconfig, "-o", "json")
    (told,) = asked(run(*words))["gangs"]
    assert told["start"]["seconds"] is None
    (name,) = told["start"]["waitsFor"]
    assert name in {f"{stage.namespace}/notebook-{leaf}" for leaf in (3, 7)}


def test_what_draining_a_leaf_comes_to(stage: Stage, run: Run) -> None:
    """The notebook of leaf 3 has no owner that would make it anew, so it stays where it is."""
    words = ("--kubeconfig", stage.kubeconfig, "-o", "json")
    (one,) = asked(run("drain", "leaf-3", *words), 3)["gangs"]
    assert (one["name"], one["outcome"]) == ("notebook-3", "Stays")
    assert asked(run("defrag", *words))["movable"] == 0


def test_a_leaf_is_marked_and_given_back(stage: Stage, run: Run) -> None:
    """Its four nodes are cordoned for as long as that lasts."""
    with stage.plane.api() as api:
        nodes = {body["metadata"]["name"] for body in api.get("/api/v1/nodes")["items"]}
        busy = {pod["spec"].get("nodeName") for pod in api.get("/api/v1/pods")["items"]}
        taken = {int(name.removeprefix("gpu-")) // 4 for name in busy & nodes}
        leaf = min(set(range(8)) - taken)
        words = (f"leaf-{leaf}", "--kubeconfig", stage.kubeconfig, "-o", "json")

        def cordoned() -> list[str]:
            items = api.get("/api/v1/nodes")["items"]
            return [i["metadata"]["name"] for i in items if i["spec"].get("unschedulable")]

        told = asked(run("drain", "--apply", *words))
        assert (len(told["nodes"]), told["drained"]) == (4, True)
        assert cordoned() == told["nodes"]
        assert asked(run("drain", "--undo", *words)) == {**told, "drained": False}
        assert cordoned() == []


def test_asking_for_a_defragmentation_needs_the_config_map(stage: Stage, run: Run) -> None:
    """This cluster runs by the defaults and has none."""
    told = run("defrag", "--apply", "--kubeconfig", stage.kubeconfig)
    assert told.exit_code == 2
    assert "ConfigMap kube-system/topology-scheduler-config: does not exist" in told.stderr


@pytest.mark.parametrize(
    "verb",
    [
        ("status",),
        ("queue",),
        ("why", "x"),
        ("snapshot",),
        ("plan",),
        ("plan", "--what-if", "topologyAlignment=1"),
        ("score",),
        ("drain", "x"),
        ("drain", "x", "--apply"),
        ("defrag",),
        ("defrag", "--apply"),
    ],
)
def test_nobody_answers(run: Run, tmp_path: Path, verb: tuple[str, ...]) -> None:
    """An address where nothing listens is bad input, said once."""
    path = kubeconfig(tmp_path, f"http://127.0.0.1:{free_ports(1)[0]}", "t")
    told = run(*verb, "--kubeconfig", path)
    assert told.exit_code == 2
    assert told.stderr.count("error:") == 1
    assert "the cluster does not answer" in told.stderr


def test_wrong_token(stage: Stage, run: Run, tmp_path: Path) -> None:
    """Credentials that the cluster does not know are bad input."""
    given = yaml.safe_load(Path(stage.kubeconfig).read_text())["clusters"][0]["cluster"]
    path = kubeconfig(tmp_path, given["server"], "wrong", given.get("certificate-authority", ""))
    told = run("queue", "--kubeconfig", path)
    assert told.exit_code == 2
    assert "does not know these credentials" in told.stderr


def test_without_rights(stage: Stage, run: Run) -> None:
    """Whoever may not list nodes is told so, and which right to ask for."""
    told = run("status", "--kubeconfig", stage.plane.kubeconfig("tenant"))
    assert told.exit_code == 2
    assert "Node: may not list them" in told.stderr
    assert "Ask for the right to list nodes of the core group." in told.stderr


def test_no_scheduler_at_that_address(run: Run) -> None:
    """A server that does not answer is bad input."""
    told = run("queue", "--server", f"http://127.0.0.1:{free_ports(1)[0]}")
    assert told.exit_code == 2
    assert "does not answer" in told.stderr
