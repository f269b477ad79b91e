"""What all sections of the config have in common.

Each value says what it may be, and what helps where it is something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from fourleaf.model.problems import AdvisedError
from fourleaf.model.quantity import mbits


class Section(BaseModel):
    """A frozen part of the config that refuses unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True
    )


_BANDWIDTH = r"^[0-9]+(\.[0-9]+)?(Mb|Gb|Tb)$"
_DOMAIN = r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_CLASS = f"^{_DOMAIN}$"
_API_GROUP = f"^(?:{_DOMAIN})$"
_KIND = r"^[A-Z][A-Za-z0-9]{0,62}$"
_PLURAL = r"^[a-z][a-z0-9]{0,62}$"
_PATH = r"^[A-Za-z0-9_-]+(\.([A-Za-z0-9_-]+|\*))*$"
_RESOURCE = f"^{_DOMAIN}/{_LABEL}$"
QUALIFIED = f"^({_DOMAIN}/)?{_LABEL}$"
"""Names as Kubernetes gives them to resources: a domain may stand before."""
_LABEL_KEY = f"^(?:{_DOMAIN}/)?{_LABEL}$"

ADVICE: Mapping[str, str] = {
    _BANDWIDTH: 'Write a bandwidth like "100Gb", "400Gb" or "1Tb".',
    _CLASS: 'Name a DeviceClass, like "gpu.nvidia.com".',
    _RESOURCE: 'Name a resource with its domain, like "nvidia.com/gpu".',
    _API_GROUP: 'Name an API group, like "kubeflow.org".',
    _KIND: 'Name a kind, like "PyTorchJob".',
    _PLURAL: 'Write it in lower case, like "pytorchjobs" or "v1".',
    _PATH: 'Write field names with dots between them, like "spec.workers.*.replicas".',
    _LABEL_KEY: 'Name the key of a label, like "example.com/job-name".',
    QUALIFIED: 'Name a scheduler in letters, digits, -, _ and ., like "gpu-scheduler".',
}
"""Pattern -> what to write where a text does not match it."""


class Misfit(AdvisedError):
    """Parts of the config that do not go together. Its message says why; `advice` what helps."""


def _countable(text: str) -> str:
    mbits(text)
    return text


def _brief(number: Decimal) -> Decimal:
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -MOST_DECIMALS:
        raise ValueError(f"has more than {MOST_DECIMALS} decimals")
    return number


MOST_DECIMALS = 30
"""Decimals of a number: as a fraction, 1e-9999999 takes seconds, for each gang again."""

Brief = AfterValidator(_brief)
Weight = Annotated[Decimal, Field(ge=0, le=1000, allow_inf_nan=False), Brief]
DeviceClassName = Annotated[str, Field(pattern=_CLASS)]
Bandwidth = Annotated[str, Field(pattern=_BANDWIDTH), AfterValidator(_countable)]
"""A bandwidth that `mbits` can read, so that no later reader can fail."""
ResourceName = Annotated[str, Field(pattern=_RESOURCE)]
"""An extended resource, never one that Kubernetes itself counts, such as `cpu`."""
SchedulerName = Annotated[str, Field(pattern=QUALIFIED)]
ApiGroup = Annotated[str, Field(pattern=_API_GROUP)]
KindName = Annotated[str, Field(pattern=_KIND)]
PluralName = Annotated[str, Field(pattern=_PLURAL)]
"""The plural of a kind, or an API version."""
FieldPath = Annotated[str, Field(pattern=_PATH)]
"""Names of fields with dots between them; `*` stands for each entry of a list or a map."""
LabelKey = Annotated[str, Field(pattern=_LABEL_KEY)]
