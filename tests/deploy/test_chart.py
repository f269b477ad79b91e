"""The chart: what it makes of its values, and what it refuses."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import yaml

from fourleaf.model.config.owner_kinds import BUILT_IN_OWNER_KINDS
from fourleaf.model.config.spec import BUILT_IN_TERMS, Devices, Spec
from fourleaf.webhook.configurations import Deployment, configurations
from tests.deploy.generated import CHARTS, DEPLOY, SYSTEM, rendered
from tests.deploy.shipped import SWITCHED_ON
from tests.deploy.tools import run

Body = dict[str, Any]
AGENT = "fourleaf-agent"
CLUSTER, NODE = "system-cluster-critical", "system-node-critical"


@pytest.fixture(scope="module", autouse=True)
def _helm() -> None:
    run("helm", "version")


def made(*arguments: str, namespace: str = SYSTEM) -> list[Body]:
    """What the chart makes."""
    return rendered("fourleaf", *arguments, namespace=namespace)


def of(objects: list[Body], kind: str, name: str = "") -> list[Body]:
    """Those of a kind, and of a name where one is given."""
    return [one for one in objects if one["kind"] == kind and name in ("", one["metadata"]["name"])]


def templates(objects: list[Body]) -> dict[str, Body]:
    """Name of a workload -> its pod's spec, test pods included."""
    found = {one["metadata"]["name"]: one["spec"] for one in of(objects, "Pod")}
    for kind in ("Deployment", "DaemonSet", "StatefulSet"):
        for one in of(objects, kind):
            found[one["metadata"]["name"]] = one["spec"]["template"]["spec"]
    return found


@pytest.mark.parametrize("chart", ["fourleaf", "gpu-scheduler-check"])
def test_helm_finds_nothing_to_complain_of(chart: str) -> None:
    """Its linter, with warnings as errors."""
    run("helm", "lint", "--strict", CHARTS / chart)


def test_in_kube_system_it_is_the_plain_manifests() -> None:
    """Rights, policies and webhook configurations say there what the files say; no more rights."""
    everything = made(SWITCHED_ON[1].rpartition(",")[0], namespace="kube-system")
    chart = {(one["kind"], _place(one)): one for one in everything}
    plain = set()
    for path in sorted(DEPLOY.glob("*/*.yaml")):
        if path.parent.name not in ("rbac", "policies", "webhook", "crds"):
            continue
        for body in yaml.safe_load_all(path.read_text()):
            same = chart[body["kind"], _place(body)]
            for part in set(body) - {"metadata"}:
                assert same[part] == body[part], f"{path.name}: {_place(body)}: {part}"
            plain.add((body["kind"], _place(body)))
    assert {one for one in chart if one[0].endswith(("Role", "RoleBinding"))} <= plain


def _place(body: Body) -> tuple[str, str]:
    return body["metadata"].get("namespace", ""), body["metadata"]["name"]


def test_elsewhere_everything_follows() -> None:
    """Only the exception of the webhook still names kube-system, beside the new namespace."""
    objects = made("--set=agent.namespace=probes", namespace="elsewhere")
    for one in objects:
        for hook in one.get("webhooks", ()):
            terms = hook["namespaceSelector"]["matchExpressions"]
            assert terms[0].pop("values") == ["elsewhere", "kube-system"]
    text = json.dumps(objects).replace("kube-system-", "")
    assert "kube-system" not in text
    assert "namespace: fourleaf-agent" not in yaml.safe_dump_all(objects)
    assert "serviceaccount:fourleaf-agent" not in text


def test_names_of_the_config_reach_policies_and_webhook() -> None:
    """They would not see the pods of a renamed scheduler, nor GPUs by another name."""
    objects = made("--set=config.schedulerNames={mine},config.gpuResources={x.io/a,x.io/b}")
    expected = configurations(
        Deployment("fourleaf-system", scheduler_names=("mine",), gpu_resources=("x.io/a", "x.io/b"))
    )
    for body in expected:
        (same,) = of(objects, body["kind"])
        for hook in (*body["webhooks"], *same["webhooks"]):
            hook["namespaceSelector"]["matchExpressions"][0]["values"].sort()
        assert same["webhooks"] == body["webhooks"]
    for name in ("fourleaf-pod-node-name", "fourleaf-enforced-pods"):
        (policy,) = of(objects, "ValidatingAdmissionPolicy", name)
        text = json.dumps(policy["spec"]["matchConditions"] + policy["spec"].get("variables", []))
        assert "['mine']" in text
        assert "['x.io/a', 'x.io/b']" in text
        assert "nvidia.com/gpu" not in text
        assert "'gpu-scheduler'" not in text


