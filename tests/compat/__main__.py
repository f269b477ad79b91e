"""Write the digests of the plans anew: `python -m tests.compat`, or whole plans into a folder.

For a deliberate change of plans alone, with the reason in the changelog. `python -m tests.compat
FOLDER` writes the documents themselves, so that those of two checkouts can be compared.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from tests.compat.plans import digest, plans
from tests.compat.test_plans import GOLDEN

if __name__ == "__main__":
    if any(word.startswith("-") for word in sys.argv[1:]):
        sys.exit(__doc__)
    digests = {}
    for name, document in plans():
        digests[name] = digest(document)
        for folder in sys.argv[1:]:
            Path(folder).mkdir(parents=True, exist_ok=True)
            text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
            Path(folder, f"{name}.json").write_bytes(text)
    if not sys.argv[1:]:
        GOLDEN.write_bytes(orjson.dumps(digests, option=orjson.OPT_INDENT_2) + b"\n")
