"""A verdict in careful words: what was found, never who wrote it; how sure, and what that was measured on. Pure.

Every sentence is lazily made in the page's language. Kinds come from the text rules (gpujobs.pod.shared); one that
this page doesn't know yet is named by its own name.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, ngettext_lazy

from detector.models import Submission, Verdict

Words = str | Promise

HEADLINES: dict[str, Words] = {
    "ai": _("Likely AI-written"),
    "mixed": _("Parts are likely AI-written"),
    "human": _("No sign of AI writing found"),
    "insufficient": _("Not enough to judge"),
}
HUMAN_BUT_NEAR: Words = _("No clear sign of AI writing")
SUMMARY_NEAR: Words = _(
    "The text has traits of AI writing, but fewer than the limit asks for. Texts by people score like this too, so it "
    "is not flagged."
)
SUMMARIES: dict[str, Words] = {
    "ai": _(
        "Most of this text reads like the output of a language model. That is a statement about the text, not about "
        "who wrote it or how."
    ),
    "mixed": _(
        "Some passages read like the output of a language model, others don't. Look at the marked passages before you "
        "draw a conclusion."
    ),
    "human": _(
        "Nothing here stands out from texts that people write. That doesn't prove that a person wrote it: edited and "
        "newer AI text can go unnoticed."
    ),
}
LABELS: dict[str, Words] = {
    "ai": _("Likely AI"),
    "mixed": _("Parts likely AI"),
    "human": _("No AI found"),
    "insufficient": _("Not enough to judge"),
}
LABEL_NEAR: Words = _("No clear sign")
REASONS: dict[str, Words] = {
    Verdict.Reason.TOO_SHORT: _(
        "The text is too short. Below that length every detector guesses, so we don't. Add more of the same text and "
        "check again."
    ),
    Verdict.Reason.NO_PROSE: _(
        "There is too little running prose. Code, tables, lists, links and references are not judged, and the rest is "
        "too short for a verdict."
    ),
    Verdict.Reason.UNSUPPORTED_LANGUAGE: _(
        "The text is not in a language that this model has been measured on. We judge English and Spanish."
    ),
}
CONFIDENCES: dict[str, Words] = {"high": _("high"), "medium": _("medium"), "low": _("low")}
CONFIDENCE_MEANINGS: dict[tuple[str, str], Words] = {
    ("ai", "high"): _("The score passes the strictest of our limits."),
    ("ai", "medium"): _("The score passes the default limit, but no stricter one."),
    ("ai", "low"): _("The score passes only the loosest limit: more human texts reach it, so read with care."),
    ("mixed", "medium"): _("It rests on single passages, which are short, so it is never called high."),
    ("mixed", "low"): _("It rests on few passages, none of which is clear on its own."),
    ("human", "high"): _("Of measured texts that score this low, fewer than one in twenty was by a model."),
    ("human", "medium"): _("The probability is under even odds, but not so low that AI can be ruled out."),
    ("human", "low"): _("The probability is over even odds, yet below the limit from which we flag."),
}
FAILURES: dict[str, Words] = {
    "deadline": _("It took longer than we let a check take, so we ended it."),
}
FAILED_OTHERWISE: Words = _("Something on our side broke while the text was being read, more than once.")
LEFT_OUT: dict[str, Words] = {
    "code": _("code"),
    "table": _("table"),
    "url": _("web address"),
    "reference": _("reference"),
    "quote": _("quotation"),
    "list": _("list"),
    "heading": _("heading"),
    "other": _("not prose"),
}
# The number stands apart; ngettext_lazy chooses by it.
CLEANED = {
    "invisible": ngettext_lazy("invisible character removed", "invisible characters removed"),
    "control": ngettext_lazy("control character removed", "control characters removed"),
    "surrogate": ngettext_lazy("broken character replaced", "broken characters replaced"),
    "soft_hyphen": ngettext_lazy("soft hyphen removed", "soft hyphens removed"),
    "lookalike": ngettext_lazy("look-alike letter replaced", "look-alike letters replaced"),
    "full_width": ngettext_lazy("full-width character replaced", "full-width characters replaced"),
    "styled": ngettext_lazy("styled letter made plain", "styled letters made plain"),
    "ligature": ngettext_lazy("ligature taken apart", "ligatures taken apart"),
    "compatibility": ngettext_lazy("special form made plain", "special forms made plain"),
    "combining": ngettext_lazy("stacked mark removed", "stacked marks removed"),
    "space": ngettext_lazy("unusual space made plain", "unusual spaces made plain"),
    "quote": ngettext_lazy("quotation mark made straight", "quotation marks made straight"),
    "dash": ngettext_lazy("dash made plain", "dashes made plain"),
    "ellipsis": ngettext_lazy("ellipsis made three dots", "ellipses made three dots"),
    "hyphenation": ngettext_lazy("divided word joined", "divided words joined"),
    "markup": ngettext_lazy("formatting mark set aside", "formatting marks set aside"),
}
LANGUAGES: dict[str, Words] = {"en": _("English"), "es": _("Spanish")}
ENDLESS_WORDS = 100_000  # the upper end of a group of texts that has none


def headline(submission: Submission) -> Words:
    """The verdict in a few words; what is going on while there is none."""
    if submission.status == Submission.Status.DONE:
        return HUMAN_BUT_NEAR if is_near(submission.verdict) else HEADLINES[submission.verdict.label]
    if submission.status == Submission.Status.FAILED:
        return _("The check could not be finished")
    return _("Checking your text")


def label(submission: Submission) -> Words:
    """For lists: shorter still."""
    if submission.status == Submission.Status.DONE:
        return LABEL_NEAR if is_near(submission.verdict) else LABELS[submission.verdict.label]
    return _("Not finished") if submission.status == Submission.Status.FAILED else _("In progress")


def summary(verdict: Verdict) -> Words:
    """What the verdict says about the text; empty for one that is none."""
    return SUMMARY_NEAR if is_near(verdict) else SUMMARIES.get(verdict.label, "")


def is_near(verdict: Verdict) -> bool:
    """Not flagged, but so near a limit that "no sign" would say too much."""
    return verdict.label == Verdict.Label.HUMAN and verdict.confidence == Verdict.Confidence.LOW


def confidence_meaning(verdict: Verdict) -> Words:
    return CONFIDENCE_MEANINGS.get((verdict.label, verdict.confidence), "")


def failure(submission: Submission) -> Words:
    return FAILURES.get(submission.failure_code, FAILED_OTHERWISE)


def left_out(kind: str) -> Words:
    return LEFT_OUT.get(kind, kind)


def language(code: str) -> Words:
    return LANGUAGES.get(code, code)


def cleaned(kind: str, count: int) -> str:
    """For example "invisible characters removed"; the page sets the number apart."""
    return str(CLEANED[kind] % count) if kind in CLEANED else kind


def words_range(words: list[int]) -> str:
    """ "100 to 199 words", or "50 words and more"."""
    low, high = words
    if high >= ENDLESS_WORDS:
        return ngettext("%(low)d word and more", "%(low)d words and more", low) % {"low": low}
    return ngettext("%(low)d to %(high)d word", "%(low)d to %(high)d words", high) % {"low": low, "high": high}
