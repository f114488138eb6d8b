"""Nothing here leaves this machine: addresses are checked before anything is sent or called."""

import ipaddress
from urllib.parse import urlsplit

HOST = "127.0.0.1"


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
