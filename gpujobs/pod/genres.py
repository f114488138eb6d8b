"""Coarse genres of the corpora's domains: what sampling balances over and figures are grouped by. Pure.

May be imported by: training, evaluation, packaging. Imports: nothing.
"""

_DOMAINS = {
    "essay": "student-essay learner-essay essay admission-essay personal-essay masc-essays opinion debate",
    "fiction": "story creative-writing writing masc-ficlets masc-fiction l2r-literature-creative-writing",
    "news": "news masc-newspaper l2r-news-article l2r-sports interview",
    "review": "product-review film-review review l2r-product-review l2r-entertainment criticism",
    "formal": (
        "legal l2r-legal-document political-speech speech masc-govt-docs l2r-government-public l2r-religious "
        "masc-court-transcript masc-debate-transcript report memo analysis business l2r-finance l2r-business"
    ),
    "science": "abstract arxiv biomedical-qa medical-answer l2r-medical-text l2r-academic-research",
    "technical": ("technical-manual technical-proposal documentation how-to masc-technical l2r-technical-writing"),
    "personal": "email masc-email masc-letters masc-journal l2r-personal-communication social forum",
    "web": "blog masc-blog l2r-online-content assistant-answer qa-answer encyclopedia masc-travel-guides",
}
_GENRE_OF = {domain: genre for genre, domains in _DOMAINS.items() for domain in domains.split()}


def genre(domain: str) -> str:
    """The coarse genre of a corpus's domain; `other` where none fits."""
    return _GENRE_OF.get(domain, "other")
