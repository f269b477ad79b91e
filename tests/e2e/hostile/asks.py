"""What a client may send to the ports of each component, and which statuses are right."""

from __future__ import annotations

import json
from typing import Any

from tests.e2e.board import TOKEN
from tests.e2e.hostile.wire import CLOSE, Ask, posted, request

BEARER = f"Authorization: Bearer {TOKEN}"
HERE = b"Host: 127.0.0.1\r\n"
FABRIC, WHAT_IF = "/api/v1/fabric", "/api/v1/what-if"
JSON = "Content-Type: application/json"

PAGES = (
    Ask("a path upwards", request("GET /../../etc/passwd"), (404,)),
    Ask("a write", posted("/status", b"hello"), (405,)),
    Ask(
        "two lengths",
        b"GET /status HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"
        + CLOSE
        + b"0\r\n\r\n",
        (400,),
    ),
    Ask("a long header", request("GET /status", "X: " + "a" * 600_000), (0, 400, 431)),
    Ask("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", (0, 400)),
)
"""To the port of metrics and status."""


def reviewed(obj: Any, **more: Any) -> bytes:
    """A review of the creation of a pod, as the API server would send it."""
    asked = {
        "uid": "u",
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "userInfo": {},
        "object": obj,
        **more,
    }
    kind = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return json.dumps({**kind, "request": asked}).encode()


STRANGE = {
    "kind": "Pod",
    "metadata": {"name": 1, "annotations": []},
    "spec": {"containers": {"a": 1}, "schedulerName": ["x"]},
}
COSTLY = {
    "containers": [
        {"name": f"c{i}", "env": [{"name": "NVIDIA_VISIBLE_DEVICES"}]} for i in range(90_000)
    ],
    "annotations": {f"topology.scheduler/gang-siz{i}": "1" for i in range(120_000)},
    "map": "\n".join(f"{i}=n{i}:" + ",".join(map(str, range(300))) for i in range(4096)),
    "resources": {f"a.b/{i}": "1" for i in range(200_000)},
    "tolerations": [{"operator": "Bad"}] * 150_000,
}
"""What costs most to read."""


def costly(name: str) -> bytes:
    """A review with much of one thing."""
    much = COSTLY[name]
    pod: dict[str, Any] = {"kind": "Pod", "metadata": {"name": "x-0"}}
    pod["spec"] = {"schedulerName": "gpu-scheduler", "containers": [{"name": "c"}]}
    if name == "annotations":
        pod["metadata"]["annotations"] = much
    elif name == "map":
        pod["metadata"]["annotations"] = {"gpu-scheduling-map": much}
    elif name == "resources":
        pod["spec"]["containers"][0]["resources"] = {"limits": much}
    else:
        pod["spec"][name] = much
    return posted("/validate", reviewed(pod))


REVIEWS = (
    Ask("braces", posted("/validate", b"{" * 100_000), (400,)),
    Ask("300 levels", posted("/validate", b"[" * 300 + b"]" * 300), (400,)),
    Ask("no object", posted("/validate", reviewed(None)), (200,)),
    Ask("8 MiB", posted("/validate", b"x" * 8 * 2**20), (0, 413)),
    Ask("text", request("POST /validate", "Content-Type: text/plain", body=b"{}"), (415,)),
    Ask("a key twice", posted("/validate", b'{"a":1,"a":2}'), (400,)),
    Ask("a strange pod", posted("/validate", reviewed(STRANGE)), (200,)),
    Ask(
        "who says that it is the scheduler", posted("/validate", reviewed({"kind": "Pod"})), (200,)
    ),
)
"""To the webhook, past the API server."""

