"""Nobody of ours asks for the same thing again and again, hot."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from tests.history.audit import Request
from tests.history.history import History


@dataclass(frozen=True, slots=True)
class Loops:
    """The same failing request at most `a_second` times within a second, `in_all` in a run.

    The same are requests by one user for one verb and one object.
    """

    a_second: int = 12
    in_all: int = 300
    name: str = "no hot loops"

    def breaches(self, history: History) -> list[str]:
        """Each request that failed too often."""
        found = []
        failures: dict[str, list[Request]] = defaultdict(list)
        for request in history.our_requests:
            if request.code >= 400:
                failures[request.what].append(request)
        for what, requests in failures.items():
            fastest = _fastest([request.received for request in requests])
            codes = ", ".join(sorted({str(request.code) for request in requests}))
            if fastest > self.a_second:
                found.append(f"{what} failed {fastest} times within a second ({codes})")
            elif len(requests) > self.in_all:
                found.append(f"{what} failed {len(requests)} times ({codes})")
        return found


def _fastest(moments: list[float]) -> int:
    """The most moments within one second."""
    window: deque[float] = deque()
    most = 0
    for moment in sorted(moments):
        window.append(moment)
        while window[0] <= moment - 1.0:
            window.popleft()
        most = max(most, len(window))
    return most
