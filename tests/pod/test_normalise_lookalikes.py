"""Look-alike letters: attacks are undone, names and words of other scripts stay."""

import pytest

from gpujobs.pod.shared.normalise import normalise

ENGLISH = (
    "The committee agreed on a plan to copy each paper before the next exam. I hope you can come, because a "
    "space is open at once. The people spoke of peace, a cape, an axe, and I saw a boy eat an apple."
)
SPANISH = "La señora Pérez comió a la una en la época de su niñez, y a eso de las dos acá se pasó un año."
CYRILLIC = dict(zip("aceiopsxyABCEHIKMOPSTX", "асеіорѕхуАВСЕНІКМОРЅТХ", strict=True))
GREEK = dict(zip("opvaABEHIKMNOPTXYZ", "ορναΑΒΕΗΙΚΜΝΟΡΤΧΥΖ", strict=True))


def lookalikes(text: str) -> int:
    return {item.kind: item.count for item in normalise(text).cleaned}.get("lookalike", 0)


@pytest.mark.parametrize("text", [ENGLISH, SPANISH])
@pytest.mark.parametrize("table", [CYRILLIC, GREEK], ids=["cyrillic", "greek"])
@pytest.mark.parametrize("every", [1, 2, 5])
def test_it_undoes_an_attack(text: str, table: dict[str, str], every: int) -> None:
    """All letters that have a twin, or each second or fifth of them; one-letter words become wholly foreign."""
    attacked, seen = [], 0
    for char in text:
        seen += char in table
        attacked.append(table[char] if char in table and seen % every == 0 else char)
    result = normalise("".join(attacked))
    assert result.text == text
    assert lookalikes("".join(attacked)) == sum(a != b for a, b in zip(attacked, text, strict=True))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("The pаper was сору number two of the bоok", "The paper was copy number two of the book"),
        ("This is а test", "This is a test"),
        ("І think so", "I think so"),
        ("don't: dоn't", "don't: don't"),
        ("Cherokee ᎪbᏟ and Armenian օne", "Cherokee AbC and Armenian one"),
        ("ᴛʜɪꜱ text iꜱ ɑ ɡood one", "ᴛʜɪꜱ text is ɑ good one"),
        ("go tо吞噬 it", "go to吞噬 it"),
        ("Τhe bооk that Ι read, аnd Ι liked it", "The book that I read, and I liked it"),
        ("Thе реrѕоn whо wrоtе it: Α. Ο. Smith", "The person who wrote it: A. O. Smith"),
        ("A list of ΡЕРs, or СΟМΟ", "A list of PEPs, or COMO"),
        ("Ѕоme оf uѕ sаid кот оr sо, аnd а кот а", "Some of us said кот or so, and a кот a"),
        ("Thе lеvel α = 0.05 оf ТΝFα", "The level α = 0.05 of TNFα"),
    ],
)
def test_it_replaces(text: str, clean: str) -> None:
    assert normalise(text).text == clean


@pytest.mark.parametrize(
    "text",
    [
        "Москва а не Киев",
        "Он сказал: а роса не сор.",
        "The Russian words «Москва а Киев» mean a lot".replace("«", '"').replace("»", '"'),
        "The word кот means cat, and Владимир is a name.",
        "The Greek αβγ and Ελλάδα, in Αθήνα, are words.",
        "TNFα, IFNγ, αSYN and γδT at level α = 0.05, ν = 3, ΔG",
        "A β-blocker and an α-helix of 5 μm",
        "In Belgrade (Београд) he met Ј. Јовановић, and later А. С. Пушкин and В. О. Ключевский.",
        "He read Ο Νίκος and Η Αθήνα aloud; Α, Β and Ω are letters.",
        "The Ukrainian words і, а and є are short; Кіровоград and Харків are towns.",
        "Москва и область: Сор а также Mосква.",
        "Yıldız and Diyarbakır are Turkish names.",
        "Հայաստան is Armenia, ᏣᎳᎩ is Cherokee",
        "العربية and עברית and 中文 and ไทย",
    ],
)
def test_it_leaves_real_words_and_symbols(text: str) -> None:
    assert normalise(text).text == text
    assert lookalikes(text) == 0


def test_it_maps_each_letter_to_the_one_it_replaced() -> None:
    result = normalise("The pаper")
    assert (result.text[5], result.starts[5], result.ends[5]) == ("a", 5, 6)
