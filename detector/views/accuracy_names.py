"""Names of what a stored report measures, as people read them: groups, lengths, genres, attacks, writers. Pure.

Names come from the evaluation (gpujobs.pod); one that this page doesn't know yet is shown as the report spells it.
"""

import re

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from detector.views import story
from detector.views.story import ENDLESS_WORDS, Words

NEW, KNOWN = "out-of-domain", "in-domain"
DOMAINS: dict[str, Words] = {NEW: gettext_lazy("new sources"), KNOWN: gettext_lazy("known sources")}
TOO_SHORT = "under 50"
GENRES: dict[str, Words] = {
    "essay": gettext_lazy("essays"),
    "fiction": gettext_lazy("fiction"),
    "news": gettext_lazy("news"),
    "review": gettext_lazy("reviews"),
    "formal": gettext_lazy("law, government, business"),
    "science": gettext_lazy("science"),
    "technical": gettext_lazy("manuals and documentation"),
    "personal": gettext_lazy("letters, e-mail, diaries"),
    "spoken": gettext_lazy("transcripts of speech"),
    "web": gettext_lazy("blogs and web pages"),
    "other": gettext_lazy("other"),
}
ATTACKS: dict[str, Words] = {
    "none": gettext_lazy("as the model wrote it"),
    "alternative_spelling": gettext_lazy("British and American spelling exchanged"),
    "article_deletion": gettext_lazy("half of the articles deleted"),
    "homoglyph": gettext_lazy("look-alike letters"),
    "misspelling": gettext_lazy("misspelt words"),
    "number_swap": gettext_lazy("digits changed"),
    "paragraph_insertion": gettext_lazy("extra paragraphs"),
    "upper_lower": gettext_lazy("capitals swapped"),
    "whitespace": gettext_lazy("extra spaces"),
    "zero_width": gettext_lazy("invisible characters"),
    "lower_case": gettext_lazy("all in small letters"),
    "bom_and_controls": gettext_lazy("invisible marks"),
    "dashes": gettext_lazy("dashes and hyphens changed"),
    "hard_wrap": gettext_lazy("wrapped lines"),
    "ligatures": gettext_lazy("ligatures from PDFs"),
    "line_end_hyphenation": gettext_lazy("words divided at line ends"),
    "markdown": gettext_lazy("Markdown marks"),
    "nbsp": gettext_lazy("non-breaking spaces"),
    "paragraph_merge": gettext_lazy("paragraphs merged"),
    "punctuation_spacing": gettext_lazy("spaces around punctuation"),
    "smart_quotes": gettext_lazy("typographic quotation marks"),
    "soft_hyphen": gettext_lazy("soft hyphens"),
    "trailing_spaces": gettext_lazy("spaces at line ends"),
    "spelling_correction": gettext_lazy("spelling corrected"),
    "humanized": gettext_lazy("humanised by a prompt"),
    "humanizer": gettext_lazy("humanised by a tool"),
    "rewrite": gettext_lazy("rewritten by a model"),
    "paraphrase-dipper": gettext_lazy("paraphrased by DIPPER"),
    "outfox": gettext_lazy("prompted to evade detectors (OUTFOX)"),
    "recased": gettext_lazy("capitals restored"),
}
WRITERS: dict[str, Words] = {
    "native essays": gettext_lazy("essays in the first language"),
    "learner essays": gettext_lazy("essays in a second language"),
    "native news": gettext_lazy("news in the first language"),
}
HEADS: dict[str, Words] = {
    "genre": gettext_lazy("Genre"),
    "length": gettext_lazy("Length"),
    "source": gettext_lazy("Source"),
    "generator": gettext_lazy("Model"),
    "attack": gettext_lazy("What was done"),
}
FIELDS: dict[str, Words] = {
    "genre": gettext_lazy("by genre"),
    "length": gettext_lazy("by length"),
    "source": gettext_lazy("by source"),
}
_RANGE = re.compile(r"(\d+)-(\d+)")
_FROM = re.compile(r"(\d+)\+")


def split_key(key: str) -> tuple[str, str]:
    """ "en out-of-domain" -> ("en", "out-of-domain")."""
    language, _space, domain = key.partition(" ")
    return language, domain


def language(code: str) -> str:
    """As it stands at the beginning of a line."""
    return capitalised(str(story.language(code)))


def group(key: str) -> str:
    """ "en out-of-domain" -> "English, new sources"."""
    code, domain = split_key(key)
    return _("%(language)s, %(sources)s") % {
        "language": language(code),
        "sources": DOMAINS.get(domain, domain),
    }


def value(field: str, name: str) -> str:
    """The name of one value of a field that the report groups by, as it stands alone in a table."""
    if field == "genre":
        return capitalised(str(GENRES.get(name, name)))
    if field == "length":
        return capitalised(length(name))
    if field == "attack":
        return capitalised(attack(name))
    return name


def length(name: str) -> str:
    """ "50-99" -> "50 to 99 words", "400+" -> "400 words and more"."""
    if name == TOO_SHORT:
        return _("shorter than we judge")
    if found := _RANGE.fullmatch(name):
        return story.words_range([int(found[1]), int(found[2])])
    found = _FROM.fullmatch(name)
    return story.words_range([int(found[1]), ENDLESS_WORDS]) if found else name


def attack(name: str) -> str:
    return str(ATTACKS.get(name, name.replace("_", " ")))


def writers(name: str) -> str:
    return str(WRITERS.get(name, name))


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
