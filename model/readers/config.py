"""The configuration among the objects: a bare manifest, or one inside the ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from fourleaf.model.config.spec import (
    API_VERSION,
    BUILT_IN_TERMS,
    CONFIG_MAP,
    DEFAULTS_KEY,
    KINDS,
    SchedulerConfig,
)
from fourleaf.model.config.values import ADVICE
from fourleaf.model.readers.objects.annotations import MOVE_COST
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.text import json, yaml
from fourleaf.model.readers.text.merge_patch import merged

BUILT_IN = "built-in defaults"
IN_FORCE = "config in force"


@dataclass(frozen=True, slots=True)
class ConfigRead:
    """The config, the file it came from, and its object where it has one."""

    config: SchedulerConfig
    source: str = BUILT_IN
    manifest: Manifest | None = None

    def error(self, report: Report, field: str, value: object, message: str, advice: str) -> None:
        """Report an error about `field` of the config."""
        if self.manifest is not None:
            self.manifest.error(field, value, message, advice)
        else:
            report.error(self.source, KINDS[0], field, value, message, advice)

    def warn(self, report: Report, field: str, value: object, message: str, advice: str) -> None:
        """Report a warning about `field` of the config."""
        if self.manifest is not None:
            self.manifest.warn(field, value, message, advice)
        else:
            report.warn(self.source, KINDS[0], field, value, message, advice)


def in_force(config: SchedulerConfig) -> ConfigRead:
    """A config that was read before."""
    return ConfigRead(config, IN_FORCE)


def read_config(inventory: Inventory) -> ConfigRead:
    """The config of the input and where it came from; the defaults where there is none.

    Problems go to the inventory's report; a config that has any is not used.
    """
    found: list[tuple[Manifest, Body]] = [
        (manifest, manifest.body)
        for kind in KINDS
        for manifest in inventory.of("topology.scheduler", kind)
    ]
    for manifest in inventory.of("", "ConfigMap"):
        if manifest.name == CONFIG_MAP:
            found.extend((manifest, body) for body in _inside(manifest))
    if not found:
        return ConfigRead(SchedulerConfig())
    for manifest, _ in found[1:]:
        manifest.error(
            "kind",
            manifest.kind,
            f"is a second configuration next to {found[0][0].title}",
            "Give one configuration.",
        )
    manifest, body = found[0]
    return ConfigRead(_validated(manifest, body), manifest.source, manifest)


def _inside(manifest: Manifest) -> list[Body]:
    """The configs of a ConfigMap, each merged over the defaults that a chart may have put there."""
    found: list[Body] = []
    defaults: Body | None = None
    data = manifest.strings(manifest.body.get("data"), "data")
    for key, text in data.items():
        for document in _documents(manifest, key, text):
            if not isinstance(document, dict) or document.get("kind") not in KINDS:
                continue
            if key == DEFAULTS_KEY:
                defaults = document
            else:
                found.append(document)
    if defaults is not None:
        base = defaults
        found = [merged(base, one) for one in found] or [base]
    if not found and not manifest.broken:
        manifest.error(
            "data",
            ", ".join(data) or "nothing",
            "holds no configuration",
            f"Put a manifest with apiVersion {API_VERSION} and kind {KINDS[0]} under one key.",
        )
    return found


def _documents(manifest: Manifest, key: str, text: str) -> list[Any]:
    try:
        if text.lstrip()[:1] == "{":
            # What begins with a brace is JSON, which is read faster, or a mapping of YAML.
            try:
                return [json.parse(text.encode())]
            except json.BadText:
                if key.endswith(".json"):
                    raise
        return yaml.parse(text)
    except json.BadText as bad:
        manifest.error(f"data[{key}]", None, str(bad), bad.advice)
    except UnicodeEncodeError:
        manifest.error(f"data[{key}]", None, "is not Unicode text", "Give it as UTF-8 text.")
    return []


def _validated(manifest: Manifest, body: Body) -> SchedulerConfig:
    try:
        config = SchedulerConfig.model_validate(body)
        _warn_of_idle(manifest, config)
        return config
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            field = _path(detail["loc"])
            value = detail["input"] if not isinstance(detail["input"], dict | list) else None
            manifest.error(field, value, _message(detail), _advice(detail, field))
    except RecursionError:
        manifest.error("spec", None, "is nested too deeply", "Write it as the manual shows it.")
    return SchedulerConfig()


def _warn_of_idle(manifest: Manifest, config: SchedulerConfig) -> None:
    """Say which field of the config changes nothing, and which weights are none."""
    named = config.spec.scoring_weights
    left_out = [term for term in BUILT_IN_TERMS if term not in named]
    if left_out:
        manifest.warn(
            "spec.scoringWeights",
            ", ".join(named),
            f"leaves out {' and '.join(left_out)}, which then weigh nothing",
            "Name each with its weight, 0 where that is meant.",
        )
    idle = config.spec.penalties.migration
    if idle is not None:
        manifest.warn(
            "spec.penalties.migration",
            idle,
            "has no effect: moves are as few and as cheap as can be before any score counts",
            f"Leave it out; gangs say what a move of theirs costs by {MOVE_COST}.",
        )


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _message(detail: Any) -> str:
    if detail["type"] == "extra_forbidden":
        return "is no field of the config"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _fields_beside(location: Sequence[int | str]) -> list[str]:
    """The fields that stand where the last part of `location` was given and is none."""
    found: type[BaseModel] = SchedulerConfig
    for part in location[:-1]:
        named = (one for one in found.model_fields.values() if one.alias == part)
        # What names no field is a key of a map, or a number in a list.
        if field := next(named, None):
            found = next(_models_in(field.annotation), found)
    return sorted(one.alias or name for name, one in found.model_fields.items())


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _advice(detail: Any, field: str) -> str:
    said = getattr(detail.get("ctx", {}).get("error"), "advice", "")
    if said:
        return str(said)
    match detail["type"]:
        case "extra_forbidden":
            beside = _fields_beside(detail["loc"])
            near = get_close_matches(str(detail["loc"][-1]), beside, 1)
            if near:
                return f"Perhaps {near[0]} is meant; else remove {field}."
            return f"Remove {field}, or use one of: {', '.join(beside)}."
        case "enum" | "literal_error":
            return f"Use one of: {detail['ctx']['expected']}."
        case "missing":
            return f"Add {field}."
        case "string_pattern_mismatch":
            return ADVICE[detail["ctx"]["pattern"]]
        case "too_short":
            return f"Give {field} at least one entry, or leave it out."
        case _:
            return f"Correct {field}."
