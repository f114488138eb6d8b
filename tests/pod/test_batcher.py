"""Texts of several jobs in shared passes: who goes first, what fits, and what happens when a pass fails."""

import asyncio
import threading
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.batcher import Batcher, EngineDead, Entry, Limits, Ticket, take
from gpujobs.pod.contract import TextIn, TextOut, WindowScore


def text(words: str, name: str = "a") -> TextIn:
    return TextIn(name, words, "en")


def answer(to: TextIn) -> TextOut:
    length = float(len(to.text))
    return TextOut(to.id, length, 0.5, (WindowScore(0, len(to.text), length, 0.5),), tokens=1)


class Engine:
    """Answers with the length of each text; keeps what it was given; a text with `bad` in it makes it fail."""

    def __init__(self) -> None:
        self.passes: list[list[str]] = []
        self.gate: threading.Event | None = None
        self.dead = False
        self.threads: set[str] = set()

    def __call__(self, texts: Sequence[TextIn]) -> list[TextOut]:
        self.threads.add(threading.current_thread().name)
        self.passes.append([sent.text for sent in texts])
        if self.gate is not None:
            assert self.gate.wait(10)
        if self.dead or any("bad" in sent.text for sent in texts):
            raise RuntimeError(texts[0].text)
        return [answer(sent) for sent in texts]


def batcher(engine: Callable[[Sequence[TextIn]], Sequence[TextOut]], **limits: int) -> Batcher:
    return Batcher(engine, text("probe"), Limits(**limits))


def together(engine: Engine, *jobs: Sequence[str], **limits: int) -> list[list[float]]:
    """Scores of jobs that arrive at once."""

    async def run() -> list[list[float]]:
        shared = batcher(engine, **limits)
        found = await asyncio.gather(*(shared.submit([text(words) for words in job]) for job in jobs))
        return [[out.score for out in outs] for outs, _ in found]

    return asyncio.run(run())


def test_it_answers_each_job_in_its_own_order() -> None:
    engine = Engine()
    assert together(engine, ["ccc", "a", "bb"], ["dddd"], []) == [[3, 1, 2], [4], []]
    assert len(engine.passes) == 1  # all were there when the first pass began
    assert engine.threads == {"engine_0"}


def test_it_runs_alone_at_once_and_gathers_what_arrives_meanwhile() -> None:
    engine = Engine()
    engine.gate = threading.Event()

    async def run() -> None:
        shared = batcher(engine)
        first = asyncio.create_task(shared.submit([text("first")]))
        while not engine.passes:
            await asyncio.sleep(0.001)
        rest = [asyncio.create_task(shared.submit([text(f"later {n}")])) for n in range(3)]
        await asyncio.sleep(0.01)
        assert len(engine.passes) == 1
        engine.gate.set()
        await asyncio.gather(first, *rest)

    asyncio.run(run())
    assert engine.passes == [["first"], ["later 0", "later 1", "later 2"]]


def test_it_keeps_within_its_limits() -> None:
    engine = Engine()
    together(engine, ["x"] * 7, texts=3)
    assert [len(each) for each in engine.passes] == [3, 3, 1]
    engine = Engine()
    together(engine, ["x" * 36] * 4 + ["x" * 400], tokens=25)  # 10 tokens each, and one that never fits
    assert [len(each) for each in engine.passes] == [2, 2, 1]


def test_it_lets_the_smallest_job_go_first() -> None:
    engine = Engine()
    together(engine, [f"bulk {n}" for n in range(9)], ["pasted"], texts=4)
    assert "pasted" in engine.passes[0]


def test_it_puts_neighbours_in_length_together() -> None:
    engine = Engine()
    together(engine, ["x" * 400, "x" * 8, "x" * 390, "x" * 4], texts=2)
    assert [[len(words) for words in each] for each in engine.passes] == [[4, 8], [390, 400]]