def test_owner_kinds_of_the_config_can_be_read() -> None:
    """Who follows owners may list a kind that the values describe; the webhook has no need to."""
    entry = "group=example.com,versions={v1},kind=Training,resource=trainings"
    given = ",".join(f"config.ownerKinds[0].{one}" for one in entry.split(","))
    objects = made(f"--set={given},dashboard.enabled=true,dashboard.tokenSecret=t")
    rule = {
        "apiGroups": ["example.com"],
        "resources": ["trainings"],
        "verbs": ["list", "watch"],
    }
    for name, reads in (("scheduler", True), ("dashboard", True), ("webhook", False)):
        (role,) = of(objects, "ClusterRole", f"fourleaf-{name}")
        assert (rule in role["rules"]) is reads
    (one,) = of(objects, "ConfigMap")
    spec = Spec.model_validate(yaml.safe_load(one["data"]["defaults.yaml"])["spec"])
    assert [one.kind for one in spec.owner_kinds] == ["Training"]


def test_the_rights_that_ship_cover_every_built_in_owner_kind() -> None:
    """Each can be read by the scheduler and the dashboard."""
    objects = made("--set=dashboard.enabled=true,dashboard.tokenSecret=t")
    for name in ("scheduler", "dashboard"):
        (role,) = of(objects, "ClusterRole", f"fourleaf-{name}")
        may = {
            (group, resource)
            for rule in role["rules"]
            if {"list", "watch"} <= {*rule["verbs"]}
            for group in rule["apiGroups"]
            for resource in rule["resources"]
        }
        assert {(one.group, one.resource) for one in BUILT_IN_OWNER_KINDS} <= may


def test_the_config_of_the_values_is_the_one_in_force() -> None:
    """It passes the model; what ships is the defaults, and bounds for every namespace."""
    (one,) = of(made(), "ConfigMap")
    ours = Spec.model_validate(yaml.safe_load(one["data"]["defaults.yaml"])["spec"])
    bounds = ours.namespaces["*"]
    limits = bounds.max_gangs, bounds.max_solve_seconds, bounds.max_evictions
    assert limits == (100, 5.0, 200)
    shipped = ours.model_copy(update={"namespaces": {}})
    assert shipped == Spec(devices=Devices(untold="hold"))
    for set_ in ("webhook.enabled=false", "config.devices.untold=bind"):
        (one,) = of(made(f"--set={set_}"), "ConfigMap")
        spec = Spec.model_validate(yaml.safe_load(one["data"]["defaults.yaml"])["spec"])
        assert spec.devices.untold == "bind"
    (one,) = of(made("--set=config.batch.size=7,config.topology.preset=gke"), "ConfigMap")
    spec = Spec.model_validate(yaml.safe_load(one["data"]["defaults.yaml"])["spec"])
    assert (spec.batch.size, spec.topology.preset) == (7, "gke")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("scheduler.replica=3", "replica"),
        ("scheduler.replicas=-1", "replicas"),
        ("scheduler.dryRun=perhaps", "dryRun"),
        ("scheduler.tolerations={a}", "/scheduler/tolerations/0"),
        ("scheduler.resources.requests.cpu=banana", "/scheduler/resources/requests/cpu"),
        ("scheduler.resources.request.cpu=1", "'request'"),
        ("scheduler.nodeSelector.gpu=true", "/scheduler/nodeSelector/gpu"),
        ("scheduler.extraArgs={1}", "/scheduler/extraArgs/0"),
        ("scheduler.affinity.nodes=here", "'nodes'"),
        ("scheduler.priorityClassName=Very High", "/scheduler/priorityClassName"),
        ("webhook.certificates=none", "certificates"),
        ("webhook.certificates=secret", "webhook.secretName"),
        ("webhook.podAnnotations.x=1", "/webhook/podAnnotations/x"),
        ("image.digest=sha256:1", "digest"),
        ("image.tag=a:b", "/image/tag"),
        ("imagePullSecrets={a}", "/imagePullSecrets/0"),
        ("agent.intervalSeconds=0", "intervalSeconds"),
        ("agent.source=file", "agent.inventoryConfigMap"),
        ("agent.discovery.cloud=azure", "cloud"),
        ("agent.namespace=default", "agent.namespace"),
        ("config.batch.sizes=3", "sizes"),
        ("config.batch.size=0", "size"),
        ("config.devices.mode=magic", "mode"),
        ("config.scoringWeights.resourceAvailabilty=1", "scoringWeights.resourceAvailabilty"),
        ('config.schedulerNames={a"b}', "/config/schedulerNames/0"),
        ("config.gpuResources={it's}", "/config/gpuResources/0"),
        ("dashboard.enabled=true", "/dashboard/tokenSecret"),
        ("dashboard.enabled=true", "/dashboard/auth/header"),
        ("dashboard.enabled=true,dashboard.tokenSecret=a,dashboard.auth.header=b", "/dashboard"),
        ("dashboard.tokenSecret=A_B", "/dashboard/tokenSecret"),
        ("dashboard.auth.trustedProxies={10.0.0.0/8}", "/dashboard/auth/header"),
        ("dashboard.auth.hosts={a b}", "/dashboard/auth/hosts/0"),
        ("policies.hostPaths={/mnt'\\]}", "/policies/hostPaths/0"),
        ("networkPolicies.apiServerPorts={0}", "/networkPolicies/apiServerPorts/0"),
        ("networkPolicies.apiServerCIDRs={10.0.0.0}", "/networkPolicies/apiServerCIDRs/0"),
        ("networkPolicies.apiServerCIDRs={10.0.0.256/8}", "/networkPolicies/apiServerCIDRs/0"),
        ("monitoring.runbookBase=docs", "/monitoring/runbookBase"),
    ],
)
def test_values_that_make_no_sense_are_refused_by_name(given: str, said: str) -> None:
    """Unknown ones too: a typo must not be silence."""
    done = run("helm", "template", "f", CHARTS / "fourleaf", f"--set={given}", code=1)
    assert said in done.stderr


