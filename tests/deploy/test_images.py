"""The images: what their Dockerfile takes, and as whom they run."""

from __future__ import annotations

import fnmatch
import re
import tomllib

import yaml

from tests.deploy.generated import DEPLOY
from tests.deploy.tools import run

ROOT = DEPLOY.parent
FILE = DEPLOY / "images" / "Dockerfile"
IMAGES = ("fourleaf", "fourleaf-webhook", "fourleaf-agent", "fourleaf-tune", "gpu-scheduler-check")
LINES = FILE.read_text().replace("\\\n", " ").splitlines()


def test_hadolint_finds_nothing() -> None:
    """Not even a warning."""
    assert run("hadolint", "--failure-threshold", "style", FILE).stdout == ""


def test_what_is_copied_exists_and_is_sent_to_the_builder() -> None:
    """A COPY of what .dockerignore leaves out fails on somebody else's machine."""
    sent = [
        line.removeprefix("!")
        for line in FILE.with_name("Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    for line in LINES:
        if line.startswith("COPY ") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
                names = (source, source.split("/")[0])
                assert any(fnmatch.fnmatch(name, one) for name in names for one in sent), source


def test_every_room_of_the_package_is_in_the_image() -> None:
    """The wheel is built there, from these."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    rooms = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    copied = {line.split()[1] for line in LINES if line.startswith("COPY ")}
    assert rooms <= copied


def test_images_run_as_nobody_and_from_one_base() -> None:
    """The last user of each is a number, which is what `runAsNonRoot` can check."""
    stages = {}
    for stage in "\n".join(LINES).split("\nFROM ")[1:]:
        (base, name) = stage.split("\n")[0].split(" AS ")
        assert base == "${PYTHON}" or base in stages
        users = re.findall(r"^USER (.*)$", stage, re.MULTILINE)
        stages[name] = users[-1] if users else stages.get(base, "")
    for name in IMAGES:
        assert stages[name] == "65532:65532"


def test_every_image_of_the_chart_and_of_a_release_is_a_target() -> None:
    """What the chart pulls by default is what the workflow pushes, and it is built here."""
    values = yaml.safe_load((DEPLOY / "charts" / "fourleaf" / "values.yaml").read_text())
    pulled = [values[one]["image"]["repository"] for one in ("webhook", "agent")]
    pulled.append(values["image"]["repository"])
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yaml").read_text())
    pushed = release["jobs"]["images"]["strategy"]["matrix"]["image"]
    assert {f"{release['env']['REGISTRY']}/{one}" for one in pushed} >= {*pulled}
    assert {*pushed} == {*IMAGES}


def test_the_base_is_pinned_by_its_digest() -> None:
    """The same content each time it is built, though the tag moves on."""
    (base,) = re.findall(r"^ARG PYTHON=(.*)$", FILE.read_text(), re.MULTILINE)
    assert re.fullmatch(r"docker\.io/library/python:3\.\d+-[a-z-]+@sha256:[0-9a-f]{64}", base)


def test_the_builder_is_the_one_of_the_lock() -> None:
    """The same uv reads the lock that wrote it."""
    (pinned,) = re.findall(r"^uv==([\d.]+)", FILE.with_name("build.txt").read_text(), re.MULTILINE)
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    assert pinned in [one["version"] for one in lock["package"] if one["name"] == "uv"]
