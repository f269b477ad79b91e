"""What every request has to pass, over HTTP."""

from __future__ import annotations

import http.client
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import quote

import pytest

from fourleaf.dashboard import event_stream as hubs
from fourleaf.dashboard.serve import DashboardOptions
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.dashboard.web.access import COOKIE, Proxied, Token
from fourleaf.dashboard.web.guard import MOST_BODY_BYTES
from fourleaf.dashboard.web.login import own
from tests.dashboard.conftest import SECRET
from tests.dashboard.served import Served

ASKED = "/api/v1/what-if"


@pytest.mark.parametrize("path", ["/", "/static/main.js", "/api/v1/queue", "/nowhere", "/healthz"])
def test_every_answer_carries_the_headers(served: Served, path: str) -> None:
    """No inline script or style, no frame around it, no guess at types; nothing of it is kept."""
    _, headers, _ = served.get(path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")


def test_a_page_holds_nothing_that_its_policy_forbids(served: Served) -> None:
    """No style attribute, no handler, no script without a source."""
    for path in ("/", "/queue", "/cycles", "/what-if", "/gang?namespace=ml&name=bert-large"):
        text = served.get(path)[2]
        assert " style=" not in text
        assert " onclick=" not in text
        assert "<script>" not in text


def test_other_names_for_this_machine_are_not_answered_to(served: Served) -> None:
    """A name that somebody else's DNS points here would let their page read ours."""
    assert served.get("/", Host="127.0.0.1:1")[0] == 200
    assert served.get("/", Host="localhost")[0] == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:8090", "a/b"):
        assert served.get("/", Host=host)[0] == 421


def test_another_site_cannot_ask(served: Served) -> None:
    """By what browsers say of where a request comes from; without a browser it may."""
    host = f"127.0.0.1:{served.port}"
    assert served.post(ASKED, {}, Origin="http://evil.example")[0] == 403
    assert served.post(ASKED, {}, Sec_Fetch_Site="cross-site")[0] == 403
    assert served.post(ASKED, {}, Sec_Fetch_Site="same-site")[0] == 403
    assert served.post(ASKED, {}, Origin="null")[0] == 403
    bad = {"close": ["nowhere"]}
    assert served.post(ASKED, bad, Origin=f"http://{host}")[0] == 422
    assert served.post(ASKED, bad, Sec_Fetch_Site="same-origin")[0] == 422
    assert served.post(ASKED, bad)[0] == 422


def test_a_form_of_another_site_is_no_question(served: Served) -> None:
    """Forms can send text without asking first: only JSON that says so is read."""
    code, _, text = served.post(ASKED, b'{"close": []}', content_type="text/plain")
    assert code == 422
    assert "not what is asked for" in text


def test_long_bodies_are_refused_unread(served: Served) -> None:
    """Above a MiB by their own word; and a manifest above its own limit."""
    for length, code in ((str(MOST_BODY_BYTES + 1), 413), (None, 411)):
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        connection.putrequest("POST", ASKED)
        if length is not None:
            connection.putheader("content-length", length)
        connection.endheaders()
        assert connection.getresponse().status == code
        connection.close()
    assert served.post(ASKED, {"manifest": "a" * 300_000})[0] == 422


def test_without_the_token_pages_lead_to_the_login(locked: Served) -> None:
    """And the API says 401; what is asked for comes back after the login."""
    code, headers, _ = locked.get("/gang?namespace=a&name=b", Accept="text/html")
    assert code == 303
    assert headers["location"] == "/login?next=%2Fgang%3Fnamespace%3Da%26name%3Db"
    code, headers, text = locked.get("/api/v1/queue", Accept="text/html")
    assert (code, headers["www-authenticate"]) == (401, "Bearer")
    assert "Bearer" in text
    assert locked.get("/api/v1/events")[0] == 401
    assert locked.get("/api/v1/openapi.json")[0] == 401
    assert locked.get("/login", Accept="text/html")[0] == 200


def test_the_login(locked: Served) -> None:
    """The wrong token is refused, the right one gives a session that scripts cannot read."""
    form = {"content_type": "application/x-www-form-urlencoded"}
    code, headers, text = locked.post("/login", b"token=wrong&next=/queue", **form)
    assert (code, "set-cookie" in headers) == (403, False)
    assert "Advice: ask the operator" in text
    code, headers, _ = locked.post("/login", f"token={SECRET}&next=/queue".encode(), **form)
    assert (code, headers["location"]) == (303, "/queue")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    session = cookie.split(";")[0].partition("=")[2]
    assert locked.get("/queue", Cookie=f"{COOKIE}={session}")[0] == 200
    assert locked.get("/queue", Cookie=f"{COOKIE}={session}x", Accept="text/html")[0] == 303
    assert locked.get("/api/v1/queue", Authorization=f"Bearer {SECRET}")[0] == 200


def test_news_end_with_the_token_that_opened_them(
    examples: FileSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Secret is renewed while a page listens: its stream ends instead of going on for days."""
    monkeypatch.setattr(hubs, "BEAT_SECONDS", 0.02)
    file = tmp_path / "token"
    file.write_text(SECRET)
    with Served(examples, DashboardOptions(port=0, access=Token(file))) as dashboard:
        connection = http.client.HTTPConnection("127.0.0.1", dashboard.port, timeout=30)
        connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {SECRET}"})
        news = connection.getresponse()
        assert news.readline() == b"event: hello\n"
        file.write_text(SECRET[::-1])
        assert b"event: " not in news.read()
        connection.close()


@pytest.mark.parametrize("where", ["//evil", "/\\evil", "https://evil", "evil", "", "/a\nb"])
def test_a_login_leads_to_our_own_pages_alone(where: str) -> None:
    """Whatever the link said."""
    assert own(where) == "/"
    assert own("/gang?namespace=a") == "/gang?namespace=a"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_cannot_embed_us(served: Served, site: str) -> None:
    """A picture, a frame or a fetch of theirs is refused; a link that somebody follows is not."""
    for path in ("/", "/gang?namespace=ml&name=bert-large&part=history", "/api/v1/events"):
        for mode, dest in (("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")):
            asked = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": dest}
            assert served.get(path, **asked)[0] == 403
    followed = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert served.get("/", **followed)[0] == 200


def test_nonsense_is_refused_and_breaks_nothing(served: Served, locked: Served) -> None:
    """Headers that are no URL, more fields than a form has, names that are no namespace."""
    assert served.get("/", Host="[")[0] == 421
    assert served.post(ASKED, {}, Origin="http://[")[0] == 403
    many = "&".join(f"f{number}=1" for number in range(9)).encode()
    form = "application/x-www-form-urlencoded"
    assert locked.post("/login", many, content_type=form)[0] == 403
    for space in ("kube-system/services/x/proxy", "..", "a?b", "A"):
        path = f"/api/v1/gang/history?namespace={quote(space, safe='')}&name=x"
        assert served.get(path)[0] == 422


def test_nobody_knows_a_gang_that_is_not_there(served: Served) -> None:
    """Its history is not asked for either."""
    assert served.get("/api/v1/gang/history?namespace=ml&name=nobody")[0] == 404


def test_cookies_of_others_hide_nothing(locked: Served) -> None:
    """Ports of one host share cookies, and some of them are malformed."""
    form = f"token={SECRET}".encode()
    said = locked.post("/login", form, content_type="application/x-www-form-urlencoded")[1]
    session = said["set-cookie"].split(";")[0].partition("=")[2]
    assert locked.get("/", Cookie=f'prefs={{"a":1}}; a=b c; {COOKIE}={session}')[0] == 200


def test_a_proxy_on_this_machine_is_believed_for_its_site_alone(examples: FileSource) -> None:
    """A page whose name somebody made to lead here cannot name a user itself."""
    access = Proxied("X-User", [ip_network("127.0.0.0/8")])
    options = DashboardOptions(port=0, access=access, names=("gpus.example",))
    with Served(examples, options) as dashboard:
        user = {"X_User": "mallory"}
        assert dashboard.get("/", Host="evil.example", **user)[0] == 421
        assert dashboard.get("/", Host="gpus.example", **user)[0] == 200
        assert dashboard.get("/", Host="gpus.example")[0] == 401


def test_an_address_of_this_machine_answers_to_itself() -> None:
    """All of 127.0.0.0/8 is this machine."""
    assert "127.0.0.2" in (DashboardOptions(host="127.0.0.2").answers_to or ())


def test_a_header_that_stands_twice_is_neither(served: Served) -> None:
    """The first of two hosts would do; both together are no name of ours."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    connection.putrequest("GET", "/", skip_host=True)
    connection.putheader("Host", "localhost")
    connection.putheader("Host", "evil.example")
    connection.endheaders()
    assert connection.getresponse().status in (400, 421)
    connection.close()


def test_a_proxys_header_that_stands_twice_names_no_user(examples: FileSource) -> None:
    """What a client added beside the proxy's own is no user, and neither is the proxy's."""
    access = Proxied("X-User", [ip_network("127.0.0.0/8")])
    with Served(examples, DashboardOptions(port=0, access=access)) as dashboard:
        connection = http.client.HTTPConnection("127.0.0.1", dashboard.port, timeout=10)
        connection.putrequest("GET", "/")
        connection.putheader("X-User", "admin")
        connection.putheader("X-User", "guest")
        connection.endheaders()
        assert connection.getresponse().status == 401
        connection.close()