def test_values_that_make_sense_are_taken() -> None:
    """Each in the shapes that Kubernetes allows: numbers for quantities, both kinds of networks."""
    weights = ",".join(f"config.scoringWeights.{name}=0.1" for name in (*BUILT_IN_TERMS, "mine"))
    values = {
        "scheduler": {
            "priorityClassName": "007",
            "tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9}],
            "resources": {"requests": {"cpu": 1.5, "memory": "1e9"}, "limits": {"memory": "2.5Gi"}},
            "extraArgs": ["--scheduler-name=mine"],
            "affinity": {"nodeAffinity": {}},
        },
        "imagePullSecrets": [{"name": "registry.example.com"}],
        "networkPolicies": {"apiServerCIDRs": ["10.0.0.0/8", "fd00::/8", "::/0", "192.0.2.1/32"]},
        "config": {"schedulerNames": ["example.com/My_one"]},
        "extraTerms": ["mine"],
    }
    arguments = [f"--set-json={key}={json.dumps(value)}" for key, value in values.items()]
    objects = made(*arguments, f"--set={weights}")
    assert templates(objects)["fourleaf-scheduler"]["priorityClassName"] == "007"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("--set=webhook.certificates=selfSigned", True),
        ("--set=webhook.certificates=certManager", False),
        ("--set=webhook.certificates=secret,webhook.caBundle=eA==,webhook.secretName=tls", False),
    ],
)
def test_the_webhook_has_rights_over_its_own_certificate_alone(given: str, kept: bool) -> None:
    """No Secret may be created; where others issue, none is read and no bundle is written."""
    objects = made(given)
    rules = [
        rule
        for kind in ("ClusterRole", "Role")
        for role in of(objects, kind, "fourleaf-webhook")
        for rule in role["rules"]
    ]
    rights = {
        (name, verb) for rule in rules for name in rule["resources"] for verb in rule["verbs"]
    }
    assert ("secrets", "create") not in rights
    assert (("secrets", "get") in rights) is kept
    assert (("mutatingwebhookconfigurations", "update") in rights) is kept
    assert bool(of(objects, "Secret", "fourleaf-webhook-tls")) is kept


