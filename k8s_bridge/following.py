"""The config in force, kept up with the ConfigMap."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.config_watch import START, ConfigState, folded
from fourleaf.k8s_bridge.reflect import Absent, Change, Put, Removed, Replaced
from fourleaf.model.config import CONFIG_MAP, SchedulerConfig
from fourleaf.model.extensions import ExtensionError, Extensions, load


class ConfigFollower:
    """Applies each edit of the ConfigMap that makes sense; tells of each edit.

    `names` are the scheduler names of the command line, which win over the config's.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        apply: Callable[[SchedulerConfig], None],
        tell: Callable[[ConfigState, ConfigState], None],
    ) -> None:
        self.state: ConfigState = START
        self._names = names
        self._apply = apply
        self._tell = tell
        self._log = structlog.get_logger(__name__)
        self._extensions = self._loaded()
        apply(self._named(START.config))

    def on_change(self, change: Change) -> None:
        """Take what a reflector tells of the ConfigMaps of one namespace."""
        match change:
            case Put(body):
                if _is_ours(body):
                    self._read(body)
            case Removed(body):
                if _is_ours(body):
                    self._read(None)
            case Replaced(items, _, _):
                self._read(next((body for body in items if _is_ours(body)), None))
            case Absent():
                self._read(None)

    def _read(self, body: Body | None) -> None:
        before = self.state
        self.state = folded(before, body, self._extensions)
        if self.state == before:
            return
        for problem in self.state.problems:
            self._log.error("config_invalid", why=str(problem), kept=self.state.source)
        if self.state.config != before.config:
            self._log.info("config_in_force", source=self.state.source)
            self._apply(self._named(self.state.config))
        self._tell(before, self.state)

    def _named(self, config: SchedulerConfig) -> SchedulerConfig:
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


def _is_ours(body: Body) -> bool:
    return bool(body["metadata"]["name"] == CONFIG_MAP)
