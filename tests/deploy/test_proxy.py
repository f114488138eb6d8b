"""The Caddyfile, held against the real server: it forwards, replaces forged headers and keeps addresses quiet."""

import contextlib
import http.client
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import composed
import pytest
from running import Deployment

MIB = 1024 * 1024


class Upstream(http.server.BaseHTTPRequestHandler):
    """The web process's place: says what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        length = len(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        body = json.dumps({"length": length, "headers": dict(self.headers)}).encode()
        with contextlib.suppress(BrokenPipeError):  # the proxy has cut a flood off
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The service's own command line, in front of an upstream of ten lines."""
    made = Deployment(tmp_path_factory.mktemp("proxy"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as upstream:
        made.ports["web"] = upstream.server_port
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        try:
            made.start("proxy")
            made.wait("proxy")
            yield made
        finally:
            made.end_all()
            upstream.shutdown()


def ask(
    proxy: Deployment, path: str, port: str = "http", method: str = "GET", **how: object
) -> http.client.HTTPResponse:
    link = http.client.HTTPConnection("127.0.0.1", proxy.ports[port], timeout=30)
    link.request(method, path, **how)
    answer = link.getresponse()
    answer.body = answer.read()
    return answer


def test_it_is_valid_and_in_its_usual_form(proxy: Deployment) -> None:
    file = str(composed.ROOT / "deploy" / "Caddyfile")
    for words in (["caddy", "validate", "--config", file, "--adapter", "caddyfile"], ["caddy", "fmt", "--diff", file]):
        done = proxy.plain("proxy", words)
        assert done.returncode == 0, done.stderr
    assert not [line for line in done.stdout.splitlines() if line.startswith(("-", "+"))]


def test_it_hands_on_the_real_address_and_no_forged_one(proxy: Deployment) -> None:
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example"}
    sent = json.loads(ask(proxy, "/", headers=forged).body)["headers"]
    assert sent["X-Forwarded-For"] == "127.0.0.1"
    assert sent["X-Forwarded-Proto"] == "http"
    assert "evil.example" not in json.dumps(sent)


def test_it_takes_the_largest_upload_and_no_flood(proxy: Deployment) -> None:
    assert json.loads(ask(proxy, "/", method="POST", body=b"x" * (33 * MIB)).body)["length"] == 33 * MIB
    assert ask(proxy, "/", method="POST", body=b"x" * (73 * MIB)).status == 413


def test_its_health_check_answers_inside(proxy: Deployment) -> None:
    line = composed.services()["proxy"]["healthcheck"]["test"]
    assert line[-1] == "http://127.0.0.1:2020/healthz"
    assert ask(proxy, "/healthz", port="health").body == b"ok"


def test_it_logs_no_address_when_the_site_is_away(proxy: Deployment, tmp_path: Path) -> None:
    """The last test of the file: its upstream is a closed port from here on."""
    alone = Deployment(tmp_path)
    try:
        alone.start("proxy")
        alone.wait("proxy")
        assert ask(alone, "/s/a-link-that-is-a-secret?token=hunter2").status == 502
        said = alone.log("proxy").read_text()
        assert alone.end("proxy") == 0
    finally:
        alone.end_all()
    assert "connection refused" in said
    assert "a-link-that-is-a-secret" not in said
    assert "hunter2" not in said
