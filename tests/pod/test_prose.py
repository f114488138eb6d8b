"""What is prose and what is left out, kind by kind."""

import pytest

from gpujobs.pod.shared.prose import LEFT_OUT_KINDS, Reading, count_words, read

BODY = "The council met on Tuesday and agreed that the old bridge should be repaired before the winter comes back."
MORE = "Nobody spoke against the plan, although two members asked who would pay for it in the end."


def left(text: str) -> list[tuple[str, str]]:
    return [(item.kind, text[item.start : item.end]) for item in read(text).left_out]


def between(part: str) -> str:
    return f"{BODY}\n\n{part}\n\n{MORE}"


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("code", "```python\ndef area(r):\n    return 3.14 * r ** 2\n```"),
        ("code", "~~~\nanything at all in here, even a sentence.\n~~~"),
        ("code", "def area(r):\n    return 3.14 * r ** 2\n\nprint(area(2))"),
        ("code", "    for (int i = 0; i < n; i++) {\n        total += i;\n    }"),
        ("code", "import os\nimport sys\n\nos.remove(path)"),
        ("code", "$ pip install thing\n$ thing --help"),
        ("code", "SELECT name, age FROM people\nWHERE age > 30;"),
        ("code", '<div class="a">\n  <p>x</p>\n</div>'),
        ("table", "| Name | Age |\n|------|-----|\n| Ann  | 12  |"),
        ("table", "Name | Age\n--- | ---\nAnn | 12"),
        ("table", "Name      Age    City\nAnn        12    Rome\nBob         7    Oslo"),
        ("table", "Name\tAge\tCity\nAnn\t12\tRome"),
        ("table", "name,age,city\nAnn,12,Rome\nBob,7,Oslo"),
        ("heading", "Why the reconstruction committee of Northampton decided against\nanother bridge"),
        ("heading", "Why   the    committee of    Northampton    decided    against    yet    another    bridge"),
        ("quote", "> Somebody else wrote this sentence,\n> and this one as well."),
        ("list", "- apples\n- pears\n- plums"),
        ("list", "1. Apples\n2. Pears"),
        ("list", "• Radishes\n• Peas"),
        ("list", "a) first\nb) second"),
        ("heading", "# What the council decided"),
        ("heading", "What the council decided"),
        ("heading", "**What the council decided**"),
        ("heading", "What the council decided\n------------------------"),
        ("other", "* * *"),
        ("other", "🎉🎉🎉"),
        ("url", "https://example.org/minutes?id=3"),
        ("url", '[1]: https://example.org/minutes "Minutes"'),
        ("url", "![the bridge](https://example.org/bridge.jpg)"),
    ],
)
def test_it_leaves_out_and_names(kind: str, part: str) -> None:
    text = between(part)
    assert left(text) == [(kind, part.strip())]
    assert read(text).text == f"{BODY}\n\n{MORE}"


@pytest.mark.parametrize(
    ("part", "read_as"),
    [
        ("- Open the box and take out all of the parts.", "Open the box and take out all of the parts."),
        ("2. Open the box and take\n   out all of the parts.", "Open the box and take out all of the parts."),
        ("* **Pay attention:** open the box before you leave.", "Pay attention: open the box before you leave."),
        ("- [x] Open the box and take out the parts.", "Open the box and take out the parts."),
        (
            "Roses are red,\nviolets are blue\nand the verse\nhas no stop",
            "Roses are red, violets are blue and the verse has no stop",
        ),
        ("—¿Qué quieres? —dijo ella.", "¿Qué quieres? dijo ella."),
        ("See [the minutes](https://x.org/a_(b)) for more.", "See the minutes for more."),
        ("See https://x.org/a, or not.", "See, or not."),
        ("It rained (https://x.org) all day.", "It rained all day."),
        ("Write to me@x.org or call.", "Write to or call."),
        ("So it was [3], or not [4, 5] (Smith, 2019).", "So it was, or not (Smith, 2019)."),
        ("So said one [[3](https://x.org)] of them.", "So said one [] of them."),
        ("This is **very** _much_ `like` ~~this~~ ***that***.", "This is very much like this that."),
        ("A 2 * 3 * 4 and snake_case_name stay.", "A 2 * 3 * 4 and snake_case_name stay."),
        ("It is <b>bold</b> and<br>broken &amp; mended.", "It is bold and broken & mended."),
        ("A line\\*with\\* escapes.", "A line*with* escapes."),
        ("Dear Ms Jones,", "Dear Ms Jones,"),
        ("- Pay the bill.", "Pay the bill."),
        ("It ended. - So he said. • Then (2) it was 3. not.", "It ended. So he said. Then (2) it was 3. not."),
        ("He left. 2. She stayed there! (3) They came.", "He left. She stayed there! They came."),
        ("Things: 1. Drive a car. 2 . Walk home.", "Things: Drive a car. Walk home."),
        ("Basta. —Hola —dijo él. —Adiós.", "Basta. Hola - dijo él. Adiós."),
        ("It was so.—Then it was not.--Was it?", "It was so. Then it was not. Was it?"),
        ("* * * Because we have all seen it.", "Because we have all seen it."),
        ("See fig. 3. The U.S. - Mexico line, 9 a.m. - 5 p.m.", "See fig. 3. The U.S. - Mexico line, 9 a.m. - 5 p.m."),
        ("How many? 12.", "How many? 12."),
        ("So said Jean-\nPaul on pages 3-\n4.", "So said Jean-Paul on pages 3-4."),
    ],
)
def test_it_reads(part: str, read_as: str) -> None:
    assert read(between(part)).text == f"{BODY}\n\n{read_as}\n\n{MORE}"


