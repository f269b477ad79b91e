"""The configuration, in the shape of the `SchedulerConfig` manifest, with its defaults."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from fourleaf.model.config.node_failures import Failures
from fourleaf.model.config.owner_kinds import OwnerKind
from fourleaf.model.config.relocation import Backfill, Defragmentation, Preemption, Repair
from fourleaf.model.config.strategies import (
    NAME,
    DefaultStrategies,
    StrategySettings,
    with_built_in,
)
from fourleaf.model.config.topology_presets import HOST_LEVELS, PRESETS
from fourleaf.model.config.values import (
    Bandwidth,
    Brief,
    DeviceClassName,
    Misfit,
    ResourceName,
    SchedulerName,
    Section,
    Weight,
)
from fourleaf.model.fabric import AdjacencyKind
from fourleaf.model.gang import Strategy

API_VERSION = "topology.scheduler/v1alpha1"
KINDS = ("SchedulerConfig", "TopologySchedulerConfig")
CONFIG_MAP = "topology-scheduler-config"
DEFAULTS_KEY = "defaults.yaml"
"""Key of the ConfigMap that the chart writes; what stands under another is merged over it."""
BUILT_IN_TERMS = (
    "resourceAvailability",
    "topologyAlignment",
    "domainUtilization",
    "historicalPerformance",
)


class Penalties(Section):
    """Weights of what is subtracted from the score, on the scale of the scoring weights.

    `migration` is accepted and has no effect: moves are as few as can be before any score counts.
    """

    bandwidth: Weight = Decimal("0.1")
    preferences: Weight = Decimal("0.5")
    domain: Weight = Decimal(10)
    migration: Weight | None = None


class MixEntry(Section):
    """One shape of the job mix: gangs of `nodes` whole nodes, and their share of all gangs."""

    nodes: int = Field(ge=1, le=4096)
    share: Annotated[Decimal, Field(gt=0, le=1), Brief]


class Fragmentation(Section):
    """What room kept for likely gangs is worth. Without `mix`, the recent mix is used."""

    weight: Weight = Decimal("0.1")
    mix: tuple[MixEntry, ...] | None = None

    @model_validator(mode="after")
    def _shares_of_one_whole(self) -> Fragmentation:
        sizes = [entry.nodes for entry in self.mix or ()]
        if len(sizes) != len(set(sizes)):
            message = "mix holds two entries for one node count"
            raise Misfit(message, "Give each node count one entry, with all of its share.")
        total = sum(entry.share for entry in self.mix or ())
        if total > 1:
            message = f"the shares of mix come to {total}, more than all gangs"
            raise Misfit(message, "Give shares of all gangs that come to at most 1.")
        return self


class Level(Section):
    """One level of the topology: the node label that names a node's domain there."""

    node_label: str = Field(min_length=1)


class Adjacency(Section):
    """Which leaves are adjacent; `edges` are pairs of leaf names, for `explicit` alone."""

    kind: AdjacencyKind = AdjacencyKind.CONSECUTIVE
    edges: tuple[tuple[str, str], ...] = ()

    @model_validator(mode="after")
    def _edges_go_with_explicit(self) -> Adjacency:
        if bool(self.edges) != (self.kind is AdjacencyKind.EXPLICIT):
            raise ValueError("edges are given exactly where kind is 'explicit'")
        return self


class Topology(Section):
    """Where leaves and spines come from. `levels` run coarse to fine, or `preset` names them.

    `unlabelled` says what happens to GPU nodes that name no leaf. `isolate`: each is a leaf and
    a spine of its own; where no node names a leaf, all stand in one. `refuse`: they take no pods.
    """

    preset: str | None = None
    levels: tuple[Level, ...] = ()
    adjacency: Adjacency = Adjacency()
    window_slack: int = Field(default=0, ge=0, le=1)
    unlabelled: Literal["isolate", "refuse"] = "isolate"

    @field_validator("preset")
    @classmethod
    def _known(cls, preset: str | None) -> str | None:
        if preset is not None and preset not in PRESETS:
            advice = f"Use one of: {', '.join(PRESETS)}; or list spec.topology.levels."
            raise Misfit("is no known preset", advice)
        return preset

    @field_validator("levels")
    @classmethod
    def _above_the_host(cls, levels: tuple[Level, ...]) -> tuple[Level, ...]:
        if levels and all(level.node_label in HOST_LEVELS for level in levels):
            advice = "Add the node label that names the leaf switch."
            raise Misfit("names no level above the host", advice)
        return levels

    @model_validator(mode="after")
    def _preset_or_levels(self) -> Topology:
        if self.preset is not None and self.levels:
            raise ValueError("give either preset or levels, not both")
        labels = [level.node_label for level in self.levels]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            message = f"levels names the node label {twice} twice"
            raise Misfit(message, "Give each level a node label of its own, coarse to fine.")
        return self


