"""What a person gets who installs the wheel by pipx, in a home of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.controlplane.processes import free_ports

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
UV = Path(sys.executable).with_name("uv")
WAITING, BAD_INPUT = 3, 2
"""How verbs end: a gang has to wait, or nothing better was found; what is asked cannot be done."""
EXTRAS = "dashboard,tune"
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Pipx:
    """pipx with a home of its own, in which no variable says where this checkout is."""

    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """What its programs are told."""
        kept = ("PATH", "LANG", "UV_", "PIP_", "SSL_", "HTTP", "http", "NO_PROXY", "no_proxy")
        said = {name: value for name, value in os.environ.items() if name.startswith(kept)}
        own = {"PIPX_HOME": "home", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man", "HOME": "user"}
        return said | {name: str(self.home / folder) for name, folder in own.items()}

    @property
    def fourleaf(self) -> Path:
        """The program that it has put on the path."""
        return self.home / "bin" / "fourleaf"

    def install(self, what: str) -> None:
        """Install, in place of what there was."""
        self.run(UV, "tool", "run", "pipx", "install", "--force", "--python", sys.executable, what)

    def run(self, *words: str | Path, code: int = 0) -> str:
        """What a command says that has to end with `code`."""
        command = list(map(str, words))
        done = subprocess.run(
            command, cwd=self.home, env=self.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr


@pytest.mark.deep
def test_the_wheel_by_pipx(tmp_path: Path) -> None:
    """Demo, plan and replay work, what lacks an extra says which, and works with it."""
    build = (UV, "build", "--wheel", "--no-build-isolation", "--out-dir", tmp_path, "--quiet")
    subprocess.run(list(map(str, build)), cwd=ROOT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    pipx = Pipx(tmp_path)
    pipx.install(str(wheel))
    study = ("tune", "--trials", "1", "--days", "1", "--deals", "1")
    page = ("dashboard", "--snapshot", EXAMPLES / "fabric-64.yaml")

    assert "0 breaches" in pipx.run(pipx.fourleaf, "demo", "--seconds", "4", "--speed", "4")
    assert "OPTIMAL" in pipx.run(pipx.fourleaf, "plan", "-f", EXAMPLES, "-o", "json", code=WAITING)
    assert "cpsat" in pipx.run(pipx.fourleaf, "replay", "--policy", "cpsat", "--days", "1")
    assert 'pip install "fourleaf[tune]"' in pipx.run(pipx.fourleaf, *study, code=BAD_INPUT)
    assert 'pip install "fourleaf[dashboard]"' in pipx.run(pipx.fourleaf, *page, code=BAD_INPUT)

    pipx.install(f"{wheel}[{EXTRAS}]")
    assert "held-out" in pipx.run(pipx.fourleaf, *study, code=WAITING)
    assert "Fourleaf" in _page_of(pipx, *page)


def _page_of(pipx: Pipx, *words: str | Path) -> str:
    """The first page that a dashboard serves, which is stopped then."""
    where = f"127.0.0.1:{free_ports(1)[0]}"
    command = [str(pipx.fourleaf), *map(str, words), "--listen", where]
    with subprocess.Popen(command, cwd=pipx.home, env=pipx.environment) as process:
        try:
            until = time.monotonic() + PATIENCE_SECONDS
            while time.monotonic() < until:
                try:
                    with urllib.request.urlopen(f"http://{where}/", timeout=5) as answer:
                        return str(answer.read().decode())
                except urllib.error.URLError:
                    assert process.poll() is None, "the dashboard has ended"
                    time.sleep(0.2)
            raise AssertionError("the dashboard has served no page")
        finally:
            process.terminate()
