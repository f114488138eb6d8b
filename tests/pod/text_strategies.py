"""What the property tests of the text rules draw: hostile strings, and prose of whole sentences."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# A busy machine is no failure: only the flood tests measure time.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# One of each kind that the rules treat, and the signs of Markdown, tables and code.
_HOSTILE = (
    "\u200b\u200d\u200e\u202e\ufeff\u00ad\ufe0f\U000e0041\U000e0100\u034f\u3164\x00\x07\x85\r\n\t \u00a0\u2003\u2028"
    "\ud800\udfff"
    "аеорсухАВЕКМНОРСТХкмнжя\u0430ανογμβΑΟɑɡʏıＡｂ１𝐀𝑏①²ªﬁﬃĳŉ½⑴㎏ﷺ\u0301\u0327\u0336\u20e3\u0e31กא\u05b0你あ한\u1100\u1161"
    "👨👩👧🏽🏴😀™©1#*“”«»‘’'\"—–-‐−…._`~[]()<>|&;=:/\\@!?,{}$+abcXYZéñ"
)
_FRAGMENTS = (
    "https://x.org/a(b)", "me@x.com", "[12]", "[a](b)", "![a](b)", "**a**", "_b_", "```", "```\n", "\n\n", "\n", "    ",
    "- ", "1. ", "> ", "# ", "| a | b |", "|---|", "a,b,c\n", "x = y;\n", "def f(x):\n", "References\n", "[url]",
    "Smith, J. (2019). A.\n", "exam-\nple", "well-\nknown", "The pаper.", "сору", "<br>", "&nbsp;", ". . .", " -- ",
    "===\n", "Name  Age  City\n",
)  # fmt: skip

_snippet = st.one_of(st.sampled_from(_FRAGMENTS), st.text(st.sampled_from(_HOSTILE), max_size=5))
hostile_text = st.one_of(
    st.text(),
    st.text(st.sampled_from(_HOSTILE), max_size=60),
    st.lists(_snippet, max_size=25).map("".join),
)

_WORDS = """
the of and a to in is you that it he was for on are as with his they at be this have from or one had by word but not
what all were we when your can said there use an each which she do how their if will up other about out many then them
teacher's garden window letter summer evening fishing office difficult fluffy children yesterday information remember
niño señora corazón también después mañana café pequeño árbol lápiz según
"""
_word = st.sampled_from(_WORDS.split())


@st.composite
def _sentence(draw: st.DrawFn) -> str:
    words = draw(st.lists(_word, min_size=6, max_size=18))
    if draw(st.booleans()):
        words[2] = f'"{words[2]}"'
    if draw(st.booleans()):
        words[3] += ","
    if draw(st.integers(0, 9)) == 0:
        words[4:4] = ["-"]
    end = draw(st.sampled_from([".", ".", ".", "?", "!", "..."]))
    return " ".join([words[0].capitalize(), *words[1:]]) + end


sentences = st.lists(_sentence(), min_size=1, max_size=8)
paragraph = sentences.map(" ".join)
prose = st.lists(paragraph, min_size=1, max_size=4)
