"""Pages of the site: links that leave `docs/` lead to the repository, whose pages join in."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
JOINING = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "TROUBLESHOOTING.md")
"""Pages at the top of the repository that are pages of the site too."""
_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")


def on_files(files: Any, config: Any) -> Any:
    """Add the README as the first page, and the pages of the top beside it."""
    from mkdocs.structure.files import File

    for name in ("README.md", *JOINING):
        title = "index.md" if name == "README.md" else name
        content = (ROOT / name).read_text("utf-8")
        files.append(File.generated(config, title, content=linked(content, "", config["repo_url"])))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Turn the links of one page of `docs/`."""
    if page.file.generated_by is not None:
        return markdown
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")
    return linked(markdown, folder, config["repo_url"])


def linked(markdown: str, folder: str, repository: str) -> str:
    """`markdown` of a page in `folder` of the repository with links as the site has them."""

    def turned(match: re.Match[str]) -> str:
        path, anchor = match[1], match[2] or ""
        target = posixpath.normpath(posixpath.join(folder, path))
        if target in JOINING:
            target = f"docs/{target}"
        elif target == "README.md":
            target = "docs/index.md"
        there = target.startswith("docs/") and (
            target.removeprefix("docs/") in (*JOINING, "index.md") or (ROOT / target).is_file()
        )
        if there and not target.endswith(".py"):
            return posixpath.relpath(target, folder or "docs") + anchor
        return f"{repository}/blob/main/{target}{anchor}"

    return _LINK.sub(turned, markdown)
