"""The section of the config that says when a node counts as dead."""

from __future__ import annotations

from pydantic import Field

from fourleaf.model.config.values import Section


class Failures(Section):
    """When a node counts as dead, when as well again, and how long that is held against it.

    Its kubelet silent for `silentSeconds` and its host not answering, it is dead; well for
    `wellSeconds`, it may be used again. `conditions` are types of node conditions that mean a
    failure where they are true. A failure counts half after `halfLifeHours`.
    """

    silent_seconds: float = Field(default=20.0, ge=11, le=3600)
    well_seconds: float = Field(default=30.0, ge=0, le=86400)
    conditions: tuple[str, ...] = ()
    half_life_hours: float = Field(default=168.0, gt=0, le=87600)
