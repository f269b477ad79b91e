"""Every version of every object that matters, by watches of our own straight to the apiserver."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.history.server import Listing, Refused, Server, Watch

Body = dict[str, Any]

KINDS = {
    "pods": "/api/v1/pods",
    "nodes": "/api/v1/nodes",
    "leases": "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
    "budgets": "/apis/policy/v1/poddisruptionbudgets",
}
"""What is watched: pods and what they are judged by."""

TROUBLE = (OSError, http.client.HTTPException, Refused, json.JSONDecodeError)
PAUSE = 0.1
"""Seconds before a server that did not answer is asked again."""


@dataclass(frozen=True, slots=True)
class Version:
    """One object as it stood from `revision` on, until its next version.

    `seen` is when it was learnt, in seconds since 1970. `deleted`: it was gone from then on.
    """

    revision: int
    kind: str
    body: Body
    deleted: bool = False
    seen: float = 0.0


@dataclass(slots=True)
class _Track:
    """What is known of one kind."""

    revision: int = 0
    live: dict[str, Version] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)


class Recorder:
    """Records versions from `start` until `stop`. To be used as a context around a whole run.

    `gaps` says where the server had forgotten what we asked for, so that versions between two
    lists are missing.
    """

    def __init__(self, server: Server, clock: Callable[[], float] = time.time) -> None:
        self.gaps: list[str] = []
        self._server = server
        self._clock = clock
        self._tracks = {kind: _Track() for kind in KINDS}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self._open: dict[str, Watch] = {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """List everything once, then watch. Raises `Refused` or `OSError` where none answers."""
        for kind, path in KINDS.items():
            self._take(kind, self._server.list(path))
        for kind in KINDS:
            thread = threading.Thread(
                target=self._follow, args=(kind,), name=f"recorder {kind}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Stop watching; what is recorded stays."""
        self._ended.set()
        while any(thread.is_alive() for thread in self._threads):
            for watch in list(self._open.values()):
                watch.cut()
            for thread in self._threads:
                thread.join(PAUSE)

    def settle(self, timeout: float = 10.0) -> dict[str, Listing]:
        """List everything as it stands and wait until the watches have told all of it.

        What they have not told after `timeout` seconds is taken from the lists.
        """
        final = {kind: self._server.list(path) for kind, path in KINDS.items()}
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and not all(
            self._knows(kind, listing) for kind, listing in final.items()
        ):
            time.sleep(PAUSE)
        for kind, listing in final.items():
            self._take(kind, listing)
        return final

    def versions(self) -> tuple[Version, ...]:
        """All versions so far, in the order in which they came to be."""
        with self._lock:
            found = [one for track in self._tracks.values() for one in track.versions]
        return tuple(sorted(found, key=lambda one: one.revision))

    def _follow(self, kind: str) -> None:
        while not self._ended.is_set():
            try:
                with self._server.watch(KINDS[kind], self._revision(kind)) as watch:
                    self._open[kind] = watch
                    for type_, body in watch:
                        self._note(kind, type_, body)
            except Refused as error:
                if error.code == 410:
                    self._again(kind)
                else:
                    self._ended.wait(PAUSE)
            except TROUBLE:
                self._ended.wait(PAUSE)

    def _again(self, kind: str) -> None:
        """List a kind anew, where the server has forgotten what happened since."""
        try:
            listing = self._server.list(KINDS[kind])
        except TROUBLE:
            self._ended.wait(PAUSE)
            return
        self.gaps.append(f"{kind}: {self._revision(kind)} to {listing.revision}")
        self._take(kind, listing)

    def _revision(self, kind: str) -> int:
        with self._lock:
            return self._tracks[kind].revision

    def _knows(self, kind: str, listing: Listing) -> bool:
        with self._lock:
            live = self._tracks[kind].live
            wanted = {uid_of(body): revision_of(body) for body in listing.items}
            return live.keys() <= wanted.keys() and all(
                uid in live and live[uid].revision >= revision for uid, revision in wanted.items()
            )

    def _note(self, kind: str, type_: str, body: Body) -> None:
        revision = revision_of(body)
        with self._lock:
            track = self._tracks[kind]
            if type_ != "BOOKMARK" and revision > track.revision:
                self._add(track, Version(revision, kind, body, type_ == "DELETED", self._clock()))
            track.revision = max(track.revision, revision)

    def _take(self, kind: str, listing: Listing) -> None:
        """Take a list for complete: add what is newer than known, and what is missing as gone."""
        now = self._clock()
        with self._lock:
            track = self._tracks[kind]
            if listing.revision < track.revision:
                return
            there = {uid_of(body) for body in listing.items}
            for uid, old in list(track.live.items()):
                if uid not in there:
                    self._add(track, Version(listing.revision, kind, old.body, True, now))
            for body in listing.items:
                known = track.live.get(uid_of(body))
                if known is None or known.revision < revision_of(body):
                    self._add(track, Version(revision_of(body), kind, body, False, now))
            track.revision = listing.revision

    def _add(self, track: _Track, version: Version) -> None:
        track.versions.append(version)
        uid = uid_of(version.body)
        if version.deleted:
            track.live.pop(uid, None)
        else:
            track.live[uid] = version


def uid_of(body: Body) -> str:
    """The object's UID."""
    return str(body["metadata"]["uid"])


def revision_of(body: Body) -> int:
    """The revision at which the object became what it is."""
    return int(body["metadata"]["resourceVersion"])
