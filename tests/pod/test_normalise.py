"""The normaliser on single characters: what becomes of each kind, and what is left in peace."""

import pytest

from gpujobs.pod.shared.folding import fold
from gpujobs.pod.shared.normalise import KINDS, normalise


def cleaned(text: str) -> dict[str, int]:
    return {item.kind: item.count for item in normalise(text).cleaned}


@pytest.mark.parametrize(
    ("text", "clean", "kind"),
    [
        ("in\u200bvis\u2060ible\ufeff", "invisible", "invisible"),
        ("left\u202eright\u202c", "leftright", "invisible"),
        ("tag\U000e0041\U000e0042ged", "tagged", "invisible"),
        ("variation\ufe0e selector\U000e0101", "variation selector", "invisible"),
        ("filler\u3164\u115f", "filler", "invisible"),
        ("nul\x00l bell\x07", "null bell", "control"),
        ("lone\ud800 surrogate\udfff", "lone surrogate", "surrogate"),
        ("soft\u00adhyphen", "softhyphen", "soft_hyphen"),
        ("Ｆｕｌｌ ｗｉｄｔｈ！", "Full width!", "full_width"),
        ("𝐁𝐨𝐥𝐝 𝑎𝑛𝑑 𝔉𝔯𝔞𝔨𝔱𝔲𝔯 Ⓒⓘⓡⓒⓛⓔ 🅂", "Bold and Fraktur Circle S", "styled"),
        ("ﬁnd ﬂow oﬃce", "find flow office", "ligature"),
        ("№ 5, 10 ㎞²".replace("㎞", "km"), "No 5, 10 km2", "compatibility"),
        ("no\u00a0break\u2003em\u3000wide", "no break em wide", "space"),
        ("“curly” ‘single’ it’s «guillemets»", '"curly" \'single\' it\'s "guillemets"', "quote"),
        ("non\u2011breaking \u22125", "non-breaking -5", "dash"),
        ("wait…", "wait...", "ellipsis"),
        ("z\u0336a\u0334l\u0321g\u0337o", "zalgo", "combining"),
    ],
)
def test_it_cleans_and_counts(text: str, clean: str, kind: str) -> None:
    result = normalise(text)
    assert result.text == clean
    assert [item.kind for item in result.cleaned] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Plain text, as it should be: nothing to do; really (nothing)!",
        "El año pasado, ¿comió Zoë en Łódź? Sí, con Đặng Thị Ngọc y Þórður.",
        "Faces ❤\ufe0f ☺\ufe0f.",
        "Family 👨\u200d👩\u200d👧, thumbs 👍🏽, heart ❤\ufe0f, key 1\ufe0f\u20e3.",
        "The flag 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f of England.",
        "Das heißt 你好 שָׁלוֹם العربية हिन्दी ไทย.",
        "CASE is Kept, McDonald too.",
    ],
)
def test_it_leaves_good_text_alone(text: str) -> None:
    result = normalise(text)
    assert result.text == text
    assert result.cleaned == ()


def test_it_takes_a_zero_width_space_out_of_an_emoji() -> None:
    assert normalise("❤\u200b\ufe0f 1\u200b\ufe0f\u20e3").text == "❤\ufe0f 1\ufe0f\u20e3"


def test_it_composes_accents_without_calling_it_cleaning() -> None:
    result = normalise("cafe\u0301 man\u0303ana")
    assert result.text == "café mañana"
    assert result.cleaned == ()


def test_it_keeps_the_marks_that_other_scripts_need_up_to_a_few() -> None:
    assert normalise("שָׁ").text == "שָׁ"
    assert len(normalise("ש" + "\u05b8" * 500).text) == 1 + 4


def test_it_counts_each_character_once() -> None:
    assert cleaned("a\u200bb\u200bc “d”") == {"invisible": 2, "quote": 2}


def test_it_treats_line_ends_of_all_systems_alike() -> None:
    assert normalise("a\r\nb\rc\n\n\n\nd").text == "a\nb\nc\n\nd"
    assert normalise("a\r\nb").cleaned == ()


