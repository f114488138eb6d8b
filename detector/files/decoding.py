"""Bytes -> text: a byte order mark, UTF-8, what a web page says of itself, else what charset-normalizer deems likely.

Line ends become LF, as in a text box.
"""

import codecs
import re
import unicodedata

from charset_normalizer import from_bytes
from charset_normalizer.models import CharsetMatch

from detector.files.limits import Refused

# Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What people's editors wrote before UTF-8; where two fit equally well, the first is likelier.
_WIDE = ("utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be")
_NARROW = (
    "cp1252", "mac_roman", "cp850", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr",
)  # fmt: skip
_BY_HTML = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{2,40})", re.IGNORECASE)
_HTML_HEAD_BYTES = 2048
_SURE_MESS = 0.001  # a difference in charset-normalizer's "chaos" that says nothing
_MAX_CONTROLS = 0.02  # share of characters
_MAX_NULS = 0.01  # a few are a slip of some program; where every second one is, it is UTF-16
_LINE_ENDS = re.compile(r"\r\n?")
_PLAIN_CONTROLS = "\t\n\r\f\v\x1a"


def decode(data: bytes, *, html: bool = False) -> tuple[str, str]:
    """(text, encoding); the encoding is empty where nothing was guessed. Raises Refused for what is no text."""
    text, encoding = _decode(data, html=html)
    if _is_noise(text):
        raise Refused("file_not_text")
    return _LINE_ENDS.sub("\n", text), encoding


def _decode(data: bytes, *, html: bool) -> tuple[str, str]:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return _strictly(data, codec), ""
    for codec in ("utf-8", *_said(data, html)):
        try:
            text = data.decode(codec)
        except (UnicodeDecodeError, LookupError):
            continue
        if text.count("\x00") <= _MAX_NULS * len(text):
            return text, ""
    return _guess(data)


def _strictly(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        raise Refused("bad_encoding") from None


def _said(data: bytes, html: bool) -> list[str]:
    """The codec that a web page names; ISO 8859-1 means Windows-1252 there, as in every browser."""
    named = _BY_HTML.search(data[:_HTML_HEAD_BYTES]) if html else None
    if named is None:
        return []
    name = named[1].decode("ascii").lower()
    if name in ("iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"):
        return ["cp1252"]
    try:
        info = codecs.lookup(name)
    except LookupError:
        return []
    return [info.name] if getattr(info, "_is_text_encoding", True) else []


def _guess(data: bytes) -> tuple[str, str]:
    candidates = list(_WIDE if b"\x00" in data else _NARROW)
    matches = list(from_bytes(data, cp_isolation=candidates, enable_fallback=False))
    if not matches:
        raise Refused("file_not_text" if b"\x00" in data else "bad_encoding")
    least = min(match.chaos for match in matches)
    likely = [match for match in matches if match.chaos <= least + _SURE_MESS]

    def rank(match: CharsetMatch) -> tuple[float, int]:
        known = [candidates.index(name) for name in match.could_be_from_charset if name in candidates]
        return -round(match.coherence, 1), min(known, default=len(candidates))

    best = min(likely, key=rank)
    names = sorted((n for n in best.could_be_from_charset if n in candidates), key=candidates.index)
    encoding = names[0] if names else best.encoding
    return data.decode(encoding), encoding


def _is_noise(text: str) -> bool:
    """Whether it is data that happens to decode."""
    if not text:
        return False
    controls = sum(unicodedata.category(c) == "Cc" and c not in _PLAIN_CONTROLS for c in text[:200_000])
    return controls > _MAX_CONTROLS * min(len(text), 200_000) and controls > 4
