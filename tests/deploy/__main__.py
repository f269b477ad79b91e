"""Write what is generated in `deploy/`: `python -m tests.deploy`."""

from tests.deploy.generated import generated


def main() -> None:
    """Write every generated file."""
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
