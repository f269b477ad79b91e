"""What an installation puts beside other people's modules: one name, `fourleaf`."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
WAITING = 3
"""How `plan` ends where a gang has to wait, as one of the examples does."""

ROOMS = ("agent", "cli", "dashboard", "k8s_bridge", "model", "simulator", "solver", "webhook")


def _done(*command: str | Path, cwd: Path = ROOT, code: int = 0, **environment: str) -> str:
    """The output of a command that has to end with `code`."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment or None,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of this checkout, and the wheel that is built from that sdist."""
    folder = tmp_path_factory.mktemp("built")
    _done(SCRIPTS / "hatchling", "build", "-t", "sdist", "-d", folder)
    (archive,) = folder.glob("*.tar.gz")
    _done("tar", "xzf", archive, "-C", folder)
    source = folder / archive.name.removesuffix(".tar.gz")
    _done(SCRIPTS / "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


def test_the_wheel_holds_one_package_and_all_of_it(wheel: Path) -> None:
    """Every Python file of the rooms is in it, under `fourleaf/`, and nothing else but metadata."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"fourleaf", wheel.name.split("-py3")[0] + ".dist-info"}
    inside = {name.removeprefix("fourleaf/") for name in names}
    files = {one.relative_to(ROOT).as_posix() for room in ROOMS for one in (ROOT / room).rglob("*")}
    missing = {one for one in files - inside if (ROOT / one).is_file() and "__pycache__" not in one}
    assert missing == set()
    assert "py.typed" in inside


def test_package_checkers_find_nothing(built: Path, wheel: Path) -> None:
    """`check-wheel-contents` and `twine check` pass, the latter for the sdist too."""
    _done(SCRIPTS / "check-wheel-contents", wheel)
    _done(SCRIPTS / "twine", "check", "--strict", wheel, *built.glob("*.tar.gz"))


def test_links_of_the_page_on_pypi_lead_somewhere(wheel: Path) -> None:
    """None is relative: there is no repository around that page; each file is in this one."""
    archive = zipfile.ZipFile(wheel)
    (name,) = (one for one in archive.namelist() if one.endswith("/METADATA"))
    text = archive.read(name).decode()
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text.partition("\n\n")[2])
    assert len(links) > 20
    ours = re.compile(r"https://[a-z.]*github[a-z]*\.com/fourleaf/fourleaf/(?:blob/)?v[\d.]+/(.*)")
    for link in links:
        assert link.startswith("https://"), link
        if found := ours.fullmatch(link):
            assert (ROOT / found[1]).exists(), link
    assert "Project-URL: Issues" in text


def test_modules_of_the_user_do_not_matter(wheel: Path, tmp_path: Path) -> None:
    """Beside `model.py`, `agent/` and `cli/` of the user's, on the path first, all is ours."""
    python = tmp_path / "clean" / "bin" / "python"
    _done(sys.executable, "-m", "venv", "--without-pip", tmp_path / "clean")
    site = _done(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    zipfile.ZipFile(wheel).extractall(site)
    # The libraries alone: the link to this checkout is a .pth file, which is not read from here.
    Path(site, "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    user = tmp_path / "user"
    for name in ("agent", "cli"):
        (user / name).mkdir(parents=True)
        (user / name / "__init__.py").write_text("raise SystemExit('the module of the user')\n")
    (user / "model.py").write_text("raise SystemExit('the module of the user')\n")
    program = "import fourleaf.model as m, fourleaf.agent as a; print(m.__file__, a.__file__)"
    found = _done(python, "-c", program, cwd=user, PYTHONPATH=".")
    assert [name.startswith(site) for name in found.split()] == [True, True]
    main = "from fourleaf.cli.main import main; main()"
    command = (python, "-c", main, "plan", "-f", ROOT / "examples", "-o", "json")
    said = _done(*command, cwd=user, code=WAITING, PYTHONPATH=".")
    assert '"status": "OPTIMAL"' in said
