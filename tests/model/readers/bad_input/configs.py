"""The config."""

from __future__ import annotations

from tests.model.readers.bad_input.made import CONFIG, Case
from tests.model.readers.made import config

CASES: dict[str, Case] = {
    "config field": (
        [config(scoringWeight={"topologyAlignment": 1})],
        CONFIG,
        "spec.scoringWeight",
        "Perhaps scoringWeights is meant",
    ),
    "config field of a section": (
        [config(repair={"defaultPolicy": "move"})],
        CONFIG,
        "spec.repair.defaultPolicy",
        "use one of: enabled, endLostPodsAtOnce, placesLimitSeconds, placesSeconds, policy",
    ),
    "config field of an entry": (
        [config(namespaces={"ml": {"maxGang": 3}})],
        CONFIG,
        "spec.namespaces.ml.maxGang",
        "Perhaps maxGangs is meant",
    ),
    "scheduler name": (
        [config(schedulerNames=['a"b'])],
        CONFIG,
        "spec.schedulerNames[0]",
        "gpu-scheduler",
    ),
    "uplink bandwidth of zero": (
        [config(network={"uplinkBandwidth": "0Gb"})],
        CONFIG,
        "spec.network.uplinkBandwidth",
        "above zero",
    ),
    "node bandwidth of many digits": (
        [config(network={"nodeBandwidth": "9" * 20 + "Tb"})],
        CONFIG,
        "spec.network.nodeBandwidth",
        "9 digits",
    ),
    "uplink finer than a megabit": (
        [config(network={"uplinkBandwidth": "0.5Mb"})],
        CONFIG,
        "spec.network.uplinkBandwidth",
        "whole number of Mbit/s",
    ),
    "uplink of one leaf of many digits": (
        [config(network={"uplinks": {"leaf-1": "0.0000001Tb"}})],
        CONFIG,
        "spec.network.uplinks.leaf-1",
        "6 after it",
    ),
    "bandwidth without a unit": (
        [config(network={"uplinkBandwidth": "100"})],
        CONFIG,
        "spec.network.uplinkBandwidth",
        "100Gb",
    ),
    "no GPU resource": ([config(gpuResources=[])], CONFIG, "spec.gpuResources", "at least one"),
    "GPU resource of Kubernetes": (
        [config(gpuResources=["cpu"])],
        CONFIG,
        "spec.gpuResources[0]",
        "nvidia.com/gpu",
    ),
    "no scheduler name": (
        [config(schedulerNames=[])],
        CONFIG,
        "spec.schedulerNames",
        "at least one",
    ),
    "scheduler name of blanks": (
        [config(schedulerNames=["our scheduler"])],
        CONFIG,
        "spec.schedulerNames[0]",
        "letters, digits",
    ),
    "device class": (
        [config(devices={"deviceClasses": ["GPU"]})],
        CONFIG,
        "spec.devices.deviceClasses[0]",
        "DeviceClass",
    ),
    "one label for two levels": (
        [config(topology={"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "rack"}]})],
        CONFIG,
        "spec.topology",
        "of its own",
    ),
    "shares above one": (
        [config(fragmentation={"mix": [{"nodes": 2, "share": 0.9}, {"nodes": 4, "share": 0.9}]})],
        CONFIG,
        "spec.fragmentation",
        "at most 1",
    ),
    "two shares of one size": (
        [config(fragmentation={"mix": [{"nodes": 2, "share": 0.4}, {"nodes": 2, "share": 0.4}]})],
        CONFIG,
        "spec.fragmentation",
        "one entry",
    ),
    "two configs": (
        [config(), config() | {"kind": "TopologySchedulerConfig"}],
        "TopologySchedulerConfig kube-system/topology-scheduler-config",
        "kind",
        "one configuration",
    ),
    "config map without a config": (
        [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "topology-scheduler-config"},
                "data": {"a": "b: 1"},
            }
        ],
        "ConfigMap default/topology-scheduler-config",
        "data",
        "SchedulerConfig",
    ),
}
