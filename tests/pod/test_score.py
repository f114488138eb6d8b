"""The shipped model through the scorer: same text, same score, whatever came with it."""

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpujobs.pod import manifest
from gpujobs.pod.contract import ScoreRequest, ScoreResponse, TextIn, TextOut, match
from gpujobs.pod.engine import batches
from gpujobs.pod.score import Scorer
from gpujobs.pod.shared.decision import decide
from gpujobs.pod.shared.normalise import NORMALISER_VERSION
from gpujobs.pod.shared.prose import read

FOLDER = Path(manifest.__file__).parent / "shipped" / "inkcloak-small"
TOLERANCE = 1e-4
MOST_BYTES = 60_000_000
LONGEST_LOAD_S = 3.0

AI = (
    "Effective communication is a cornerstone of any successful organization. By fostering a culture of openness "
    "and transparency, leaders can ensure that employees feel valued and empowered to share their ideas. "
    "Moreover, clear communication plays a crucial role in aligning teams around shared goals, reducing "
    "misunderstandings, and enhancing overall productivity. In today's rapidly evolving landscape, it is "
    "essential for businesses to leverage a variety of channels, from traditional meetings to innovative digital "
    "platforms. Ultimately, organizations that prioritize meaningful dialogue are better positioned to navigate "
    "challenges, drive innovation, and achieve lasting success."
)
HUMAN = (
    "Call me Ishmael. Some years ago - never mind how long precisely - having little or no money in my purse, and "
    "nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of "
    "the world. It is a way I have of driving off the spleen, and regulating the circulation. Whenever I find "
    "myself growing grim about the mouth; whenever it is a damp, drizzly November in my soul; whenever I find "
    "myself involuntarily pausing before coffin warehouses, and bringing up the rear of every funeral I meet; "
    "then, I account it high time to get to sea as soon as I can."
)
WORDS = (AI + " " + HUMAN).split()


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer.load(FOLDER, threads=1)


def ask(scorer: Scorer, *texts: str, language: str = "en") -> tuple[TextOut, ...]:
    sent = tuple(TextIn(str(i), text, language) for i, text in enumerate(texts))
    request = ScoreRequest("run", 1, scorer.model_version, sent)
    answer = scorer.score(request)
    match(request, answer)
    return answer.texts


def sample(seed: int, words: int) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) for _ in range(words))


def distance(one: TextOut, other: TextOut) -> float:
    pairs = [(one.score, other.score), (one.probability, other.probability)]
    for a, b in zip(one.windows, other.windows, strict=True):
        assert (a.start, a.end) == (b.start, b.end)
        pairs += [(a.score, b.score), (a.probability, b.probability)]
    return max(abs(a - b) for a, b in pairs)


def test_it_loads_quickly_and_is_small() -> None:
    started = time.monotonic()
    Scorer.load(FOLDER)
    assert time.monotonic() - started < LONGEST_LOAD_S
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= MOST_BYTES


def test_it_tells_a_plain_ai_text_from_a_novel(scorer: Scorer) -> None:
    thresholds = manifest.thresholds(scorer.manifest, "en")
    verdicts = [decide(t.probability, t.windows, thresholds).label for t in ask(scorer, AI, HUMAN)]
    assert verdicts == ["ai", "human"]


QUIJOTE = (
    "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía un hidalgo de los de "
    "lanza en astillero, adarga antigua, rocín flaco y galgo corredor. Una olla de algo más vaca que carnero, salpicón "
    "las más noches, duelos y quebrantos los sábados, lentejas los viernes, algún palomino de añadidura los domingos, "
    "consumían las tres partes de su hacienda."
)
LINCOLN = (
    "Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in Liberty, "
    "and dedicated to the proposition that all men are created equal. Now we are engaged in a great civil war, testing "
    "whether that nation, or any nation so conceived and so dedicated, can long endure. We are met on a great "
    "battle-field of that war. We have come to dedicate a portion of that field, as a final resting place for those "
    "who here gave their lives that that nation might live. It is altogether fitting and proper that we should do this."
)