def test_it_starves_no_job() -> None:
    limits = Limits(texts=4, patience=3)
    bulk = ticket(["bulk"] * 8)
    for number in range(4):
        small = [ticket(["small"]) for _ in range(4)]
        served = {id(owner) for owner, _ in take([bulk, *small], limits)}
        assert (id(bulk) in served) == (number == 3)
    assert bulk.passed_over == 0


def ticket(words: Sequence[str]) -> Ticket:
    entries = [Entry(text(word), place, 1 + len(word) // 4) for place, word in enumerate(words)]
    return Ticket(entries, [None] * len(words), None)  # type: ignore[arg-type]


@given(st.lists(st.lists(st.text(max_size=40), min_size=1, max_size=9), min_size=1, max_size=5),
       st.integers(1, 6), st.integers(1, 20))  # fmt: skip
def test_it_takes_each_text_once(jobs: list[list[str]], texts: int, tokens: int) -> None:
    tickets, limits, taken = [ticket(words) for words in jobs], Limits(texts, tokens), []
    while any(each.left for each in tickets):
        chosen = take([each for each in tickets if each.left], limits)
        assert 1 <= len(chosen) <= texts
        assert len(chosen) == 1 or sum(entry.tokens for _, entry in chosen) <= tokens
        taken += [(id(owner), entry.place) for owner, entry in chosen]
    assert sorted(taken) == sorted((id(each), n) for each in tickets for n in range(len(each.found)))


def test_it_leaves_one_bad_text_alone_with_its_error() -> None:
    engine = Engine()

    async def run() -> list[str]:
        outs, _ = await batcher(engine).submit([text("one"), text("bad two"), text("three"), text("four")])
        return [out.error for out in outs]

    assert asyncio.run(run()) == ["", "engine", "", ""]


def test_it_says_when_the_engine_is_dead() -> None:
    engine = Engine()
    engine.dead = True

    async def run() -> None:
        shared = batcher(engine)
        both = await asyncio.gather(*(shared.submit([text("secret")]) for _ in range(2)), return_exceptions=True)
        assert [type(each) for each in both] == [EngineDead, EngineDead]
        assert [str(each) for each in both] == ["RuntimeError"] * 2  # no message: it quotes a text
        engine.dead = False
        (out,), _ = await shared.submit([text("again")])
        assert out.score == 5

    asyncio.run(run())


def test_it_forgets_a_cancelled_job() -> None:
    engine = Engine()
    engine.gate = threading.Event()

    async def run() -> None:
        shared = batcher(engine, texts=1)
        kept = asyncio.create_task(shared.submit([text("kept")]))
        gone = asyncio.create_task(shared.submit([text("gone"), text("gone too")]))
        while not engine.passes:
            await asyncio.sleep(0.001)
        gone.cancel()
        await asyncio.sleep(0)
        engine.gate.set()
        await kept
        with pytest.raises(asyncio.CancelledError):
            await gone
        await shared.submit([text("next")])

    asyncio.run(run())
    assert engine.passes == [["kept"], ["next"]]


def test_it_gives_each_job_its_share_of_the_time() -> None:
    def slow(texts: Sequence[TextIn]) -> list[TextOut]:
        threading.Event().wait(0.05)
        return [answer(sent) for sent in texts]

    async def run() -> list[int]:
        shared = batcher(slow)
        found = await asyncio.gather(shared.submit([text("x" * 396)]), shared.submit([text("x" * 96)]))
        return [milliseconds for _, milliseconds in found]

    long, short = asyncio.run(run())
    assert 3 * short <= long <= 5 * short
    assert 45 <= long + short <= 500


@pytest.mark.parametrize("spoil", [lambda outs: outs[:-1], lambda outs: outs[::-1]])
def test_it_takes_no_answer_of_other_texts(spoil) -> None:
    async def run() -> list[str]:
        shared = batcher(
            lambda texts: [answer(sent) for sent in texts] if len(texts) == 1 else spoil(list(map(answer, texts)))
        )
        outs, _ = await shared.submit([text("a"), text("bb")])
        return [out.error for out in outs]

    assert asyncio.run(run()) == ["", ""]  # halved until each is answered alone
