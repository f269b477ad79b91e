"""Files that are given to the command or pasted into the dashboard: manifests, fabrics, traces."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import yaml

from fourleaf.model.problems import BadInput, Problem
from fourleaf.model.readers import Source, read
from fourleaf.model.readers.text import json as strict_json
from fourleaf.model.readers.text import yaml as strict_yaml
from fourleaf.model.readers.text.json import BadText
from fourleaf.model.topology_import.check import check_description
from fourleaf.model.topology_import.formats import read_description
from fourleaf.simulator.readers import kalos, openb_pods, philly, recorded
from fourleaf.simulator.readers.folder import VARIABLE, NoData
from fourleaf.simulator.trace import Trace
from tests.fuzz.law import Reader
from tests.fuzz.seeds import WORLDS
from tests.model.topology_import.made import rails
from tests.model.topology_import.test_formats import SOURCES


def _manifest(data: bytes) -> tuple[Problem, ...]:
    return read([Source("-", data)], 1e9, strict=False).problems


def _json(data: bytes) -> tuple[str, ...]:
    strict_json.parse(data)
    return ()


def _yaml(data: bytes) -> tuple[str, ...]:
    strict_yaml.parse(data.decode(errors="replace"))
    return ()


def _fabric(data: bytes) -> tuple[str, ...]:
    check_description(read_description(Source("in", data)))
    return ()


def _trace(file: str, trace: Callable[[], Trace]) -> Callable[[bytes], tuple[str, ...]]:
    def of_bytes(data: bytes) -> tuple[str, ...]:
        with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {VARIABLE: folder}):
            Path(folder, file).write_bytes(data)
            trace()
        return ()

    return of_bytes


def _recording(data: bytes) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "trace-000001.jsonl").write_bytes(data)
        found = recorded.recording(Path(folder))
    recorded.trace_of(found, "fuzzed")
    recorded.fabric_of(found)
    return ()


_LINES = b"""\
{"line":"head","format":1,"at":9.0}
{"line":"leaves","at":9.0,"adjacency":"explicit","edges":[["a","a"]],"leaves":[["a","s",100]]}
{"line":"node","at":9.0,"name":"n","leaf":"a","offer":{"gpus":8,"cpu":null},"labels":{"a":"b"}}
{"line":"gang","at":9.5,"gang":0,"namespace":"ml","name":"g","created":9.0,"shape":{"roles":[{"pods":2,\
"request":{"gpus":4,"extra":[["x/y",1]]},"constraint":{"selector":[["a","b"]]}}],"duration":60.0}}
{"line":"run","at":10.0,"gang":0,"nodes":["n","n"]}
{"line":"state","at":11.0,"node":"n","state":"notReady"}
{"line":"stop","at":12.0,"gang":0,"why":"failed"}
{"line":"seen","at":13.0}
"""
_TRACES = {
    "recording": (_recording, _LINES),
    "kalos": (
        _trace(kalos.FILE, kalos.trace),
        b"job_id,arrival_time,num_iteration,gpu_workers,gpu_per_worker,cpu_per_gpu_worker\n"
        b"1,0.5,100,2,8,12.5\n",
    ),
    "philly": (
        _trace(philly.FILE, philly.trace),
        b"timestamp,duration,num_gpus\n2017-10-03T01:00:00,12.5,16\n",
    ),
    "openb": (
        _trace(openb_pods.FILE, openb_pods.trace),
        b"name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n"
        b"p-0,12000,16384,1,1000,0,12537496\n",
    ),
}
_ALIASED = b"a: &a {b: &b [1, 2]}\nc: *a\nd:\n  <<: *a\n  e: *b\n---\nf: |\n  x\n"
_TEXT = json.dumps(WORLDS["pods"]).encode()
_MANIFESTS = tuple(yaml.safe_dump_all(one).encode() for one in WORLDS.values())
_FABRICS = {**{name: text for name, (text, _) in SOURCES.items()}, "ib": rails(2, 2, 2, 1).text()}

READERS = (
    Reader("JSON", _json, (_TEXT, b'{"a":[1,{"b":"\\u003a:"}]}'), (BadText,)),
    Reader("YAML", _yaml, (_ALIASED, _MANIFESTS[1]), (BadText,), json=False),
    Reader("manifests", _manifest, _MANIFESTS, json=False),
    *(
        Reader(f"fabric: {name}", _fabric, (text.encode(),), (BadInput,), json=False)
        for name, text in _FABRICS.items()
    ),
    *(
        Reader(f"trace: {name}", trace, (seed,), (NoData,), json=False)
        for name, (trace, seed) in _TRACES.items()
    ),
)