class PlacementRule(Section):
    """Gangs of exactly `nodes` nodes may take up to `leaves` adjacent leaves."""

    nodes: int = Field(ge=1, le=4096)
    leaves: int = Field(ge=1, le=512)


class TopologyConstraints(Section):
    """Caps on one gang in one leaf, the largest gang in a window, and exceptions by node count.

    Gangs of more than `window_nodes` nodes may use any leaves of one spine, unless `rules` has
    an entry for their node count.
    """

    max_nodes_per_leaf: int | None = Field(default=None, ge=1, le=65536, alias="maxNodesPerLeaf")
    max_gpus_per_leaf: int | None = Field(default=None, ge=1, le=1048576, alias="maxGPUsPerLeaf")
    window_nodes: int = Field(default=16, ge=0, le=65536)
    rules: tuple[PlacementRule, ...] = ()

    @model_validator(mode="after")
    def _one_rule_per_size(self) -> TopologyConstraints:
        sizes = [rule.nodes for rule in self.rules]
        if len(sizes) != len(set(sizes)):
            raise ValueError("rules holds two entries for one node count")
        return self


class Network(Section):
    """Bandwidths that labels and annotations do not state: of nodes, and of leaf uplinks.

    With `require_stated` a gang that asks for bandwidth waits where no node states any.
    """

    node_bandwidth: Bandwidth | None = None
    uplink_bandwidth: Bandwidth | None = None
    uplinks: dict[str, Bandwidth] = Field(default_factory=dict)
    require_stated: bool = False


class Batch(Section):
    """How a cycle picks its gangs: at most `size`, and how long a step of age lasts."""

    size: int = Field(default=500, ge=1, le=100000)
    age_step_seconds: int = Field(default=600, ge=1, le=31536000)


class Solver(Section):
    """Limits of one solve. Reaching them costs optimality, never a placement.

    `gap`: how far from the best the places of a large batch may be, as a share of its points.
    """

    time_limit_seconds: float = Field(default=5.0, gt=0, le=3600, allow_inf_nan=False)
    memory_limit_mib: int = Field(default=4096, ge=512, le=1048576, alias="memoryLimitMiB")
    seed: int = Field(default=1, ge=0, le=2147483647)
    gap: float = Field(default=0.0001, ge=0, le=0.1, allow_inf_nan=False)


class NamespacePolicy(Section):
    """What one namespace may have.

    GPUs at a time, domains (leaves or spines), gangs and pods a batch, seconds of the solver a
    minute, and pods of others that its gangs may have evicted an hour.
    """

    gpu_quota: int | None = Field(default=None, ge=0, le=100000000)
    domains: tuple[str, ...] | None = None
    max_gangs: int | None = Field(default=None, ge=0, le=100000)
    max_members: int | None = Field(default=None, ge=0, le=1000000)
    max_solve_seconds: float | None = Field(default=None, gt=0, le=60, allow_inf_nan=False)
    max_evictions: int | None = Field(default=None, ge=0, le=1000000)


NO_LIMITS = NamespacePolicy()
"""The policy where the config names none."""


class Devices(Section):
    """Who chooses the devices of a pod.

    `env`: the scheduler does, and says so to the pod by an annotation. `count`: the kubelet's
    device plugin does, and the scheduler counts. `dra`: the scheduler does, and writes it into
    the pod's ResourceClaims. `untold`: what becomes in mode `env` of pods with GPUs whose
    containers do not look into that annotation. `require_limits`: device maps, GpuClaims and
    `gpu-count` give no GPUs to pods whose containers ask for none. `device_classes` are those of
    GPUs; ResourceClaims for devices of all other classes are honoured whatever the mode.
    """

    mode: Literal["env", "count", "dra"] = "env"
    untold: Literal["hold", "bind"] = "bind"
    require_limits: bool = False
    device_classes: tuple[DeviceClassName, ...] = ("gpu.nvidia.com", "gpu.amd.com")


class LedgerSettings(Section):
    """How the scheduler writes its Leases: in the older format, until all replicas read `2`."""

    format: Literal[1, 2] = 1


class Messages(Section):
    """What conditions and events of pods say.

    `other_namespaces`: whether they name gangs and pods of other namespaces, such as those that
    hold the nodes that a gang waits for. Command and dashboard name them in what they plan
    themselves, and quote conditions as they are.
    """

    other_namespaces: Literal["hidden", "named"] = "hidden"


