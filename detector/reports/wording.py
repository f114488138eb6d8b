"""A verdict in the words of its page, for the PDF: one list of sentences for each part of it.

Wherever the page has a sentence, it is that sentence. <b> may set parts of one apart; nothing here is a customer's.
"""

from collections import Counter
from datetime import datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from detector.models import Submission, Verdict
from detector.templatetags import ink
from detector.views import story

Rows = list[tuple[str, str]]


def headline(submission: Submission) -> str:
    return str(story.headline(submission))


def confidence(verdict: Verdict) -> str:
    if not verdict.confidence:
        return ""
    return _("confidence: <b>%(word)s</b>") % {"word": ink.confidence_name(verdict.confidence)}


def summary(submission: Submission) -> list[str]:
    """What the verdict says about the text, and how sure; why there is none."""
    verdict = submission.verdict
    if verdict.label != Verdict.Label.INSUFFICIENT:
        return [str(words) for words in (story.summary(verdict), story.confidence_meaning(verdict)) if words]
    said = [str(ink.reason(verdict))]
    least = (submission.model_version.manifest or {}).get("min_words")  # none of a made-up version
    if verdict.reason != Verdict.Reason.UNSUPPORTED_LANGUAGE and least:
        numbers = {"least": ink.whole(least), "found": ink.whole(submission.words)}
        said.append(_("At least %(least)s words of prose are needed; this has %(found)s.") % numbers)
    return [" ".join(said)]


def caution() -> str:
    return _(
        "<b>This report must not be the only basis for acting against somebody.</b> It is a statement about a text, "
        "not about who wrote it or how, and it can be wrong. Talk to the person, and look at drafts and sources first."
    )


def numbers(verdict: Verdict) -> list[tuple[str, str, float, str]]:
    """(what, how much, the same from 0 to 1, what it means) of each of the two numbers; none without a verdict."""
    if verdict.probability is None or verdict.ai_fraction is None:
        return []
    return [
        (
            _("Probability that the text is AI"),
            ink.share(verdict.probability),
            verdict.probability,
            _("How likely it is, for a text that scores like this one, that a model wrote it."),
        ),
        (
            _("Share of the text marked AI"),
            ink.share(verdict.ai_fraction),
            verdict.ai_fraction,
            _("How much of the judged text lies in marked passages. It says nothing about how sure we are."),
        ),
    ]


def rate_card(verdict: Verdict) -> str:
    """How often texts by people like this one are flagged by mistake; "" where no such group was measured."""
    card = verdict.rate_card
    if not card:
        return ""
    said = ngettext(
        "Of <b>%(n)s</b> texts by people like this one (%(language)s, %(range)s), <b>%(shown)s</b> was flagged by "
        "mistake at the %(limit)s limit. With 95%% certainty the true rate lies between %(low)s and %(high)s.",
        "Of <b>%(n)s</b> texts by people like this one (%(language)s, %(range)s), <b>%(shown)s</b> were flagged by "
        "mistake at the %(limit)s limit. With 95%% certainty the true rate lies between %(low)s and %(high)s.",
        card["k"],
    )
    return said % {
        "n": ink.whole(card["n"]),
        "shown": ink.whole(card["k"]),
        "language": ink.card_kind(card),
        "range": ink.words_range(card["words"]),
        "limit": ink.cap(verdict.max_fpr),
        "low": ink.exact_share(card["low"]),
        "high": ink.exact_share(card["high"]),
    }


def cleaned(verdict: Verdict) -> list[str]:
    """What was set aside before reading."""
    if not verdict.cleaned:
        return [_("Nothing: there were no hidden, look-alike or unusual characters.")]
    found = [
        f"<b>{ink.whole(kind['count'])}</b> {ink.cleaned_name(kind['kind'], kind['count'])}" for kind in verdict.cleaned
    ]
    return [*found, _("Before reading only. Such characters are no evidence of AI by themselves.")]


def left_out(verdict: Verdict) -> list[str]:
    """What was not judged."""
    characters: Counter[str] = Counter()
    for part in verdict.left_out:
        characters[part["kind"]] += part["end"] - part["start"]
    if not characters:
        return [_("Nothing: the whole text is running prose.")]
    found = [
        f"<b>{ink.whole(count)}</b> " + _("characters: %(kind)s") % {"kind": ink.left_out_name(kind)}
        for kind, count in characters.most_common()
    ]
    return [*found, _("Only running prose is judged. What is left out counts neither for nor against.")]


def details(submission: Submission) -> Rows:
    """When, how long, by what: all versions that the verdict rests on."""
    verdict = submission.verdict
    length = {"words": ink.whole(submission.words), "characters": ink.whole(submission.characters)}
    rows = [
        (_("Checked"), _moment(submission.accepted_at)),
        (_("Length"), _("%(words)s words of prose, %(characters)s characters") % length),
    ]
    if verdict.probability is not None:
        rows += [
            (_("Characters judged"), ink.whole(verdict.scored_characters)),
            (_("Language"), str(ink.language_name(submission.language))),
            (_("Limit for false flags"), ink.cap(verdict.max_fpr)),
            (_("To four decimals"), f"{ink.four(verdict.probability)} · {ink.four(verdict.ai_fraction)}"),
        ]
    stand_in = " · " + _("stand-in: the GPU was out of reach") if verdict.degraded else ""
    return [
        *rows,
        (_("Model"), f"{submission.model_version.name} {verdict.model_version_id}"),
        (_("Calibration"), verdict.calibration_version),
        (_("Text rules"), verdict.normaliser_version),
        (_("Runs on"), verdict.tier.upper() + stand_in),
    ]


def origin(said: dict[str, Any]) -> Rows:
    """Who issued the report, about which text. said: as in detector.reports.contents."""
    return [
        (_("Issued by"), said["issuer"]),
        (_("Issued at"), _moment(datetime.fromisoformat(said["issued_at"]))),
        (_("Number of the check"), said["id"]),
        (_("SHA-256 of the text"), said["text_sha256"] or "–"),
        (_("SHA-256 of this report"), said["content_sha256"]),
    ]


def how_to_check() -> str:
    return _(
        "A PDF can be changed by anybody. The signed JSON report of this check, which its owner can download, has the "
        "same SHA-256 in content_sha256, and the command “inkcloak verify” checks its signature, without us if need be."
    )


def _moment(value: datetime) -> str:
    return f"{date_format(value, 'DATE_FORMAT')}, {value:%H:%M:%S} UTC"
