"""Write every page that comes from the code."""

from __future__ import annotations

from docs.reference.pages import FOLDER, pages


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
