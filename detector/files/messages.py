"""Why a file cannot be read, what of it nobody sees, and what else was left out: codes -> words.

Codes never change: programs read them. Each message names the limit or the way out; none quotes a file.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from detector.files.limits import Refused

_MEBIBYTE = 1024 * 1024
FORMATS = "PDF, DOCX, TXT, MD, HTML, CSV"

MESSAGES: dict[str, Promise] = {
    "file_empty": _("There is no text in this file."),
    "file_broken": _("The file is damaged, or not what its beginning says. Open it, save it again and try once more."),
    "file_encrypted": _("The file is protected by a password. Save it without one and try again."),
    "file_old_word": _("This is the old Word format (.doc) or another old Office file. Save it as DOCX and try again."),
    "file_type": _("This is a file of type %(format)s. PDF, DOCX, TXT, MD, HTML and CSV can be read."),
    "file_not_as_named": _("The file's name ends in .%(format)s, but its content is something else."),
    "file_not_text": _("This is not a text: it holds other data. PDF, DOCX, TXT, MD, HTML and CSV can be read."),
    "bad_encoding": _("The characters of this file can't be made out. Save it as UTF-8 and try again."),
    "file_size": _("The file is larger than %(limit)d MB, which is the limit for one file."),
    "file_too_heavy": _("Reading this file takes more memory than a file may. Save it in a simpler form, or as text."),
    "file_too_slow": _("Reading this file takes longer than a file may. Save it in a simpler form, or as text."),
    "upload_too_slow": _(
        "Reading the files before this one took the %(limit)d seconds that one upload has. Send fewer."
    ),
    "too_long": _("The file has more than %(limit)d characters of text, which is the limit for one check."),
    "zip_members": _("The file packs more than %(limit)d parts, which is the limit."),
    "zip_size": _("Unpacked, the file has more than %(limit)d MB, which is the limit."),
    "zip_ratio": _("The file is packed more than %(limit)d times smaller than its content, which is the limit."),
    "pdf_pages": _("The PDF has more than %(limit)d pages, which is the limit."),
    "pdf_no_text": _("No text found in this PDF: is it a scan? Its pages hold pictures alone. We don't read pictures."),
    "pdf_unmapped": _("The fonts of this PDF don't say which letters they draw. Export it again, or paste the text."),
    "pdf_hidden_only": _(
        "The PDF has text that no reader sees (as under a scan) and no other. Paste the text instead."
    ),
    "hidden_only": _("All the text of this file is hidden from its readers, so there is nothing to check."),
    "docx_macros": _("This Word file is made to run macros (.docm). Save it as DOCX and try again."),
    "docx_entities": _("The DOCX holds a document type declaration, which the format forbids. Save it again in Word."),
    "html_nesting": _("The page nests more than %(limit)d elements inside each other, which is the limit."),
    "csv_rows": _("The table has more than %(limit)d rows, which is the limit for one file."),
    "csv_column": _("No column of texts found: the first row must name one (%(names)s), or there must be one column."),
    "csv_ragged": _("Row %(row)d has more columns than the first row. Put texts with commas in quotation marks."),
}
BYTE_LIMITS = frozenset({"file_size", "zip_size"})

HIDDEN: dict[str, Promise] = {
    "invisible": _("invisible characters"),
    "white": _("white characters on white"),
    "tiny": _("characters too small to read"),
    "outside": _("characters outside the page"),
    "vanish": _("characters formatted as hidden"),
    "deleted": _("characters deleted under tracked changes"),
    "style": _("characters hidden by the page's styles"),
}
NOTES: dict[str, Promise] = {
    "macros": _("Macros were ignored."),
    "footnotes": _("Footnotes and endnotes were left out."),
    "comments": _("Comments were left out."),
    "unmapped": _("Some characters have no known letter and were left out."),
}


def message(refused: Refused) -> Promise | str:
    """The sentence for a refusal, in the reader's language once it is shown."""
    values = dict(refused.values)
    if refused.code in BYTE_LIMITS:
        values["limit"] = int(values["limit"]) // _MEBIBYTE
    template = MESSAGES.get(refused.code, MESSAGES["file_broken"])
    return template % values if values else template
