"""Loopback ports: which are free, and who holds one that is not."""

import random
import socket
from collections.abc import Iterator
from pathlib import Path

LISTEN = "0A"  # state column of /proc/net/tcp
# Below the kernel's ephemeral range: a client that keeps knocking at a dead server's port in that range may
# be given the same port as its own source, connect to itself, and keep the server from binding it again.
SERVICE_PORTS = range(20_000, 32_000)


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could bind it now (a closed connection's TIME_WAIT does not count)."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(preferred: int | None = None) -> int:
    """`preferred` if it is free, else any free one of SERVICE_PORTS."""
    if preferred and is_free(preferred):
        return preferred
    for port in random.sample(SERVICE_PORTS, 200):
        if is_free(port):
            return port
    raise OSError("no free port on the loopback interface")


def next_free(port: int) -> int:
    """The first free port after `port`, for a suggestion."""
    return next((other for other in range(port + 1, port + 100) if is_free(other)), free_port())


def holder(port: int) -> str | None:
    """Who listens there, as "name (process 123)"; None where the kernel does not tell us (another user's)."""
    inodes = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    for fd in Path("/proc").glob("[0-9]*/fd/*") if inodes else ():
        try:
            if str(fd.readlink()) in inodes:
                process = fd.parents[1]
                return f"{(process / 'comm').read_text().strip()} (process {process.name})"
        except OSError:
            continue  # gone, or not ours to look at
    return None


def _listening_inodes(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            columns = row.split()
            if columns[3] == LISTEN and int(columns[1].rsplit(":", 1)[1], 16) == port:
                yield columns[9]
