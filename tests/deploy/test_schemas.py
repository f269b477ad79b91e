"""kubeconform with schemas from OpenAPI: what it takes, and what it refuses by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.schemas import Verdict, judged, published, write_schemas

REFERENCE = "#/components/schemas/"
DOCUMENT = {
    "components": {
        "schemas": {
            "io.example.Gate": {
                "type": "object",
                "required": ["spec"],
                "properties": {
                    "apiVersion": {"type": "string"},
                    "kind": {"type": "string"},
                    "metadata": {"type": "object"},
                    "spec": {"allOf": [{"$ref": f"{REFERENCE}io.example.Spec"}], "default": {}},
                },
                "x-kubernetes-group-version-kind": [
                    {"group": "doors.example.io", "version": "v1", "kind": "Gate"}
                ],
            },
            "io.example.Spec": {
                "type": "object",
                "properties": {
                    "width": {"type": "integer"},
                    "port": {"x-kubernetes-int-or-string": True},
                    "hinges": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"oil": {"type": "boolean"}}},
                    },
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "extra": {
                        "type": "object",
                        "properties": {"known": {"type": "string"}},
                        "x-kubernetes-preserve-unknown-fields": True,
                    },
                },
            },
        }
    }
}
"""What a server would publish at /openapi/v3/apis/doors.example.io/v1."""

GATE = {"apiVersion": "doors.example.io/v1", "kind": "Gate", "metadata": {"name": "g"}}


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """The folder of the schemas of that one kind."""
    folder = tmp_path / "schemas"
    folder.mkdir()
    written = write_schemas({"apis/doors.example.io/v1": DOCUMENT}, folder)
    assert written == {"doors.example.io/v1/Gate"}
    return folder


def verdict(schemas: Path, body: Any, skipped: tuple[str, ...] = ()) -> Verdict:
    """What is said of one object; a text is taken as it stands."""
    file = schemas.with_name("one.yaml")
    file.write_text(body if isinstance(body, str) else yaml.safe_dump(body))
    (found,) = judged(file, schemas, skipped)
    return found


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"width": 3, "hinges": [{"oil": True}]},
        {"port": 80},
        {"port": "http"},
        {"labels": {"any": "thing"}},
        {"extra": {"known": "k", "unknown": 1}},
    ],
    ids=str,
)
def test_what_the_schema_says_is_taken(schemas: Path, spec: Any) -> None:
    """Ports by number or name, labels of any name, and unknown fields where they are kept."""
    assert verdict(schemas, {**GATE, "spec": spec}).status == "valid"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"spec": {"widht": 3}}, "'widht' not allowed"),
        ({"spec": {"hinges": [{"oli": True}]}}, "'oli' not allowed"),
        ({"spec": {}, "spek": {}}, "'spek' not allowed"),
        ({"spec": {"width": "3"}}, "at '/spec/width': got string, want integer"),
        ({"spec": {"port": True}}, "at '/spec/port': got boolean"),
        ({"spec": {"labels": {"a": 1}}}, "at '/spec/labels/a': got number, want string"),
        ({}, "missing property 'spec'"),
    ],
    ids=str,
)
def test_a_mistake_is_refused_by_the_name_of_its_field(schemas: Path, more: Any, said: str) -> None:
    """Misspelt at the top, inside and in a list; of a wrong type; left out."""
    found = verdict(schemas, {**GATE, **more})
    assert (found.name, found.status) == ("g", "invalid")
    assert said in found.message


def test_a_field_given_twice_is_refused(schemas: Path) -> None:
    """A reader of YAML would take the last one in silence."""
    text = yaml.safe_dump({**GATE, "spec": {"width": 3}}) + "  width: 4\n"
    found = verdict(schemas, text)
    assert found.status == "error"
    assert '"width" already set' in found.message


def test_a_kind_without_a_schema_is_skipped_only_by_name(schemas: Path) -> None:
    """Nobody has judged it, so nobody may think that it is right."""
    window = {**GATE, "kind": "Window"}
    found = verdict(schemas, window)
    assert (found.status, found.message) == ("error", "could not find schema for Window")
    assert verdict(schemas, window, ("doors.example.io/v1/Window",)).status == "skipped"


def test_only_documents_that_describe_kinds_are_read() -> None:
    """A server also publishes lists of groups, and of a new group an empty document at first."""
    paths = {one: {"serverRelativeURL": f"/openapi/v3/{one}?hash=1"} for one in ("a", "b", "c")}
    answers: dict[str, Any] = {
        "/openapi/v3": {"paths": paths},
        "/openapi/v3/a?hash=1": DOCUMENT,
        "/openapi/v3/b?hash=1": {},
        "/openapi/v3/c?hash=1": {"components": {"securitySchemes": {}}},
    }
    assert published(answers.__getitem__) == {"a": DOCUMENT}