def test_it_collapses_runs_of_spaces_without_calling_it_cleaning() -> None:
    assert normalise("  a \t b  \n  c  ").text == "a b\nc"
    assert normalise("  a \t b  ").cleaned == ()


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("word—word", "word - word"),
        ("word — word", "word - word"),
        ("word – word", "word - word"),
        ("word--word", "word - word"),
        ("word -- word", "word - word"),
        ("word―word", "word - word"),
        ("1914–18", "1914-18"),
        ("pages 3–4", "pages 3-4"),
        ("—Hola —dijo él—. Adiós", "- Hola - dijo él -. Adiós"),
        ("well-known", "well-known"),
        ("use --force here", "use --force here"),
        ("a ---- b", "a ---- b"),
    ],
)
def test_it_has_one_form_for_a_dash(text: str, clean: str) -> None:
    assert normalise(text).text == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("exam-\nple", "example"),
        ("exam-  \n   ple", "example"),
        ("exam\u2010\nple", "example"),
        ("exam\u00ad\nple", "exam\nple"),
        ("in-\nfor-\nma-\ntion", "information"),
        ("well-\nknown", "well-known"),
        ("state-of-the-\nart", "state-of-the-art"),
        ("data-\ndriven", "data-driven"),
        ("a co-op, the co-\nop", "a co-op, the co-op"),
        ("pre- and post-war, pre-\nand post-war", "pre- and post-war, pre- and post-war"),
        ("page 3-\n4", "page 3-\n4"),
        ("Jean-\nPaul", "Jean-\nPaul"),
        ("self-\nish", "selfish"),
        ("a multi- dimensional ex- soldier", "a multidimensional exsoldier"),
        ("come to- day, not today; the man- he said", "come today, not today; the man- he said"),
        ("pre- and post-war, anti- or pro-", "pre- and post-war, anti- or pro-"),
        ("Leonor came, Leo-\nnor went", "Leonor came, Leonor went"),
    ],
)
def test_it_joins_words_divided_at_a_line_end(text: str, clean: str) -> None:
    assert normalise(text).text == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("One , two ; three : four .", "One, two; three: four."),
        ("Really ? Yes ! ( So ) it is .", "Really? Yes! (So) it is."),
        ('She said "no ." and "why ?"', 'She said "no." and "why?"'),
        ("hello ,world", "hello, world"),
        ("en prision,pero y,de la,y, happens,I went", "en prision, pero y, de la, y, happens, I went"),
        ("the end.The next.I saw,really?Yes", "the end. The next. I saw, really? Yes"),
        ("Mr.Smith left London.The end.", "Mr. Smith left London. The end."),
        ("Gurria,secretario and PRI,PAN y PRD", "Gurria, secretario and PRI, PAN y PRD"),
    ],
)
def test_it_sets_spaces_around_punctuation(text: str, clean: str) -> None:
    result = normalise(text)
    assert result.text == clean
    assert result.cleaned == ()


@pytest.mark.parametrize(
    "text",
    [
        "wait ... what",
        "fine :) or ;) or :( and : ) too",
        "in .NET and a != b, 3 : 4",
        "1,000.50 or 3,5 at 10:30",
        "see https://x.org/a,b?c.The and www.Example.Com",
        "a file.Txt, notes.md, Node.Js, os.path,x and f(xs,ys)",
        "U.S.A, e.g., i.e., a Ph.D, the U.S.Army",
        "x,y and (a,b,c)",
        "System.Out is a name, math.Sqrt(x) as well",
    ],
)
def test_it_leaves_spaces_inside_signs_names_and_numbers(text: str) -> None:
    assert normalise(text).text == text


def test_it_knows_each_kind_that_it_counts() -> None:
    kinds = {folded[1] for code in range(0x110000) if (folded := fold(chr(code))) is not None}
    assert kinds <= set(KINDS)


def test_it_folds_characters_for_good() -> None:
    """What a character becomes is never folded again: one round is enough for single characters."""
    for code in range(0x110000):
        folded = fold(chr(code))
        if folded is not None:
            assert all(fold(char) is None for char in folded[0] if char != "\n")
