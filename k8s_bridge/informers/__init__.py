"""A copy of the cluster's objects, kept as new as the cluster lets us."""

from fourleaf.k8s_bridge.informers.changes import Absent, Change, Put, Removed, Replaced
from fourleaf.k8s_bridge.informers.health import Health, Pulse, ReflectorState
from fourleaf.k8s_bridge.informers.informers import Informers
from fourleaf.k8s_bridge.informers.reflector import reflect
from fourleaf.k8s_bridge.informers.selection import Selection, config_selection
from fourleaf.k8s_bridge.informers.timeouts import Timeouts

__all__ = [
    "Absent",
    "Change",
    "Health",
    "Informers",
    "Pulse",
    "Put",
    "ReflectorState",
    "Removed",
    "Replaced",
    "Selection",
    "Timeouts",
    "config_selection",
    "reflect",
]
