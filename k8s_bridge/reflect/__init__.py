"""A copy of the cluster's objects, kept as new as the cluster lets us."""

from k8s_bridge.reflect.changes import Absent, Change, Put, Removed, Replaced
from k8s_bridge.reflect.health import Health, Pulse, State
from k8s_bridge.reflect.patience import Patience
from k8s_bridge.reflect.reflector import reflect
from k8s_bridge.reflect.reflectors import Reflectors
from k8s_bridge.reflect.subject import Subject

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
