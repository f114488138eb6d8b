"""Coarse genres of the corpora's domains: what sampling balances over and figures are grouped by. Pure.

May be imported by: training, evaluation, packaging. Imports: nothing.
"""

_DOMAINS = {
    "essay": (
        "student-essay learner-essay essay admission-essay personal-essay history-essay masc-essays opinion debate "
        "masc-non-fiction masc-written l2r-environmental l2r-education-material"
    ),
    "fiction": (
        "story creative-writing writing period-fiction children humor satire masc-ficlets masc-fiction masc-jokes "
        "masc-movie-script l2r-literature-creative-writing"
    ),
    "news": "news masc-newspaper l2r-news-article l2r-sports sports interview",
    "review": (
        "product-review film-review book-review restaurant-review hotel-review review l2r-product-review "
        "l2r-entertainment criticism art-culture l2r-art-culture"
    ),
    "formal": (
        "legal l2r-legal-document political-speech speech sermon parliament government mission-statement "
        "masc-govt-docs l2r-government-public l2r-religious religious masc-court-transcript masc-debate-transcript "
        "report memo analysis business finance l2r-finance l2r-business"
    ),
    "science": (
        "abstract grant-abstract lab-report academic science arxiv biomedical-qa medical-answer l2r-medical-text "
        "l2r-academic-research"
    ),
    "technical": (
        "technical-manual technical-proposal documentation how-to game-guide release-notes masc-technical "
        "l2r-technical-writing"
    ),
    "personal": (
        "email masc-email letter masc-letters cover-letter diary masc-journal l2r-personal-communication social forum"
    ),
    "spoken": "transcript masc-face-to-face masc-spoken masc-telephone",
    "web": (
        "blog masc-blog l2r-online-content assistant-answer qa-answer encyclopedia travel-guide masc-travel-guides "
        "food l2r-food-cusine obituary"
    ),
}
_GENRE_OF = {domain: genre for genre, domains in _DOMAINS.items() for domain in domains.split()}


def genre(domain: str) -> str:
    """The coarse genre of a corpus's domain; `other` where none fits."""
    return _GENRE_OF.get(domain, "other")