def test_it_leaves_out_the_sources_at_the_end() -> None:
    sources = (
        "Smith, J. (2019). Bridges. Oxford University Press.\nDoe, A. (2020). Rivers. Journal of Water, 12(3), 4-5."
    )
    for title in ("References", "## Bibliography", "**Referencias**", "WORKS CITED:"):
        text = f"{BODY}\n\n{title}\n\n{sources}\n"
        assert left(text) == [("reference", f"{title}\n\n{sources}")]
    assert left(f"{BODY}\n\n{sources}") == [("reference", sources)]
    assert left(f"{BODY}\n\nReferences\n{sources}") == [("reference", f"References\n{sources}")]


def test_it_reads_on_after_sources_in_the_middle() -> None:
    text = f"{BODY}\n\n# Sources\n\n[1] J. Smith, Bridges, 2019, pp. 3-4.\n\n# Epilogue\n\n{MORE}"
    assert [kind for kind, _ in left(text)] == ["reference", "heading"]
    assert read(text).text == f"{BODY}\n\n{MORE}"


def test_it_keeps_a_chapter_that_is_only_called_sources() -> None:
    assert read(f"Sources\n\n{BODY} {MORE}").text == f"{BODY} {MORE}"


def test_it_reads_nothing_where_there_is_no_prose() -> None:
    for text in (
        "",
        "  \n\t",
        "\u200b\x00",
        "```\ncode\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "https://x.org",
        "1 2 3",
        "- a\n- b",
    ):
        reading = read(text)
        assert (reading.text, reading.words) == ("", 0)
        assert reading.original_chars == len(text)


def test_it_never_takes_plain_paragraphs_apart() -> None:
    for part in (
        "She said: well; then, x = y is true, and if (as we hope) it holds, we go.",
        "In 1999, 2000, 2001 and 2002, it rained; in 2003, 2004, 2005 and 2006, it did not.",
        "no capitals no stops just somebody writing on their phone about nothing at all ok",
        "I am short.",
        "What the council decided\nThe bridge is closed. " + MORE,
        f"{MORE} Without a full stop\n{BODY}",
        "> Hi all > the meeting of Tuesday is off > see you then.",
        "> Hi all, " + " ".join([MORE] * 12),
        "The man said that 7\n> 5 and that 4 < 8 in his house.",
        "while (as I told you) the for and if of it all, import and class, were clear:",
    ):
        assert left(between(part)) == []
        assert part.replace("\n", " ") in read(between(part)).text


def test_it_takes_no_wrapped_number_or_dash_for_a_list() -> None:
    text = f"{BODY} It happened when he was aged\n12. Then the man\n- a doctor, they say -\ncame and\n* stood there."
    assert left(text) == []


def test_it_merges_neighbours_of_one_kind_and_names_them_in_order() -> None:
    text = f"# One\n\n## Two\n\n{BODY}\n\n- a\n\n- b\n\n> c\n\n{MORE}"
    assert [kind for kind, _ in left(text)] == ["heading", "list", "quote"]
    assert {kind for kind, _ in left(text)} <= set(LEFT_OUT_KINDS)


def test_it_finds_the_original_of_a_span() -> None:
    text = f"# Title\r\n\r\nThe “old” **bridge**—\r\nstill there. {BODY}"
    reading = read(text)
    at = reading.text.index('"old" bridge')
    assert text[slice(*reading.original_span(at, at + len('"old" bridge')))] == "“old” **bridge"
    assert reading.original_span(0, len(reading.text)) == (text.index("The"), len(text))
    assert reading.original_span(3, 3) == (reading.starts[3], reading.starts[3])


def test_it_joins_blocks_with_characters_of_no_width() -> None:
    reading = read(f"{BODY}\n\n{MORE}")
    at = reading.text.index("\n\n")
    assert reading.text == f"{BODY}\n\n{MORE}"
    assert list(reading.starts[at : at + 2]) == list(reading.ends[at : at + 2]) == [len(BODY) + 2] * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("...", 0),
        ("One, two - three!", 3),
        ("it's a well-known U.S. fact", 5),
        ("3.14 and 1,000 at 10:30", 5),
        ("¿Qué pasó, niño?", 3),
        ("and/or", 1),
        ("你好世界", 4),
        ("カタカナ and kanji", 6),
        ("한국어 텍스트", 2),
    ],
)
def test_it_counts_words_as_people_do(text: str, words: int) -> None:
    assert count_words(text) == words


def test_it_counts_the_words_that_it_read() -> None:
    reading: Reading = read(f"# Four words left out\n\n{BODY}")
    assert reading.words == len(BODY.split())
