"""A config as it would be after a change: a whole manifest, a part of its spec, or bare weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP, KINDS, SchedulerConfig, Spec
from fourleaf.model.problems import BadInput, Problem, Severity, shown
from fourleaf.model.readers.config import read_config
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import part_of
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.text.json import BadText
from fourleaf.model.readers.text.merge_patch import merged
from fourleaf.model.readers.text.sources import Source, documents

WEIGHTS = "scoringWeights"
SECTIONS = frozenset(field.alias or name for name, field in Spec.model_fields.items())


def patched(config: SchedulerConfig, source: Source) -> SchedulerConfig:
    """`config` changed as the one document of `source` says. Raises `BadInput`.

    A SchedulerConfig, or the ConfigMap of one, stands in place of `config` whole. A mapping
    without a kind is merged into it as a JSON merge patch (RFC 7386): into the manifest where it
    has a `spec`, into the spec where it names sections of it, else into the scoring weights.
    """
    change = _one_mapping(source)
    if "kind" in change:
        body: Mapping[str, Any] = change
        if not _is_config(change):
            advice = f"Give a {KINDS[0]}, fields of its spec, or weights by term."
            raise _bad(source, "kind", shown(change["kind"]), f"is no {KINDS[0]}", advice)
    else:
        known = config.model_dump(mode="json", by_alias=True, exclude_none=True)
        if "spec" not in change:
            change = {"spec": change if change.keys() & SECTIONS else {WEIGHTS: change}}
        body = {**merged(known, change), "apiVersion": API_VERSION, "kind": config.kind}
    report = Report()
    inventory = Inventory(report)
    inventory.take([Source(source.name, objects=[dict(body)])])
    found = read_config(inventory)
    if report.errors:
        raise BadInput(report.errors)
    return found.config


def differences(
    before: SchedulerConfig, after: SchedulerConfig
) -> Iterator[tuple[str, object, object]]:
    """(field, value before, value after) of all that differs in the spec; None: not stated."""
    yield from _differences(
        "spec",
        before.spec.model_dump(mode="json", by_alias=True),
        after.spec.model_dump(mode="json", by_alias=True),
    )


def _differences(path: str, before: object, after: object) -> Iterator[tuple[str, object, object]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            yield from _differences(f"{path}.{name}", before.get(name), after.get(name))
    elif before != after:
        yield path, before, after


def _one_mapping(source: Source) -> dict[str, Any]:
    if source.problem is not None:
        raise BadInput([source.problem])
    try:
        found = documents(source)
    except BadText as bad:
        raise _bad(source, "", "", str(bad), bad.advice) from bad
    advice = "Give one mapping: a SchedulerConfig, fields of its spec, or weights by term."
    if len(found) != 1:
        raise _bad(source, "", "", f"holds {len(found)} documents", advice)
    if not isinstance(found[0], dict) or not found[0]:
        raise _bad(source, "", shown(found[0]), "is no mapping of anything", advice)
    return {str(name): value for name, value in found[0].items()}


def _is_config(body: Mapping[str, Any]) -> bool:
    if body["kind"] in KINDS:
        return True
    return body["kind"] == "ConfigMap" and part_of(body, "metadata").get("name") == CONFIG_MAP


def _bad(source: Source, field: str, value: str, message: str, advice: str) -> BadInput:
    return BadInput([Problem(Severity.ERROR, source.name, "", field, value, message, advice)])
