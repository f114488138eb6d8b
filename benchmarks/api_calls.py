"""A client that costs little beside what it measures: requests are bytes made before, over connections that stay open.

Connection(port).send(get("/x")) -> Answer       one after the other
rate(port, requests, connections)                requests a second, so many at a time
"""

import json
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

HOST = "127.0.0.1"
PATIENCE_SECONDS = 60.0
PIECE_BYTES = 256 * 1024
END, LENGTH, LAST_CHUNK = b"\r\n\r\n", b"content-length:", b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def get(path: str, token: str = "") -> bytes:
    return _request("GET", path, token, b"")


def post(path: str, token: str, body: dict[str, Any]) -> bytes:
    """Waits for no verdict."""
    return _request("POST", path, token, json.dumps(body).encode())


def _request(method: str, path: str, token: str, body: bytes) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", "Accept: application/json"]
    if token:
        lines += [f"Authorization: Bearer {token}"]
    if body:
        lines += ["Prefer: wait=0", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Connection:
    """One that stays open. The body of an answer that comes in chunks is left as it came."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port), timeout=PATIENCE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> Answer:
        self._socket.sendall(request)
        received = b""
        while (end := received.find(END)) < 0:
            received += self._piece()
        head, pieces = received[:end].lower(), [received[end + len(END) :]]
        if (at := head.find(LENGTH)) < 0:  # in chunks: Django's own middleware would have said the length
            while not pieces[-1].endswith(LAST_CHUNK):
                pieces.append(self._piece())
        else:
            missing = int(head[at + len(LENGTH) :].split(b"\r\n", 1)[0]) - len(pieces[0])
            while missing > 0:
                pieces.append(self._piece())
                missing -= len(pieces[-1])
        return Answer(int(head[len("http/1.1 ") :][:3]), b"".join(pieces))

    def _piece(self) -> bytes:
        piece = self._socket.recv(PIECE_BYTES)
        if not piece:
            raise ConnectionError("the server hung up")
        return piece

    def timed(self, request: bytes, expected: int = 200) -> float:
        """Seconds. Raises AssertionError for another status."""
        began = time.perf_counter()
        answer = self.send(request)
        taken = time.perf_counter() - began
        assert answer.status == expected, (answer.status, answer.body[:300])
        return taken

    def close(self) -> None:
        self._socket.close()


def rate(port: int, requests: Sequence[bytes], connections: int, expected: int = 200) -> float:
    """Requests a second, `connections` of them at a time. Raises what went wrong with any."""
    problems: list[Exception] = []
    shares = [requests[at::connections] for at in range(connections)]
    threads = [threading.Thread(target=_share, args=(port, share, expected, problems)) for share in shares]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - began
    if problems:
        raise problems[0]
    return len(requests) / taken


def _share(port: int, requests: Sequence[bytes], expected: int, problems: list[Exception]) -> None:
    try:
        connection = Connection(port)
        for request in requests:
            connection.timed(request, expected)
        connection.close()
    except Exception as problem:  # noqa: BLE001 - raised again by whoever waits
        problems.append(problem)