@pytest.mark.parametrize(("text", "language"), [(QUIJOTE, "es"), (LINCOLN, "en"), (HUMAN, "en")])
@pytest.mark.parametrize("cap", ["0.005", "0.01"])
def test_it_leaves_the_canon_in_peace(scorer: Scorer, text: str, language: str, cap: str) -> None:
    (found,) = ask(scorer, text, language=language)
    thresholds = manifest.thresholds(scorer.manifest, language, float(cap))
    assert decide(found.probability, found.windows, thresholds).label == "human"


def test_it_scores_a_text_alike_alone_and_in_any_batch(scorer: Scorer) -> None:
    texts = [AI, HUMAN, *(sample(seed, 20 + 45 * seed) for seed in range(12))]
    alone = [ask(scorer, text)[0] for text in texts]
    for seed in range(3):
        order = list(range(len(texts)))
        random.Random(seed).shuffle(order)
        together = ask(scorer, *(texts[i] for i in order))
        assert max(distance(together[at], alone[i]) for at, i in enumerate(order)) < TOLERANCE


def test_it_scores_alike_with_other_threads(scorer: Scorer) -> None:
    other = Scorer.load(FOLDER, threads=2)
    text = sample(1, 700)
    assert distance(ask(scorer, text)[0], ask(other, text)[0]) < TOLERANCE


def test_it_covers_a_long_text_with_windows(scorer: Scorer) -> None:
    text = sample(3, 2500)
    (found,) = ask(scorer, text)
    assert [w.start for w in found.windows] == [0, *(w.end for w in found.windows[:-1])]
    assert found.windows[-1].end == len(text)
    shares = [(w.end - w.start) / len(text) for w in found.windows]
    assert found.score == pytest.approx(sum(w.score * s for w, s in zip(found.windows, shares, strict=True)))


def test_it_gives_a_text_of_one_window_that_windows_probability(scorer: Scorer) -> None:
    (found,) = ask(scorer, "Only one short sentence stands here, and that is all there is to it.")
    assert len(found.windows) == 1
    assert found.probability == found.windows[0].probability


def test_it_answers_for_each_text_on_its_own(scorer: Scorer) -> None:
    request = ScoreRequest(
        "run",
        2,
        scorer.model_version,
        (TextIn("a", " \n", "en"), TextIn("b", HUMAN, "en"), TextIn("c", HUMAN, "xx"), TextIn("d", "", "en")),
    )
    answer = scorer.score(request)
    assert [t.error for t in answer.texts] == ["empty", "", "language", "empty"]
    assert [bool(t.windows) for t in answer.texts] == [False, True, False, False]


def test_it_refuses_to_answer_for_another_model(scorer: Scorer) -> None:
    answer = scorer.score(ScoreRequest("run", 1, "000000000000", (TextIn("a", HUMAN, "en"),)))
    assert answer.texts[0].error == "version"


def test_it_answers_an_empty_request(scorer: Scorer) -> None:
    assert scorer.score(ScoreRequest("run", 1, scorer.model_version, ())).texts == ()


def test_it_speaks_the_contract(scorer: Scorer) -> None:
    request = ScoreRequest("run", 1, scorer.model_version, (TextIn("a", AI, "en"),))
    answer = scorer.score(request)
    assert ScoreResponse.from_json(json.loads(json.dumps(answer.to_json()))) == answer
    assert answer.normaliser_version == NORMALISER_VERSION


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1, max_size=400))
def test_it_survives_any_characters(scorer: Scorer, text: str) -> None:
    for sent in (text, read(text).text):
        (found,) = ask(scorer, sent)
        assert found.error == ("" if sent.strip() else "empty")
        assert 0.0 <= found.probability <= 1.0


def test_it_survives_lone_surrogates_and_endless_words(scorer: Scorer) -> None:
    (endless,) = ask(scorer, "x" * 20_000)
    assert endless.windows[-1].end == 20_000
    (found,) = ask(scorer, "A lone \ud800 surrogate is no character, yet the text goes on for a while.")
    assert found.error == "characters"


@given(st.lists(st.integers(1, 300), max_size=40), st.integers(50, 2000))
def test_it_packs_batches_within_the_budget(lengths: list[int], budget: int) -> None:
    ordered = sorted(lengths)
    found = batches(ordered, budget)
    assert [i for chosen in found for i in chosen] == list(range(len(ordered)))
    assert all(len(chosen) == 1 or len(chosen) * ordered[chosen[-1]] <= budget for chosen in found)
