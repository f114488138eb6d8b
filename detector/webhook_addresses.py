"""Where a webhook may go: https to public addresses, and never into a network of ours.

    parse()     an address as text -> Target, by its form alone
    resolve()   its host -> the addresses to connect to, each of them public

Whoever sends connects to what resolve() gave and asks no name server again: a name that answers differently the second
time (DNS rebinding) gains nothing. Hosts in WEBHOOK_ALLOWED_HOSTS are exempt: a receiver on loopback, in development.
"""

import ipaddress
import re
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from detector.models.webhook import MAX_URL_CHARACTERS
from inkcloak.errors import Invalid

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], list[str]]

RESOLVE_SECONDS = 5.0
# Other ports would let anybody have us knock at doors that are no web servers'.
PORTS = (443, 8443)
DEFAULT_PORTS = {"https": 443, "http": 80}
VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*")

PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # an IPv4 address in its last 32 bits (RFC 6052)
# Beyond what `is_global` says: it differs between releases of Python, and calls multicast global.
CLOSED = [
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' own
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host agent, at a public address
        "169.254.0.0/16",  # link-local: the metadata of clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "2001::/23",  # Teredo, ORCHID and other special purposes
        "2001:db8::/32",
        "2002::/16",  # 6to4: leads to whatever IPv4 address is inside
        "2620:4f:8000::/48",
        "3fff::/20",
    )
]

# Name servers may hang: so many questions at a time, and never a thread of a request.
_askers = ThreadPoolExecutor(max_workers=8, thread_name_prefix="webhook-names")


class Refused(Exception):
    """No connection may be made. code: unresolvable, address_refused."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Target:
    """A webhook's address in its parts. path: with the query, never empty.  allowed: WEBHOOK_ALLOWED_HOSTS names it."""

    scheme: str
    host: str
    port: int
    path: str
    allowed: bool

    @property
    def authority(self) -> str:
        """What the Host header says."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == DEFAULT_PORTS[self.scheme] else f"{name}:{self.port}"


def parse(url: str) -> Target:
    """Raises Invalid for what is no address that we would send to. Nothing is looked up."""
    if len(url) > MAX_URL_CHARACTERS:
        raise _bad(_("The address may have at most %(limit)d characters.") % {"limit": MAX_URL_CHARACTERS})
    # Backslashes and control characters are read differently by different programs.
    if not VISIBLE_ASCII.fullmatch(url) or "\\" in url:
        raise _bad(_("The address must be plain ASCII without spaces (names of other scripts as xn--…)."))
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise _bad(_("This is no address of the form https://host/path.")) from None
    if parts.scheme not in DEFAULT_PORTS or not (HOST.fullmatch(host) or _as_address(host)):
        raise _bad(_("This is no address of the form https://host/path."))
    if "@" in parts.netloc:
        raise _bad(_("The address must hold no user name or password: check the signature instead."))
    if "#" in url:
        raise _bad(_("The address must have no part after #: it would never be sent."))
    allowed = host in settings.WEBHOOK_ALLOWED_HOSTS
    if parts.scheme != "https" and not allowed:
        raise Invalid("webhook_not_https", _("Webhooks go to https addresses only."))
    port = DEFAULT_PORTS[parts.scheme] if port is None else port
    if port not in PORTS and not allowed:
        raise _bad(_("The port must be 443 or 8443."))
    return Target(parts.scheme, host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), allowed)


def resolve(target: Target, *, ask: Resolver | None = None) -> list[str]:
    """The addresses to connect to, IPv4 first. Raises Refused unless there are some and every one is public.

    Every one: of a name with a public and a private address nobody knows which one is meant.
    """
    found = [address for address in map(_as_address, (ask or ask_name_server)(target.host, target.port)) if address]
    if not found:
        raise Refused("unresolvable")
    if not target.allowed and not all(map(is_public, found)):
        raise Refused("address_refused")
    return [str(address) for address in sorted(dict.fromkeys(found), key=lambda address: address.version)]


def check(url: str, *, ask: Resolver | None = None) -> Target:
    """parse() and resolve(), for whoever hands in an address. Raises Invalid."""
    target = parse(url)
    try:
        resolve(target, ask=ask)
    except Refused as error:
        if error.code == "unresolvable":
            raise Invalid("webhook_unresolvable", _("The host of this address is not known to us.")) from None
        message = _("This address leads into a private or reserved network; webhooks go to public addresses only.")
        raise Invalid("webhook_address_refused", message) from None
    return target


def is_public(address: Address) -> bool:
    """Whether anybody on the internet would reach the same machine by this address."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or _behind_nat64(address)
        if inner is not None:
            return is_public(inner)
        if address not in PUBLIC_IPV6:
            return False
    if any(address.version == network.version and address in network for network in CLOSED):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def ask_name_server(host: str, port: int) -> list[str]:
    """What the machine's resolver says within RESOLVE_SECONDS; nothing when it knows no such host."""
    asking = _askers.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        return [str(entry[4][0]) for entry in asking.result(RESOLVE_SECONDS)]
    except (OSError, UnicodeError, TooSlow):
        asking.cancel()
        return []


def _behind_nat64(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in NAT64 else None


def _as_address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _bad(message: str | Promise) -> Invalid:
    return Invalid("webhook_bad_url", message)
