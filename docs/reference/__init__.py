"""Reference pages, written from the code: `python -m docs.reference` or `make reference`."""
