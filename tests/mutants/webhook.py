"""The safeguards of the webhook."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

SELF_SIGNED = "tests/webhook/tls/test_self_signed.py"
PODS = "tests/webhook/validate/test_pods.py"

PAGES = "tests/k8s_bridge/runtime/http/test_pages.py"
GUARD = "tests/dashboard/web/test_doors.py"

WEBHOOK = (
    Mutant(
        "servers: who holds most makes room",
        "half-sent requests of one client keep probes and the API server out",
        "k8s_bridge/runtime/http/crowding.py",
        "default=None)\n",
        "default=None) if share[''] else None\n",
        f"{PAGES}::test_half_sent_heads_keep_no_probe_waiting",
    ),
    Mutant(
        "servers: a client that takes nothing",
        "answers that are never read fill the memory of the dashboard",
        "k8s_bridge/runtime/http/bounded_protocol.py",
        "        _end_if_unread(transport, self._limits.unread)\n",
        "",
        f"{PAGES}::test_a_client_that_takes_nothing_is_left",
    ),
    Mutant(
        "dashboard: a header that stands twice",
        "a client names a user beside the one that the proxy names",
        "dashboard/web/guard.py",
        'if name == "cookie" else ""',
        'if name == "cookie" else f"{headers[name]}, {text}"',
        f"{GUARD}::test_a_proxys_header_that_stands_twice_names_no_user",
    ),
    Mutant(
        "webhook: trust before use",
        "a replica shows a certificate whose authority the API server has not heard of",
        "webhook/tls/authority_state.py",
        "if not in_place or now - state.since < lives.settle:",
        "if now - state.since < lives.settle:",
        f"{SELF_SIGNED}::test_nobody_shows_what_was_announced_in_vain",
    ),
    Mutant(
        "webhook: generation of the bundle",
        "a replica that was asleep takes an authority back that others are about to use",
        "webhook/tls/bundles.py",
        "if _generation(body) > generation:",
        "if _generation(body) > generation and not bundle:",
        f"{SELF_SIGNED}::test_who_was_asleep_takes_nothing_back",
    ),
    Mutant(
        "webhook: overlap of authorities",
        "an authority is dropped while replicas still show what it issued",
        "webhook/tls/authority_state.py",
        "if now - state.since < lives.overlap:",
        "if now < state.since:",
        f"{SELF_SIGNED}::test_trust_never_breaks",
    ),
    Mutant(
        "webhook: the last good certificate",
        "a broken certificate takes the place of the one that works",
        "webhook/tls/certificate.py",
        "            self.refuse(str(broken))\n            return False\n",
        "            self._now = new_context()\n            self.refuse(str(broken))\n"
        "            return False\n",
        "tests/webhook/tls/test_certificate.py::test_a_broken_one_keeps_the_old_one_and_is_counted",
    ),
    Mutant(
        "webhook: the scheduler's annotations",
        "a tenant takes back, or makes up, which devices a pod has",
        "webhook/validate/ownership.py",
        "            if key.startswith(PREFIX):\n",
        "            if key.startswith(PREFIX) and value is not None:\n",
        "tests/webhook/validate/test_ownership.py::test_set_changed_and_removed",
    ),
    Mutant(
        "webhook: a variable that is missing",
        "a pod that passed the mutation by sees all devices of its node",
        "webhook/validate/variables.py",
        "    told = not subject.settings.tells_devices\n",
        "    told = True\n",
        f"{PODS}::test_a_missing_variable_is_refused",
    ),
    Mutant(
        "webhook: every kind of container",
        "an init container chooses its devices",
        "webhook/containers.py",
        'KINDS = ("containers", "initContainers", "ephemeralContainers")',
        'KINDS = ("containers", "ephemeralContainers")',
        f"{PODS}::test_no_container_chooses_its_devices",
    ),
    Mutant(
        "webhook: the time of a request",
        "a client that sends nothing holds its connection for ever",
        "k8s_bridge/runtime/http/bounded_protocol.py",
        "        super().connection_made(transport)\n        self._arm()\n",
        "        super().connection_made(transport)\n",
        "tests/webhook/http/test_bad_clients.py::test_bad_manners",
    ),
    Mutant(
        "webhook: how many handshakes are under way",
        "connections that never say a word take every file that the webhook may open",
        "k8s_bridge/runtime/http/tls_server.py",
        "        if len(self.handshakes) >= self._limits.connections:\n",
        "        if False:\n",
        "tests/webhook/http/test_bad_clients.py::test_handshakes_that_never_end_are_few",
    ),
    Mutant(
        "check service: the time of a request",
        "clients that send a byte now and then keep probes out, and the pod is started anew",
        "agent/check_service.py",
        "asyncio.timeout(REQUEST_SECONDS)",
        "asyncio.timeout(None)",
        "tests/agent/test_check_service_clients.py::test_a_client_that_goes_on_sending_is_cut_off",
    ),
    Mutant(
        "check service: who holds most makes room",
        "one client keeps the probes of the node out",
        "agent/check_service.py",
        "key=lambda one: share[self._held[one]])",
        "key=lambda one: 0)",
        "tests/agent/test_check_service_clients.py::test_who_holds_most_makes_room",
    ),
    Mutant(
        "webhook: the end of a body",
        "a body without an announced length is read until the memory is full",
        "webhook/http/body.py",
        "                if size > self._limits.body:\n",
        "                if size < 0:\n",
        "tests/webhook/http/test_bad_clients.py::test_bad_manners",
    ),
    Mutant(
        "webhook: who is held up",
        "a webhook that is down holds up the system's own pods",
        "webhook/configurations.py",
        '        {"key": NAMESPACE_NAME, "operator": "NotIn", "values": spared},\n',
        '        {"key": NAMESPACE_NAME, "operator": "NotIn", "values": spared[:0]},\n',
        "tests/webhook/test_configurations.py::test_only_who_opted_in_is_held_up",
    ),
)
