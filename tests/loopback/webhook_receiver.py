"""A receiver of webhooks: a real HTTP(S) server on loopback that keeps what it got and answers as it is told."""

import datetime as dt
import ipaddress
import ssl
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "127.0.0.1"
MOST = 1_000  # requests kept


@dataclass(frozen=True)
class Got:
    """One request. headers: names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def webhook_id(self) -> str:
        return self.headers["webhook-id"]


@dataclass
class Says:
    """One answer. seconds: how long it takes to make up its mind.  drip: seconds between the bytes of the answer."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0
    drip: float = 0.0


class Receiver:
    """script: what it answers in turn; afterwards `default`."""

    def __init__(self, server: ThreadingHTTPServer, scheme: str) -> None:
        self.server = server
        self.port: int = server.server_address[1]
        self.url = f"{scheme}://{HOST}:{self.port}/hooks?from=inkcloak"
        self.got: deque[Got] = deque(maxlen=MOST)
        self.script: deque[Says] = deque()
        self.default = Says()
        self.names: list[str | None] = []  # that callers asked for in their TLS greeting
        self.stop = threading.Event()

    def says(self, *statuses: int) -> None:
        self.script.extend(Says(status) for status in statuses)


class _Handler(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self) -> None:
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = receiver.script.popleft() if receiver.script else receiver.default
        receiver.got.append(Got(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if answer.seconds:
            receiver.stop.wait(answer.seconds)
        lines = [f"HTTP/1.1 {answer.status} Said", *(f"{name}: {value}" for name, value in answer.headers.items())]
        if "Content-Length" not in answer.headers:
            lines.append(f"Content-Length: {len(answer.body)}")
        self._write("\r\n".join([*lines, "Connection: close", "", ""]).encode() + answer.body, answer.drip)

    def _write(self, content: bytes, drip: float) -> None:
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        try:
            if not drip:
                self.wfile.write(content)
                return
            for place in range(len(content)):
                if receiver.stop.wait(drip):
                    return
                self.wfile.write(content[place : place + 1])
                self.wfile.flush()
        except OSError:
            self.close_connection = True  # the caller has hung up

    do_GET = do_POST  # a followed redirect would arrive as one

    def log_message(self, *_args: Any) -> None:
        """Quiet."""


@contextmanager
def receiver(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A running receiver; over TLS with `context`."""
    server = ThreadingHTTPServer((HOST, 0), _Handler)
    server.daemon_threads = True
    made = Receiver(server, "https" if context else "http")
    server.receiver = made  # type: ignore[attr-defined]
    if context is not None:
        context.sni_callback = lambda _socket, name, _context: made.names.append(name)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.stop.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a certificate for `name`, and a caller's that trusts it and nothing else."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.fromtimestamp(time.time(), dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([_general_name(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    own, secret = folder / "certificate.pem", folder / "key.pem"
    own.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(own, secret)
    return server, ssl.create_default_context(cafile=str(own))


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
