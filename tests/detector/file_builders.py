"""Files for tests: PDFs byte by byte, DOCX by the library and by hand, archives that lie about their size."""

import hashlib
import io
import textwrap
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape

import docx

LINE_CHARACTERS = 80
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


# --- PDF --------------------------------------------------------------------------------------------------


def shown(text: str, *, before: str = "", top: int = 780, size: float = 10) -> bytes:
    """A content stream: the text on lines from the top. before: operators that come first."""
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, LINE_CHARACTERS) or [""]]
    drawn = " T* ".join(f"({_escaped(line)}) Tj" for line in lines)
    body = f"{before} BT /F1 {size} Tf 12 TL 50 {top} Td {drawn} ET"
    return body.encode("cp1252")


def pdf(
    *contents: bytes, extra: Mapping[int, bytes] | None = None, trailer: bytes = b"", compress: bool = False
) -> bytes:
    """A PDF with one page for each content stream. extra: further objects, by number from 900."""
    count = len(contents)
    kids = b" ".join(b"%d 0 R" % (10 + 2 * n) for n in range(count))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    }
    for n, content in enumerate(contents):
        objects[10 + 2 * n] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (11 + 2 * n)
        )
        packed = zlib.compress(content, 9) if compress else content
        kind = b" /Filter /FlateDecode" if compress else b""
        objects[11 + 2 * n] = b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(packed), kind, packed)
    return _assembled(objects | dict(extra or {}), trailer)


def essay_pdf(*pages: str) -> bytes:
    """A PDF that shows these texts, one a page."""
    return pdf(*(shown(page) for page in pages))


def encrypted_pdf(text: str, user_password: bytes = b"secret") -> bytes:
    """Locked by the standard handler, revision 2 (RC4, 40 bits), as its specification describes it."""
    pad = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
    number = b"0123456789abcdef"
    owner_key = hashlib.md5((b"owner" + pad)[:32], usedforsecurity=False).digest()[:5]
    owner = rc4(owner_key, (user_password + pad)[:32])
    rights = (-4).to_bytes(4, "little", signed=True)
    key = hashlib.md5((user_password + pad)[:32] + owner + rights + number, usedforsecurity=False).digest()[:5]
    user = rc4(key, pad)
    object_key = hashlib.md5(key + (11).to_bytes(3, "little") + b"\0\0", usedforsecurity=False).digest()[:10]
    content = rc4(object_key, shown(text))
    lock = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (owner.hex().encode(), user.hex().encode())
    ids = number.hex().encode()
    return pdf(content, extra={900: lock}, trailer=b" /Encrypt 900 0 R /ID [<%s> <%s>]" % (ids, ids))


def rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _assembled(objects: Mapping[int, bytes], trailer: bytes) -> bytes:
    out, places = bytearray(b"%PDF-1.4\n"), {}
    for number in sorted(objects):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number in sorted(places):
        out += b"%d 1\n%010d 00000 n \n" % (number, places[number])
    out += b"trailer << /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (max(places) + 1, trailer, start)
    return bytes(out)


# --- DOCX -------------------------------------------------------------------------------------------------


def essay_docx(*paragraphs: str) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    return saved(document)


def saved(document: docx.document.Document) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def docx_of(*paragraphs: str, prolog: str = "", **changes: bytes) -> bytes:
    """A DOCX whose paragraphs are this XML. changes: further or other members, `/` written as `__`."""
    body = "".join(f"<w:p>{paragraph}</w:p>" for paragraph in paragraphs)
    content = f'<?xml version="1.0" encoding="UTF-8"?>{prolog}<w:document {W}><w:body>{body}</w:body></w:document>'
    members = {name.replace("__", "/"): value for name, value in changes.items()}
    return changed(essay_docx("x"), {"word/document.xml": content.encode()} | members)


def changed(archive: bytes, members: Mapping[str, bytes]) -> bytes:
    """The archive with these members, in the place of any of the same name."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in members:
                new.writestr(name, old.read(name))
        for name, data in members.items():
            new.writestr(name, data)
    return out.getvalue()


def zipped(members: Iterable[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


# --- CSV --------------------------------------------------------------------------------------------------


def csv_of(*texts: str, header: str = "text") -> bytes:
    quoted = ['"' + text.replace('"', '""') + '"' for text in texts]
    return "\r\n".join([header, *quoted]).encode()
