"""What a file is: by its first bytes, and by its name only among kinds of text that look alike.

A name that promises a format which the content is not (a PDF that is a web page of an error) is refused.
"""

import zipfile
from io import BytesIO

from detector.files.limits import MAX_UNZIPPED_BYTES, MAX_ZIP_MEMBERS, MAX_ZIP_RATIO, ZIP_RATIO_FROM_BYTES, Refused

PDF, DOCX, HTML, CSV, TEXT = "pdf", "docx", "html", "csv", "text"
PDF_HEADER_BYTES = 1024  # readers look for %PDF- that far
SNIFF_BYTES = 1024

CONTENT_TYPES = "[Content_Types].xml"
WORD_MAIN = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
MACRO_MAIN = (
    b"application/vnd.ms-word.document.macroEnabled.main+xml",
    b"application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
)

# Recognised so that the answer can name them: magic bytes -> what people call it.
_FOREIGN = (
    (b"{\\rtf", "RTF"),
    (b"\x89PNG\r\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"%!PS", "PostScript"),
    (b"\x1f\x8b", "gzip"),
    (b"Rar!", "RAR"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x7fELF", "ELF"),
    (b"MZ\x90\x00", "EXE"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_HTML_STARTS = ("<!doctype html", "<html", "<head", "<body")
_HTML_NAMES = frozenset({"html", "htm", "xhtml"})
_CSV_NAMES = frozenset({"csv", "tsv"})
_PROMISES = {"pdf": PDF, "docx": DOCX, "docm": DOCX}


def kind_of(data: bytes, extension: str) -> str:
    """One of the five kinds. extension: of the file's name, lower case, without the dot. Raises Refused."""
    if not data.strip(b"\x00\t\n\r "):
        raise Refused("file_empty")
    kind = _binary_kind(data)
    promised = _PROMISES.get(extension)
    if promised and kind != promised:
        raise Refused("file_not_as_named", format=extension)
    return kind or _text_kind(data, extension)


def checked_zip(data: bytes) -> zipfile.ZipFile:
    """The archive, none of it unpacked, once its directory promises a size that can be read. Raises Refused."""
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise Refused("file_broken") from None
    members = archive.infolist()
    if len(members) > MAX_ZIP_MEMBERS:
        raise Refused("zip_members", limit=MAX_ZIP_MEMBERS)
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNZIPPED_BYTES:
        raise Refused("zip_size", limit=MAX_UNZIPPED_BYTES)
    # Against the file's own size: what the directory says of packed sizes is the sender's word.
    if unpacked > ZIP_RATIO_FROM_BYTES and unpacked > MAX_ZIP_RATIO * len(data):
        raise Refused("zip_ratio", limit=MAX_ZIP_RATIO)
    if any(member.flag_bits & 1 for member in members):
        raise Refused("file_encrypted")
    return archive


def _binary_kind(data: bytes) -> str:
    """Of what begins like no text; empty for what may be text."""
    if b"%PDF-" in data[:PDF_HEADER_BYTES] and not data.startswith(b"PK"):
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data)
    if data.startswith(_OLE):
        raise Refused("file_encrypted" if _ENCRYPTED_OFFICE in data else "file_old_word")
    for magic, name in _FOREIGN:
        if data.startswith(magic):
            raise Refused("file_type", format=name)
    if data.startswith(b"RIFF") or data[4:8] == b"ftyp":
        raise Refused("file_type", format="media")
    return ""


def _zip_kind(data: bytes) -> str:
    with checked_zip(data) as archive:
        if CONTENT_TYPES not in archive.namelist():
            raise Refused("file_type", format="ZIP")
        try:
            types = archive.read(CONTENT_TYPES)
        except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError):
            raise Refused("file_broken") from None
    if any(macro in types for macro in MACRO_MAIN):
        raise Refused("docx_macros")
    if WORD_MAIN not in types:
        raise Refused("file_type", format="Office")
    return DOCX


def _text_kind(data: bytes, extension: str) -> str:
    if extension in _CSV_NAMES:
        return CSV
    if extension in _HTML_NAMES:
        return HTML
    start = data[:SNIFF_BYTES].replace(b"\x00", b"").decode("ascii", "ignore").lstrip().lower()
    return HTML if start.startswith(_HTML_STARTS) else TEXT
