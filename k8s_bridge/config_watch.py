"""The config in force, as the ConfigMap changes. A bad edit keeps the last good one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.config import BUILT_IN_TERMS, CONFIG_MAP, SchedulerConfig
from fourleaf.model.extensions import Extensions, unknown_weights
from fourleaf.model.problems import Problem, Severity
from fourleaf.model.readers.config import BUILT_IN, read_config
from fourleaf.model.readers.inventory import Inventory
from fourleaf.model.readers.report import Report
from fourleaf.model.readers.sources import Source
from fourleaf.model.snapshot import DEFAULTS

NO_EXTENSIONS = Extensions()

DEFRAGMENT = "topology.scheduler/defragment"
"""Annotation of the ConfigMap: when somebody asked for a defragmentation, in RFC 3339."""


@dataclass(frozen=True, slots=True)
class ConfigState:
    """The config in force and where it is from; what is wrong with the newest edit, if anything.

    `version` is the resource version of the ConfigMap that was read last, "" without one.
    `asked` is when somebody asked for a defragmentation, as its annotation says.
    """

    config: SchedulerConfig = DEFAULTS
    source: str = BUILT_IN
    version: str = ""
    problems: tuple[Problem, ...] = ()
    asked: str = ""

    @property
    def problem(self) -> Problem | None:
        """The first thing that is wrong with the newest edit."""
        return self.problems[0] if self.problems else None

    @property
    def valid(self) -> bool:
        """Whether the config in force is what the cluster asks for."""
        return not self.problems


START = ConfigState()
"""Before any ConfigMap has been seen: the defaults."""


def folded(
    state: ConfigState, body: Body | None, extensions: Extensions = NO_EXTENSIONS
) -> ConfigState:
    """The state once the ConfigMap is `body`, None where there is none.

    None at all means the defaults. Never raises: whatever is wrong is in `problems`, and the
    config that was in force stays.
    """
    if body is None:
        return START
    metadata = body.get("metadata") or {}
    version = str(metadata.get("resourceVersion", ""))
    source = f"ConfigMap {metadata.get('namespace', '')}/{metadata.get('name', CONFIG_MAP)}"
    whole = {"apiVersion": CONFIG_MAPS.api_version, "kind": CONFIG_MAPS.name, **body}
    report = Report()
    inventory = Inventory(report)
    inventory.take([Source("", objects=[whole])])
    config = read_config(inventory).config
    problems = report.errors or tuple(_strange_weights(config, source, extensions))
    asked = str((metadata.get("annotations") or {}).get(DEFRAGMENT, ""))
    if problems:
        return replace(state, version=version, problems=problems, asked=asked)
    return ConfigState(config, source, version, asked=asked)


def _strange_weights(config: SchedulerConfig, source: str, extensions: Extensions) -> list[Problem]:
    weights = config.spec.scoring_weights
    return [
        Problem(
            Severity.ERROR,
            "",
            source,
            f"spec.scoringWeights.{name}",
            str(weights[name]),
            "is a weight for a term that does not exist",
            f"Use {', '.join(BUILT_IN_TERMS)}, or install the package that brings it.",
        )
        for name in unknown_weights(weights, extensions)
    ]
