"""What an installation without an extra says, and that an image carries what it runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fourleaf.cli.extras import EXTRAS

ROOT = Path(__file__).parents[2]
EXAMPLES = str(ROOT / "examples")
DOCKERFILE = ROOT / "deploy" / "images" / "Dockerfile"


def without(modules: tuple[str, ...], *words: str) -> subprocess.CompletedProcess[str]:
    """`fourleaf` with those arguments where none of `modules` is installed."""
    hidden = f"import sys; sys.modules.update(dict.fromkeys({modules!r}))"
    program = f"{hidden}; from fourleaf.cli.main import main; main()"
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("module", "extra", "words"),
    [
        ("cryptography", "webhook", ("webhook", "--self-signed", "--kubeconfig", "none")),
        pytest.param(
            *("optuna", "tune", ("tune", "-f", EXAMPLES, "-f", EXAMPLES)), marks=pytest.mark.deep
        ),
        pytest.param(
            *("fastapi", "dashboard", ("dashboard", "--snapshot", EXAMPLES)),
            marks=pytest.mark.deep,
        ),
        pytest.param(
            *("pynvml", "agent", ("agent", "--once", "--output", "json", "--source", "nvml")),
            marks=pytest.mark.deep,
        ),
    ],
)
def test_a_missing_extra_is_one_line_of_advice(
    module: str, extra: str, words: tuple[str, ...]
) -> None:
    """It names the verb, the module, and what to install; no traceback."""
    done = without((module,), *words)
    assert done.returncode == 2, done.stderr
    said = " ".join(done.stderr.split())
    assert f"fourleaf {words[0]}" in said
    assert f"needs {module}, which is not installed" in said
    assert f'pip install "fourleaf[{extra}]"' in said
    assert "Traceback" not in said


def test_each_extra_is_one_that_the_package_has() -> None:
    """And each module of the table is brought by the extras that it names."""
    text = (ROOT / "pyproject.toml").read_text()
    for module, extras in EXTRAS.items():
        named = {"pynvml": "nvidia-ml-py", "opentelemetry": "opentelemetry-sdk"}
        package = named.get(module, module)
        for extra in extras:
            (line,) = re.findall(rf"^{extra} = \[.*\]$", text, re.MULTILINE)
            assert f'"{package}>=' in line


@pytest.mark.deep
def test_slim_images_do_without_the_solver(tmp_path: Path) -> None:
    """The agent reads an inventory, and the webhook starts, without what these images leave out."""
    left_out = re.findall(r"--no-install-package (\S+?)[\s\"]", DOCKERFILE.read_text())
    modules = tuple(
        {"absl-py": "absl", "protobuf": "google.protobuf"}.get(one, one) for one in left_out
    )
    assert {"ortools", "pandas", "numpy"} <= {*modules}
    file = tmp_path / "inventory.json"
    file.write_text('{"gpus": [{"index": 0, "uuid": "GPU-a"}]}')
    words = ("--once", "--output", "json", "--from-file", str(file), "--node-name", "n")
    done = without((*modules, *EXTRAS), "agent", *words)
    assert done.returncode == 0, done.stderr
    assert "GPU-a" in done.stdout
    done = without((*modules, "jinja2", "matplotlib", "optuna", "pynvml"), "webhook", "--help")
    assert done.returncode == 0
    program = f"import sys; sys.modules.update(dict.fromkeys({modules!r}))"
    program += "; import fourleaf.webhook.serve, fourleaf.k8s_bridge.cluster.live"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