def test_quotas_admit_every_priority_class_where_it_is_used() -> None:
    """One for each namespace; none for what is off, or where the classes are not limited."""
    assert of(made(), "ResourceQuota") == []
    on = "--set=priorityQuota.enabled=true"
    everywhere = made(*SWITCHED_ON, "--set=dashboard.priorityClassName=pages")
    for arguments, expected in (
        (everywhere, {SYSTEM: ["pages", CLUSTER], AGENT: [NODE]}),
        (made(on, "--set=agent.enabled=false"), {SYSTEM: [CLUSTER]}),
        (made(on, "--set=scheduler.priorityClassName=,webhook.enabled=false"), {AGENT: [NODE]}),
    ):
        found = {}
        for one in of(arguments, "ResourceQuota"):
            assert one["spec"]["hard"] == {"pods": "1G"}
            (term,) = one["spec"]["scopeSelector"]["matchExpressions"]
            assert (term.pop("scopeName"), term.pop("operator")) == ("PriorityClass", "In")
            found[one["metadata"]["namespace"]] = term["values"]
        assert found == expected


def test_all_but_the_agent_keep_to_the_restricted_level() -> None:
    """No root, no rights to gain, nothing to write but a scratch folder; limits on memory."""
    for name, spec in templates(made(*SWITCHED_ON)).items():
        (container,) = spec["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True, name
        assert container["resources"]["limits"]["memory"]
        if name == "fourleaf-agent":
            continue
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not spec.get("hostPID")


def test_an_agent_without_amd_is_not_privileged() -> None:
    """It sees the processes of the host, and nothing more."""
    spec = templates(made())["fourleaf-agent"]
    assert spec["hostPID"] is True
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert "privileged" not in spec["containers"][0]["securityContext"]


def test_what_an_agent_reads_of_the_fabric_is_mounted_for_reading() -> None:
    """By default a folder of the host; /sys, a cloud and its network where asked; else nothing."""

    def agent(*values: str) -> tuple[Body, dict[str, str], list[str]]:
        objects = made(*(f"--set=agent.discovery.{one}" for one in values))
        spec = templates(objects)["fourleaf-agent"]
        (container,) = spec["containers"]
        mounts = {one["name"] for one in container["volumeMounts"] if one.get("readOnly")}
        hosts = {
            one["name"]: one["hostPath"]["path"] for one in spec["volumes"] if "hostPath" in one
        }
        assert hosts.keys() <= mounts
        (policy,) = of(objects, "NetworkPolicy", "fourleaf-agent")
        spec["egress"] = policy["spec"]["egress"]
        return spec, hosts, [one for one in container["args"] if one.startswith("--")]

    spec, hosts, args = agent()
    assert hosts == {"host-files": "/run/fourleaf"}
    assert {"--discover", "--cloud=none", "--host-files=/host/files"} <= set(args)
    assert (spec.get("hostNetwork"), len(spec["egress"])) == (None, 1)
    spec, hosts, args = agent("hostSysfs=true", "cloud=eks", "hostNetwork=true", "hostFiles=")
    assert hosts == {"host-sys": "/sys"}
    assert {"--sysfs=/host/sys", "--cloud=eks"} <= set(args)
    assert spec["hostNetwork"] is True
    assert spec["egress"][1]["to"] == [{"ipBlock": {"cidr": "169.254.169.254/32"}}]
    spec, hosts, args = agent("enabled=false", "cloud=oci")
    assert (hosts, "--discover" in args, len(spec["egress"])) == ({}, False, 1)


def test_kinds_are_upgraded_and_outlive_the_release() -> None:
    """They are templates, which `helm upgrade` applies, and are kept where that is asked for."""
    for keep in ("true", "false"):
        kinds = of(made(f"--set=crds.keep={keep}"), "CustomResourceDefinition")
        assert len(kinds) == 2
        for one in kinds:
            kept = one["metadata"].get("annotations", {}).get("helm.sh/resource-policy")
            assert kept == ("keep" if keep == "true" else None)
    assert of(made("--set=crds.enabled=false"), "CustomResourceDefinition") == []


def test_a_component_that_is_off_leaves_nothing() -> None:
    """No rights, no configuration, no monitor."""
    off = "--set=webhook.enabled=false,agent.enabled=false,monitoring.serviceMonitor=true"
    names = [one["metadata"]["name"] for one in made(off)]
    assert [name for name in names if "webhook" in name or "agent" in name] == []


def test_the_check_service_can_be_a_deployment() -> None:
    """Of as many pods, without numbers."""
    one = of(rendered("gpu-scheduler-check", "--set=statefulSet.enabled=false"), "Deployment")[0]
    assert one["spec"]["replicas"] == 4
    assert "serviceName" not in one["spec"]


def test_a_map_from_the_command_line_takes_the_place_of_the_old() -> None:
    """As `--set-string podAnnotations.gpu-scheduling-map=...` gives it, line breaks and all."""
    given = "--set-string=podAnnotations.gpu-scheduling-map=0=node-a:0\\,1\n1=node-b:2"
    one = of(rendered("gpu-scheduler-check", given), "StatefulSet")[0]
    annotations = one["spec"]["template"]["metadata"]["annotations"]
    assert annotations["gpu-scheduling-map"] == "0=node-a:0,1\n1=node-b:2"


def test_it_can_be_packaged(tmp_path: Any) -> None:
    """A package holds the plain manifests, not links to them."""
    run("helm", "package", CHARTS / "fourleaf", "--destination", tmp_path)
    (package,) = tmp_path.glob("*.tgz")
    listed = subprocess.run(["tar", "-tvzf", package], capture_output=True, text=True, check=True)
    files = [line for line in listed.stdout.splitlines() if "files/rbac/scheduler.yaml" in line]
    assert files
    assert files[0].startswith("-")


def test_components_reach_the_api_server_and_dns_alone() -> None:
    """Whoever takes one over reaches nothing else; the scheduler asks silent kubelets as well."""
    objects = made(
        "--set=networkPolicies.apiServerPorts={8443},dashboard.enabled=true", *SWITCHED_ON
    )
    found = {one["metadata"]["name"]: one["spec"] for one in of(objects, "NetworkPolicy")}
    assert found.keys() == {f"fourleaf-{x}" for x in ("scheduler", "webhook", "agent", "dashboard")}
    for name, spec in found.items():
        assert spec["policyTypes"] == ["Ingress", "Egress"]
        (rule,) = spec["egress"]
        ports = {(one["port"], one.get("protocol", "TCP")) for one in rule["ports"]}
        kubelet = {(10250, "TCP")} if name == "fourleaf-scheduler" else set()
        assert ports == {(8443, "TCP"), (53, "UDP"), (53, "TCP"), *kubelet}


def test_who_may_connect_is_for_the_operator_to_name() -> None:
    """Without names any pod may ask for metrics and call the webhook; with them, no other."""
    names = "--set=networkPolicies.apiServerCIDRs={10.0.0.0/8}"
    team = "--set=networkPolicies.monitoringNamespace.team=ops"
    for values, asks, calls in (
        ((), {}, None),
        ((names, team), {"matchLabels": {"team": "ops"}}, [{"ipBlock": {"cidr": "10.0.0.0/8"}}]),
    ):
        policies = of(made(*values), "NetworkPolicy")
        found = {one["metadata"]["name"]: one["spec"]["ingress"] for one in policies}
        for name in ("scheduler", "webhook", "agent"):
            own = [{"podSelector": {}}] if name == "scheduler" else []
            assert found[f"fourleaf-{name}"][0]["from"] == [{"namespaceSelector": asks}, *own]
        assert found["fourleaf-webhook"][1].get("from") == calls


def test_paths_of_the_host_reach_the_policy() -> None:
    """Those of the values stand in place of the default ones."""
    (policy,) = of(
        made("--set=policies.hostPaths={/models}"),
        "ValidatingAdmissionPolicy",
        "fourleaf-enforced-pods",
    )
    assert "['/models']" in json.dumps(policy["spec"]["variables"])
    assert "/scratch" not in json.dumps(policy)


def test_every_object_has_the_standard_labels() -> None:
    """Those of Kubernetes' own recommendations, and what the values add; pods too."""
    for one in made(*SWITCHED_ON, "--set=commonLabels.team=ml,webhook.podLabels.seen=yes"):
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/name"] == "fourleaf"
        assert labels["app.kubernetes.io/instance"] == "fourleaf"
        assert labels["app.kubernetes.io/version"]
        assert (labels["helm.sh/chart"], labels["team"]) == ("fourleaf-0.1.0", "ml")
        if one["kind"] in ("Deployment", "DaemonSet"):
            selected = one["spec"]["selector"]["matchLabels"]
            of_pods = one["spec"]["template"]["metadata"]["labels"]
            assert selected.items() <= of_pods.items()
            assert of_pods["team"] == "ml"
            assert ("seen" in of_pods) is (one["metadata"]["name"] == "fourleaf-webhook")


def test_what_the_values_add_reaches_every_component() -> None:
    """Variables, volumes and mounts of the container, and another spread of the replicas."""
    shared = {"name": "shared", "emptyDir": {}}
    more = {
        "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
        "extraVolumes": [shared],
        "extraVolumeMounts": [{"name": "shared", "mountPath": "/shared"}],
    }
    given = [
        f"--set-json={component}.{key}={json.dumps(value)}"
        for component in ("scheduler", "webhook", "dashboard", "agent")
        for key, value in more.items()
    ]
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    given.append(f"--set-json=scheduler.topologySpreadConstraints={json.dumps(spread)}")
    given.append("--set=agent.serviceAccountAnnotations.role=r,webhook.hostNetwork=true")
    objects = made(*SWITCHED_ON, *given)
    found = templates(objects)
    for account in of(objects, "ServiceAccount"):
        is_agent = account["metadata"]["name"] == "fourleaf-agent"
        assert account["metadata"].get("annotations") == ({"role": "r"} if is_agent else None)
    for name in ("scheduler", "webhook", "dashboard", "agent"):
        spec = found[f"fourleaf-{name}"]
        (container,) = spec["containers"]
        assert more["extraEnv"][0] in container["env"]
        assert shared in spec["volumes"]
        assert more["extraVolumeMounts"][0] in container["volumeMounts"]
        assert spec.get("hostNetwork", False) is (name == "webhook")
    assert found["fourleaf-scheduler"]["topologySpreadConstraints"] == spread


@pytest.mark.parametrize("chart", ["fourleaf", "gpu-scheduler-check"])
def test_security_contexts_are_values_that_open_no_hole(chart: str) -> None:
    """Users, groups and profiles, none of them left out or root; the rest stays as it is.

    A number may be left to the platform. Large ones stay whole.
    """
    given = (
        "--set=podSecurityContext.runAsUser=1000660000,podSecurityContext.runAsGroup=null",
        "--set=podSecurityContext.seccompProfile.type=Localhost",
        "--set=podSecurityContext.seccompProfile.localhostProfile=tight.json",
        "--set=podSecurityContext.seLinuxOptions.level=s0",
    )
    expected = {
        "runAsNonRoot": True,
        "runAsUser": 1000660000,
        "seccompProfile": {"type": "Localhost", "localhostProfile": "tight.json"},
        "seLinuxOptions": {"level": "s0"},
    }
    for spec in templates(rendered(chart, *given)).values():
        context = spec["securityContext"]
        assert context == context | expected
        assert "runAsGroup" not in context
    confined = rendered(chart, "--set=podSecurityContext.seccompProfile=null")
    for spec in templates(confined).values():
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for hole in (
        "runAsUser=0",
        "runAsNonRoot=false",
        "seccompProfile.type=Unconfined",
        "appArmorProfile.type=Unconfined",
        "seLinuxOptions.type=spc_t",
        "supplementalGroups={0}",
        "sysctls={}",
    ):
        with pytest.raises(subprocess.CalledProcessError) as refused:
            rendered(chart, f"--set=podSecurityContext.{hole}")
        assert "podSecurityContext" in refused.value.stderr


def test_agents_go_where_a_label_tells_of_gpus() -> None:
    """Any one of the labels will do; without a list, on every node."""
    terms = templates(made())["fourleaf-agent"]["affinity"]["nodeAffinity"]
    (alternatives,) = terms["requiredDuringSchedulingIgnoredDuringExecution"].values()
    keys = [one["key"] for term in alternatives for one in term["matchExpressions"]]
    assert len(alternatives) == len(keys)
    assert {"nvidia.com/gpu.present", "cloud.google.com/gke-accelerator"} <= {*keys}
    assert "affinity" not in templates(made("--set-json=agent.nodeLabels=[]"))["fourleaf-agent"]
