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
# The evaluation's groups of length by their shortest text, as gpujobs.pod.package cuts them.
LENGTHS = {"50+": [50, 99], "100+": [100, 199], "200+": [200, 399], "400+": [400, ENDLESS_WORDS]}
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
}
FIELDS: dict[str, Words] = {
    "genre": gettext_lazy("by genre"),
    "length": gettext_lazy("by length"),
    "source": gettext_lazy("by source"),
}
_RANGE = re.compile(r"(\d+)\s*[-–]\s*(\d+)")


def split_key(key: str) -> tuple[str, str]:
    """ "en out-of-domain" -> ("en", "out-of-domain")."""
    language, _space, domain = key.partition(" ")
    return language, domain


def group(key: str) -> str:
    """ "en out-of-domain" -> "English, new sources"."""
    language, domain = split_key(key)
    return _("%(language)s, %(sources)s") % {
        "language": capitalised(str(story.language(language))),
        "sources": DOMAINS.get(domain, domain),
    }


def value(field: str, name: str) -> str:
    """The name of one value of a field that the report groups by."""
    if field == "genre":
        return str(GENRES.get(name, name))
    if field == "length":
        return length(name)
    if field == "attack":
        return attack(name)
    return name


def length(name: str) -> str:
    """ "50+" or "50-99" -> "50 to 99 words"."""
    if name == "-":
        return _("shorter than we judge")
    found = _RANGE.fullmatch(name)
    words = [int(found[1]), int(found[2])] if found else LENGTHS.get(name)
    return story.words_range(words) if words else name


def attack(name: str) -> str:
    return str(ATTACKS.get(name, name.replace("_", " ")))


def writers(name: str) -> str:
    return str(WRITERS.get(name, name))


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
