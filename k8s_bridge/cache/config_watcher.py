"""Config watcher: the config in force, kept up with the ConfigMap.

A bad edit keeps the last good config.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.informers import Absent, Change, Put, Removed, Replaced
from fourleaf.model.config.spec import BUILT_IN_TERMS, CONFIG_MAP, SchedulerConfig
from fourleaf.model.extensions import (
    NO_EXTENSIONS,
    ExtensionError,
    Extensions,
    load,
    unknown_weights,
)
from fourleaf.model.problems import Problem, Severity
from fourleaf.model.readers.config import BUILT_IN, read_config
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.text.sources import Source
from fourleaf.model.snapshot import DEFAULTS


class ConfigWatcher:
    """Applies each edit of the ConfigMap that makes sense; reports each edit.

    `names` are the scheduler names of the command line, which win over the config's.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        apply: Callable[[SchedulerConfig], None],
        report: Callable[[ConfigState, ConfigState], None],
    ) -> None:
        import structlog

        self.state: ConfigState = START
        self._names = names
        self._apply = apply
        self._report = report
        self._log = structlog.get_logger(__name__)
        self._extensions = self._loaded()
        apply(self._with_names(START.config))

    def on_change(self, change: Change) -> None:
        """Apply a reflector's change of the ConfigMap, and of no other."""
        self._read(config_map_of(change))

    def recall(self, config: SchedulerConfig) -> None:
        """Go on with the config that a leader before had in force; the newest edit is a bad one."""
        before = self.state
        self.state = replace(before, config=config, source=RECALLED)
        self._log.info("config_in_force", source=RECALLED)
        self._apply(self._with_names(config))
        self._report(before, self.state)

    def _read(self, body: Body | None) -> None:
        before = self.state
        self.state = folded(before, body, self._extensions)
        if self.state == before:
            return
        for problem in self.state.problems:
            self._log.error("config_invalid", why=str(problem), kept=self.state.source)
        if self.state.config != before.config:
            self._log.info("config_in_force", source=self.state.source)
            self._apply(self._with_names(self.state.config))
        self._report(before, self.state)

    def _with_names(self, config: SchedulerConfig) -> SchedulerConfig:
        if not self._names:
            return config
        spec = config.spec.model_copy(update={"scheduler_names": self._names})
        return config.model_copy(update={"spec": spec})

    def _loaded(self) -> Extensions:
        try:
            return load()
        except ExtensionError as error:
            self._log.error("extensions_unusable", why=str(error))
            return Extensions()


def config_map_of(change: Change) -> Body | None:
    """The ConfigMap that there is after a change of a `config_selection`."""
    match change:
        case Put(body):
            return body
        case Replaced(items, _, _):
            return next(iter(items), None)
        case Removed() | Absent():
            return None


RECALLED = "the last good one, as a Lease keeps it"
"""The source of a config that is no longer in the ConfigMap."""
DEFRAGMENT = "topology.scheduler/defragment"
"""Annotation of the ConfigMap: when a defragmentation was asked for, in RFC 3339."""


@dataclass(frozen=True, slots=True)
class ConfigState:
    """The config in force and where it is from; what is wrong with the newest edit, if anything.

    `version` and `uid` are those of the ConfigMap that was read last, "" without one.
    `asked` is when a defragmentation was asked for, as its annotation says.
    """

    config: SchedulerConfig = DEFAULTS
    source: str = BUILT_IN
    version: str = ""
    problems: tuple[Problem, ...] = ()
    asked: str = ""
    uid: str = ""

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
    version, uid = (str(metadata.get(key, "")) for key in ("resourceVersion", "uid"))
    source = f"ConfigMap {metadata.get('namespace', '')}/{metadata.get('name', CONFIG_MAP)}"
    whole = {"apiVersion": CONFIG_MAPS.api_version, "kind": CONFIG_MAPS.name, **body}
    report = Report()
    inventory = Inventory(report)
    inventory.take([Source("", objects=[whole])])
    config = read_config(inventory).config
    problems = report.errors or tuple(_strange_weights(config, source, extensions))
    asked = str((metadata.get("annotations") or {}).get(DEFRAGMENT, ""))
    if problems:
        return replace(state, version=version, problems=problems, asked=asked, uid=uid)
    return ConfigState(config, source, version, asked=asked, uid=uid)


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
