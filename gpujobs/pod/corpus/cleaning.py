"""Paragraphs as the corpora have them: one line, contact details masked, prose only. Pure.

    tidy()       white space, soft hyphens, note marks
    mask()       e-mail addresses, URLs and phone numbers -> [email], [url], [phone]
    is_prose()   whether the product's own reading rules keep nearly all of it

Imports: gpujobs.pod.shared.
"""

import html
import re

from gpujobs.pod.shared.prose import count_words, read

MIN_KEPT_SHARE = 0.9  # of a paragraph's words, by the rules that the product reads texts with
MIN_PARAGRAPH_WORDS = 6

_EMAIL = re.compile(r"<?\b[\w.+\-]+(?:@|\s?\[at\]\s?|\(at\))[\w\-]+(?:\.[\w\-]+)+\b>?")
_URL = re.compile(
    r"<?(?:URL:)?\b(?:(?:https?|ftp|git|svn|news|gopher)://|www\.)[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]>?", re.IGNORECASE
)
_PHONE = re.compile(r"(?<![\w.\-/])(?:\+|\()?\d[\d()\-./ ]{7,17}\d(?![\w.\-/])")
_NOTE_MARK = re.compile(r"(?<=[\w.,;:!?)\"'])\s?\[\d{1,3}\]")
_SPACE_BEFORE = re.compile(r"(?<=\w) +(?=[,.;:!?](?:\s|$))")
_MIN_PHONE_DIGITS = 9
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def tidy(paragraph: str) -> str:
    """One line with single spaces, without note marks, soft hyphens and invisible characters."""
    text = " ".join(html.unescape(paragraph).translate(_INVISIBLE).split())
    return _SPACE_BEFORE.sub("", _NOTE_MARK.sub("", text))


def mask(text: str) -> str:
    """The text without contact details."""
    text = _URL.sub("[url]", _EMAIL.sub("[email]", text))
    return _PHONE.sub(lambda found: "[phone]" if _is_phone(found.group()) else found.group(), text)


def _is_phone(candidate: str) -> bool:
    digits = sum(map(str.isdigit, candidate))
    years = re.fullmatch(r"\(?\d{4}[\-/. ]+\d{4}\)?|\d{4}-\d\d?-\d\d?", candidate)
    return digits >= _MIN_PHONE_DIGITS and not years


def is_prose(paragraph: str) -> bool:
    """Whether a tidy paragraph is running text: long enough to be a sentence, and kept by the reading rules."""
    words = count_words(paragraph)
    return words >= MIN_PARAGRAPH_WORDS and read(paragraph).words >= MIN_KEPT_SHARE * words