_BOMB = "a: !!seq &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: !!seq &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)
_HUGE = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j", "namespace": "n"},
    "spec": {
        "parallelism": 2_000_000_000,
        "template": {"spec": {"schedulerName": "gpu-scheduler", "containers": [{"name": "c"}]}},
    },
}
_CHUNKED = (
    f"POST {WHAT_IF} HTTP/1.1\r\n{JSON}\r\nTransfer-Encoding: chunked\r\n{BEARER}\r\n".encode()
)
DASHBOARD = (
    Ask("no token", request(f"GET {FABRIC}"), (401,)),
    Ask("upwards, encoded", request("GET /static/..%2f..%2fweb/access.py"), (400, 404)),
    Ask("upwards into the API", request(f"GET /static/..{FABRIC}"), (400, 401, 404)),
    Ask("upwards from the login", request(f"GET /login/..{FABRIC}"), (401, 404)),
    Ask("two slashes", request(f"GET /{FABRIC}"), (401, 404)),
    Ask("an encoded path", request("GET /%61pi/v1/fabric"), (401, 404)),
    Ask("a user of no proxy", request(f"GET {FABRIC}", "X-Forwarded-User: admin"), (401,)),
    Ask("another origin", posted(WHAT_IF, {}, BEARER, "Origin: http://evil.example"), (403,)),
    Ask(
        "another site",
        request(f"GET {FABRIC}", BEARER, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"),
        (403,),
    ),
    Ask(
        "a form",
        request(f"POST {WHAT_IF}", BEARER, "Content-Type: text/plain", body=b"{}"),
        (403, 415, 422),
    ),
    Ask("2 MiB", request(f"POST {WHAT_IF}", BEARER, JSON, "Content-Length: 2097152"), (413,)),
    Ask("no length", _CHUNKED + HERE + CLOSE + b"2\r\n{}\r\n0\r\n\r\n", (411,)),
    Ask(
        "two lengths",
        _CHUNKED + b"Content-Length: 4\r\n" + HERE + b"\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        (400, 411, 413),
    ),
    Ask("a bomb", posted(WHAT_IF, {"manifest": _BOMB}, BEARER), (422,)),
    Ask("a Job of 2e9 pods", posted(WHAT_IF, {"manifest": json.dumps(_HUGE)}, BEARER), (422,)),
    Ask("a login that leads away", request("GET /login?next=//evil.example"), (200,)),
)
"""To the dashboard that asks for a token."""

GANGS = f"GET {FABRIC}"
OPEN = (
    *(
        Ask(f"host {host}", request(GANGS, host=host), (421,))
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1@evil.example")
    ),
    Ask("two hosts", request(GANGS, "Host: evil.example", host="localhost"), (400, 421)),
    Ask("no host", f"{GANGS} HTTP/1.0\r\n\r\n".encode(), (400, 421)),
    Ask(
        "a script of another site",
        request(GANGS, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script"),
        (403,),
    ),
    Ask("an origin of nowhere", posted(WHAT_IF, {}, "Origin: null"), (403,)),
    Ask("TRACE", request("TRACE /", body=b""), (404, 405)),
)
"""To a dashboard that serves this machine alone, and asks for nothing."""

ADMIN = "X-Forwarded-User: admin"
FAR_PROXY = (
    Ask("a user from elsewhere", request(GANGS, ADMIN, host="site.example"), (401,)),
    Ask(
        "who was passed on",
        request(
            GANGS,
            ADMIN,
            "X-Forwarded-For: 10.0.0.1",
            "Forwarded: for=10.0.0.1",
            "X-Real-IP: 10.0.0.1",
            host="site.example",
        ),
        (401,),
    ),
)
"""To a dashboard that believes a proxy elsewhere."""

NEAR_PROXY = (
    Ask("no user", request(GANGS, host="site.example"), (401,)),
    Ask("two", request(GANGS, ADMIN, "X-Forwarded-User: guest", host="site.example"), (401,)),
    Ask("underscores", request(GANGS, "X_Forwarded_User: admin", host="site.example"), (401,)),
    Ask("blanks", request(GANGS, "X-Forwarded-User:    ", host="site.example"), (401,)),
)
"""To a dashboard that believes a proxy on this machine."""
