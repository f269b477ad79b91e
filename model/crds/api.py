"""What all parts of our kinds have in common."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

GROUP = "gpu.scheduling"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"

ConditionStatus = Literal["True", "False", "Unknown"]
Number = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class ApiPart(BaseModel):
    """A frozen part of an object. The API server prunes what the schema does not know."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True
    )


class Condition(ApiPart):
    """One aspect of the state of an object, as `metav1.Condition` has it."""

    type: str = Field(max_length=316, pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
    status: ConditionStatus
    reason: str = Field(
        min_length=1, max_length=1024, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
    )
    message: str = Field(default="", max_length=32768)
    last_transition_time: str = Field(json_schema_extra={"format": "date-time"})
    observed_generation: int | None = Field(default=None, ge=0, le=2**53)
