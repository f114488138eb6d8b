"""Where webhooks may go: https, public addresses, nothing else; whatever the name server says, and however often."""

import ipaddress
import itertools

import pytest

from detector import webhook_addresses as addresses
from detector.webhook_addresses import Refused
from inkcloak.errors import Invalid

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    ("url", "authority", "port", "path"),
    [
        ("https://hooks.example.com", "hooks.example.com", 443, "/"),
        ("https://Hooks.Example.com/a/b?c=d", "hooks.example.com", 443, "/a/b?c=d"),
        ("https://hooks.example.com:8443/a", "hooks.example.com:8443", 8443, "/a"),
        ("https://93.184.215.14/a", "93.184.215.14", 443, "/a"),
        ("https://[2606:4700::1111]/a", "[2606:4700::1111]", 443, "/a"),
        ("https://xn--bcher-kva.example/?", "xn--bcher-kva.example", 443, "/"),
    ],
)
def test_it_takes_an_address_apart(url: str, authority: str, port: int, path: str) -> None:
    target = addresses.parse(url)
    assert (target.authority, target.port, target.path, target.allowed) == (authority, port, path, False)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://hooks.example.com/", "webhook_not_https"),
        ("ftp://hooks.example.com/", "webhook_bad_url"),
        ("//hooks.example.com/", "webhook_bad_url"),
        ("hooks.example.com", "webhook_bad_url"),
        ("https://", "webhook_bad_url"),
        ("https:///path", "webhook_bad_url"),
        ("https://user@hooks.example.com/", "webhook_bad_url"),
        ("https://user:word@hooks.example.com/", "webhook_bad_url"),
        ("https://@hooks.example.com/", "webhook_bad_url"),
        ("https://hooks.example.com/#part", "webhook_bad_url"),
        ("https://hooks.example.com:22/", "webhook_bad_url"),
        ("https://hooks.example.com:80/", "webhook_bad_url"),
        ("https://hooks.example.com:0/", "webhook_bad_url"),
        ("https://hooks.example.com:99999/", "webhook_bad_url"),
        ("https://hooks.example.com:http/", "webhook_bad_url"),
        ("https://hooks.example.com\\@10.0.0.1/", "webhook_bad_url"),
        ("https://hooks.example.com/a b", "webhook_bad_url"),
        ("https://hooks.example.com/\r\nHost: x", "webhook_bad_url"),
        ("https://hooks.exa\tmple.com/", "webhook_bad_url"),
        ("https://hööks.example.com/", "webhook_bad_url"),
        ("https://ｅxample.com/", "webhook_bad_url"),
        ("https://[::1/", "webhook_bad_url"),
        ("https://hooks..example.com/", "webhook_bad_url"),
        ("https://hooks.example.com./", "webhook_bad_url"),
        ("https://" + "a" * 64 + ".example/", "webhook_bad_url"),
        ("https://hooks.example.com/" + "a" * 2048, "webhook_bad_url"),
        ("", "webhook_bad_url"),
    ],
)
def test_it_refuses_by_the_form_alone(url: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        addresses.parse(url)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1",  # noqa: S104
        "172.31.255.255",
        "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16",
        "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
        "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378::1",
        "2001:db8::1", "2002:7f00:1::", "2002:5db8:d70e::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254",
        "fe80::1", "fec0::1", "ff02::1", "ff0e::1", "4000::1",
    ],
)  # fmt: skip
def test_it_knows_what_is_not_public(address: str) -> None:
    assert not addresses.is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [PUBLIC, "1.1.1.1", "172.32.0.1", "192.0.1.1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e", "2606:4700::1111"],
)
def test_it_knows_what_is_public(address: str) -> None:
    assert addresses.is_public(ipaddress.ip_address(address))


def resolved(*found: str, url: str = "https://hooks.example.com/") -> list[str]:
    return addresses.resolve(addresses.parse(url), ask=lambda _host, _port: list(found))


def test_it_gives_each_public_address_once_ipv4_first() -> None:
    assert resolved("2606:4700::1111", PUBLIC, "1.1.1.1", PUBLIC) == [PUBLIC, "1.1.1.1", "2606:4700::1111"]


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ([], "unresolvable"),
        (["127.0.0.1"], "address_refused"),
        ([PUBLIC, "10.0.0.1"], "address_refused"),
        ([PUBLIC, "fd00::1"], "address_refused"),
        (["fe80::1%eth0"], "address_refused"),
    ],
)
def test_it_refuses_a_name_with_any_address_inside(found: list[str], code: str) -> None:
    with pytest.raises(Refused) as refused:
        resolved(*found)
    assert refused.value.code == code


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost", "[::1]", "127.0.0.1"])
def test_it_refuses_loopback_in_every_spelling_by_the_real_resolver(host: str) -> None:
    with pytest.raises(Invalid) as refused:
        addresses.check(f"https://{host}/")
    assert refused.value.code in ("webhook_address_refused", "webhook_unresolvable", "webhook_bad_url")


def test_it_tells_a_private_name_from_one_that_does_not_exist() -> None:
    with pytest.raises(Invalid) as private:
        addresses.check("https://hooks.example.com/", ask=lambda _host, _port: ["192.168.0.1"])
    with pytest.raises(Invalid) as unknown:
        addresses.check("https://hooks.example.com/", ask=lambda _host, _port: [])
    assert (private.value.code, unknown.value.code) == ("webhook_address_refused", "webhook_unresolvable")


def test_a_name_that_changes_its_mind_is_looked_at_each_time() -> None:
    answers = itertools.cycle([[PUBLIC], ["127.0.0.1"]])
    target = addresses.check("https://hooks.example.com/", ask=lambda _host, _port: next(answers))
    with pytest.raises(Refused):
        addresses.resolve(target, ask=lambda _host, _port: next(answers))


def test_hosts_of_the_development_setting_are_exempt_and_no_others(settings) -> None:
    settings.WEBHOOK_ALLOWED_HOSTS = ["127.0.0.1"]
    target = addresses.check("http://127.0.0.1:9000/hooks")
    assert (target.scheme, target.authority, target.allowed) == ("http", "127.0.0.1:9000", True)
    for other in ("http://127.0.0.2:9000/", "http://localhost:9000/", "http://127.0.0.1.example.com/"):
        with pytest.raises(Invalid):
            addresses.parse(other)
