"""Priority classes and the priority of a pod."""

from __future__ import annotations

from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import MAX_INT32, Body, Manifest

SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Classes that every cluster has."""

_POLICY = "preemptionPolicy"
_NEVER = "Never"
_POLICIES = ("PreemptLowerPriority", _NEVER)


class Priorities:
    """The priority classes of the input, the built-in ones included."""

    def __init__(self, objects: Objects) -> None:
        self._values = dict(SYSTEM)
        self._default = 0
        self._meek: set[str] = set()
        default = ""
        classes = objects.of("scheduling.k8s.io", "PriorityClass")
        for manifest in sorted(classes, key=lambda one: one.name):
            body = manifest.body
            value = manifest.whole(body.get("value"), "value", 0, -MAX_INT32 - 1, MAX_INT32)
            self._values[manifest.name] = value
            policy = manifest.text(body.get(_POLICY), _POLICY) or _POLICIES[0]
            if manifest.choice(policy, _POLICY, _POLICIES) == _NEVER:
                self._meek.add(manifest.name)
            if manifest.flag(body.get("globalDefault"), "globalDefault"):
                if default:
                    manifest.error(
                        "globalDefault",
                        True,
                        f"stands in PriorityClass {default} as well",
                        "Make one class the default.",
                    )
                default, self._default = manifest.name, value
        self._default_class = default

    def of(self, manifest: Manifest, spec: Body, path: str = "spec") -> int:
        """The priority that `spec` states, else that of its class, else the default."""
        if spec.get("priority") is not None:
            return manifest.whole(
                spec["priority"], f"{path}.priority", 0, -MAX_INT32 - 1, MAX_INT32
            )
        field = f"{path}.priorityClassName"
        name = manifest.text(spec.get("priorityClassName"), field)
        if not name:
            return self._default
        if name not in self._values:
            manifest.error(
                field,
                name,
                "is no PriorityClass of the input",
                f"Add the PriorityClass, or use one of: {', '.join(sorted(self._values))}.",
            )
            return self._default
        return self._values[name]

    def preempts(self, manifest: Manifest, spec: Body) -> bool:
        """Whether lower priorities may have to make room: as `spec` says, else its class."""
        stated = manifest.text(spec.get(_POLICY), f"spec.{_POLICY}")
        if stated:
            manifest.choice(stated, f"spec.{_POLICY}", _POLICIES)
            return stated != _NEVER
        name = manifest.text(spec.get("priorityClassName"), "spec.priorityClassName")
        return (name or self._default_class) not in self._meek
