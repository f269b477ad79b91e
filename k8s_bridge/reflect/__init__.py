"""A copy of the cluster's objects, kept as new as the cluster lets us."""

from fourleaf.k8s_bridge.reflect.changes import Absent, Change, Put, Removed, Replaced
from fourleaf.k8s_bridge.reflect.health import Health, Pulse, State
from fourleaf.k8s_bridge.reflect.patience import Patience
from fourleaf.k8s_bridge.reflect.reflector import reflect
from fourleaf.k8s_bridge.reflect.reflectors import Reflectors
from fourleaf.k8s_bridge.reflect.subject import Subject

__all__ = [
    "Absent",
    "Change",
    "Health",
    "Patience",
    "Pulse",
    "Put",
    "Reflectors",
    "Removed",
    "Replaced",
    "State",
    "Subject",
    "reflect",
]
