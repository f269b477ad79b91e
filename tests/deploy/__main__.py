"""Write what is generated in `deploy/`: `python -m tests.deploy`."""

from tests.deploy.generated import from_charts, from_values


def main() -> None:
    """Write every generated file."""
    # Helm renders nothing whose values the old schema does not know.
    for files in (from_values, from_charts):
        for path, text in files().items():
            path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
