"""Languages told apart at fifty words, so that an unsupported one is refused and no learner's English is."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_strategies import hostile_text, unhurried

from gpujobs.pod.shared.language import Guess, detect, settle

TEXTS = {
    "en": (
        "Yesterday I am go to the market with my friend because she want buy some vegetable for cooking. The market "
        "is very crowd and the people is talk very loud. We was buy tomato and onion and after that we go back in "
        "home by bus."
    ),
    "es": (
        "Yo fui a la playa con mi familia el verano pasado y nosotros comimos mucha comida muy rica. Mi hermana no le"
        " gusta el agua pero yo nadé todos los días porque es divertido y el tiempo fue muy bueno."
    ),
    "fr": (
        "Le conseil municipal a décidé hier soir de reporter la construction de la nouvelle école, car le budget "
        "prévu ne suffit plus à couvrir les dépenses. Les parents d'élèves sont déçus, mais le maire assure que les "
        "travaux commenceront."
    ),
    "pt": (
        "O conselho municipal decidiu ontem à noite adiar a construção da nova escola, porque o orçamento previsto já"
        " não chega para cobrir as despesas. Os pais dos alunos estão desiludidos, mas as obras vão começar no "
        "próximo ano."
    ),
    "ca": (
        "El consell municipal va decidir ahir a la nit ajornar la construcció de la nova escola, perquè el pressupost"
        " previst ja no arriba per cobrir les despeses. Els pares dels alumnes estan decebuts, però les obres "
        "començaran."
    ),
    "gl": (
        "O concello decidiu onte pola noite aprazar a construción da nova escola, porque o orzamento previsto xa non "
        "chega para cubrir os gastos. Os pais dos alumnos están decepcionados, pero as obras comezarán o ano que vén."
    ),
    "de": (
        "Der Gemeinderat hat gestern Abend beschlossen, den Bau der neuen Schule zu verschieben, weil das vorgesehene"
        " Budget nicht mehr ausreicht. Die Eltern sind enttäuscht, aber die Arbeiten werden im nächsten Jahr "
        "beginnen."
    ),
    "it": (
        "Il consiglio comunale ha deciso ieri sera di rinviare la costruzione della nuova scuola, perché il bilancio "
        "previsto non basta più a coprire le spese. I genitori sono delusi, ma il sindaco assicura che i lavori "
        "cominceranno."
    ),
    "zh": "市议会昨晚决定推迟新学校的建设，因为预算已经不足以支付费用。家长们感到失望，但市长保证工程将在明年开始。",
    "ar": "قرر المجلس البلدي مساء أمس تأجيل بناء المدرسة الجديدة لأن الميزانية المقررة لم تعد تكفي لتغطية النفقات.",
    "ru": (
        "Городской совет вчера вечером решил отложить строительство новой школы, потому что бюджета уже не хватает на"
        " расходы."
    ),
}


@pytest.mark.parametrize("language", TEXTS)
def test_it_tells_the_language(language: str) -> None:
    guess = detect(TEXTS[language])
    assert guess.language == language
    assert 0.5 <= guess.confidence <= 1.0


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_tells_the_language_of_capitals(language: str) -> None:
    assert detect(TEXTS[language].upper()).language == language


@pytest.mark.parametrize("text", ["", "   ", "1 2 3 4", "😀 😀 😀", "ok", "\ud800\x00"])
def test_it_says_und_where_there_is_no_language(text: str) -> None:
    assert detect(text) == Guess("und", 0.0)


def test_it_says_und_for_letters_without_sense() -> None:
    assert detect("asdf qwer zxcv uiop hjkl asdf qwer zxcv uiop hjkl mnbv qpwo eiru tyal skdj fhgz").language == "und"


def test_it_reads_both_ends_of_a_long_text() -> None:
    assert detect(TEXTS["en"] * 100 + TEXTS["fr"] * 300 + TEXTS["en"] * 100).language == "en"


@unhurried
@given(hostile_text)
def test_it_never_fails(text: str) -> None:
    guess = detect(text)
    assert 0.0 <= guess.confidence <= 1.0
    assert detect(text) == guess


def test_it_loads_no_model_before_the_first_question() -> None:
    code = "import sys, gpujobs.pod.shared.language; sys.exit('py3langid' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Names, numbers and words of a trade: any language may hold them.
TRADE = "kubectl nginx docker postgres redis celery uvicorn gunicorn async await lambda " * 6


@pytest.mark.parametrize("said", ["en", "es", "de", "zz"])
@pytest.mark.parametrize("language", TEXTS)
def test_what_is_said_of_a_text_does_not_make_it_another_language(language: str, said: str) -> None:
    assert settle(TEXTS[language], said) == detect(TEXTS[language])


def test_what_is_said_decides_where_the_text_leaves_it_open() -> None:
    assert detect(TRADE).language == "und"
    assert settle(TRADE, "en").language == "en"
    assert settle(TRADE.upper(), "en").language == "en"


@pytest.mark.parametrize("said", ["", "es", "ja", "zz"])
def test_it_decides_for_no_language_that_the_text_is_not_in(said: str) -> None:
    assert settle(TRADE, said).language == "und"


@pytest.mark.parametrize("text", ["", "   ", "12345 67890", "🎉" * 100])
def test_nothing_is_said_of_a_text_without_letters(text: str) -> None:
    assert settle(text, "en") == Guess("und", 0.0)


@unhurried
@given(hostile_text, st.sampled_from(["en", "es", "", "zz"]))
def test_it_settles_whatever_comes(text: str, said: str) -> None:
    assert settle(text, said).language in (detect(text).language, said)
