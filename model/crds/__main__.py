"""Write the CRDs as YAML: `python -m fourleaf.model.crds deploy/crds`."""

from __future__ import annotations

import sys
from pathlib import Path

from fourleaf.model.crds.definitions import rendered


def main(folder: Path) -> None:
    """Write one file per kind into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in rendered().items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