class Spec(Section):
    """The body of the manifest."""

    scheduler_names: tuple[SchedulerName, ...] = Field(
        default=("topology-aware-scheduler", "gpu-scheduler"), min_length=1
    )
    gpu_resources: tuple[ResourceName, ...] = Field(
        default=("nvidia.com/gpu", "amd.com/gpu"), min_length=1
    )
    scoring_weights: dict[str, Weight] = Field(
        default_factory=lambda: {
            "resourceAvailability": Decimal("0.4"),
            "topologyAlignment": Decimal("0.3"),
            "domainUtilization": Decimal("0.2"),
            "historicalPerformance": Decimal("0.1"),
        }
    )
    strategies: dict[str, StrategySettings] = Field(default_factory=dict, validate_default=True)
    default_strategies: DefaultStrategies = DefaultStrategies()
    penalties: Penalties = Penalties()
    fragmentation: Fragmentation = Fragmentation()
    topology: Topology = Topology()
    topology_constraints: TopologyConstraints = TopologyConstraints()
    network: Network = Network()
    batch: Batch = Batch()
    solver: Solver = Solver()
    namespaces: dict[str, NamespacePolicy] = Field(default_factory=dict)
    failures: Failures = Failures()
    repair: Repair = Repair()
    preemption: Preemption = Preemption()
    defragmentation: Defragmentation = Defragmentation()
    backfill: Backfill = Backfill()
    devices: Devices = Devices()
    messages: Messages = Messages()
    ledger: LedgerSettings = LedgerSettings()
    owner_kinds: tuple[OwnerKind, ...] = ()

    @field_validator("strategies", mode="before")
    @classmethod
    def _built_in_too(cls, given: Any) -> Any:
        return with_built_in(given)

    @model_validator(mode="after")
    def _some_weight(self) -> Spec:
        if not any(weight > 0 for weight in self.scoring_weights.values()):
            raise ValueError("scoringWeights needs at least one weight above zero")
        return self

    @model_validator(mode="after")
    def _factors_of_terms(self) -> Spec:
        weights = self.scoring_weights
        for name, one in self.strategies.items():
            if not NAME.fullmatch(name):
                message = f"strategies describes {name[:64]!r}, which is no name"
                raise Misfit(message, 'Write it in lower case, like "near-storage".')
            stray = sorted(one.factors.keys() - weights.keys() - set(BUILT_IN_TERMS))
            if stray:
                message = f"strategies.{name}.factors names {stray[0]}, which has no weight"
                raise Misfit(message, "Name terms of scoringWeights.")
            factors = one.factors
            if not any(weight * factors.get(term, 1) > 0 for term, weight in weights.items()):
                message = f"strategies.{name}.factors leave no weight above zero"
                raise Misfit(message, "Give a term of scoringWeights a factor above zero.")
        return self

    @model_validator(mode="after")
    def _defaults_are_there(self) -> Spec:
        for field in DefaultStrategies.model_fields:
            name = getattr(self.default_strategies, field)
            if name not in self.strategies:
                advice = f"Name one of: {', '.join(self.strategies)}; or describe it."
                raise Misfit(f"defaultStrategies.{field} names no strategy: {name}", advice)
        return self

    @model_validator(mode="after")
    def _one_entry_per_owner_kind(self) -> Spec:
        named = [f"{one.kind}.{one.group}" for one in self.owner_kinds]
        twice = next((one for one in named if named.count(one) > 1), None)
        if twice is not None:
            raise Misfit(f"ownerKinds describes {twice} twice", "Give each kind one entry.")
        return self

    def namespace(self, name: str) -> NamespacePolicy:
        """The policy of namespace `name`: its own, else that of `*`, else no limits."""
        return self.namespaces.get(name) or self.namespaces.get("*") or NO_LIMITS

    def strategy(self, name: str) -> StrategySettings:
        """What strategy `name` is made of; `balanced` where the config has none of that name."""
        return self.strategies.get(name) or self.strategies[Strategy.BALANCED]


class Metadata(BaseModel):
    """Name and namespace of the manifest; other metadata is left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = CONFIG_MAP
    namespace: str = "kube-system"


class SchedulerConfig(Section):
    """The `SchedulerConfig` (or `TopologySchedulerConfig`) manifest."""

    api_version: Literal["topology.scheduler/v1alpha1"] = "topology.scheduler/v1alpha1"
    kind: Literal["SchedulerConfig", "TopologySchedulerConfig"] = "SchedulerConfig"
    metadata: Metadata = Metadata()
    spec: Spec = Spec()
