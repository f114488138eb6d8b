"""Files that attack whoever reads them, and documents that run or hide things."""

import io
import zipfile
import zlib

import file_builders as build

MEGABYTE = 1024 * 1024
LAUGHS = (
    "<!DOCTYPE d [<!ENTITY a '" + "ha" * 50 + "'>" + "".join(f"<!ENTITY b{n} '&a;&a;&a;'>" for n in range(9)) + "]>"
)


def macro_document() -> bytes:
    """What Word calls .docm: its main part has another type."""
    plain = build.essay_docx("x")
    with zipfile.ZipFile(io.BytesIO(plain)) as archive:
        types = archive.read("[Content_Types].xml")
    main = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return build.changed(
        plain,
        {"[Content_Types].xml": types.replace(main, b"application/vnd.ms-word.document.macroEnabled.main+xml")},
    )


def encrypted_zip() -> bytes:
    """The flag of an encrypted member, in both of the places where it stands."""
    plain = build.essay_docx("x")
    return plain.replace(b"PK\x03\x04\x14\x00\x00\x00", b"PK\x03\x04\x14\x00\x01\x00").replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"
    )


def zeros(megabytes: int) -> bytes:
    """So many megabytes of spaces, deflated."""
    packer, piece = zlib.compressobj(9), b" " * MEGABYTE
    return b"".join([*(packer.compress(piece) for _ in range(megabytes)), packer.flush()])


def pdf_bomb() -> bytes:
    """One page whose content unpacks to a gigabyte."""
    packed = zeros(1_000)
    stream = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)
    return build.pdf(b"", extra={11: stream})
