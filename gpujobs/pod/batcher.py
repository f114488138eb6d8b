"""Dynamic batching inside a worker: texts of all jobs that are here share forward passes.

Nothing waits while the engine is idle; what arrives during a pass goes into the next one. The job with the fewest texts
left goes first, so that one pasted text never queues behind a bulk job; a quarter of a pass belongs to a job that was
passed over `patience` times. Within a job neighbours in length go together, the shorter first (padding is cost).
A pass runs in a thread: the event loop stays free to take jobs, stop them and post results.

A pass that fails is halved until the bad text stands alone and fails alone. May be imported by: handler.py. Standard
library only.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from gpujobs.pod.contract import TextIn, TextOut

CHARACTERS_A_TOKEN = 4  # for packing only; the engine counts for itself
ENGINE_ERROR = "engine"  # the code of a text on which the engine fails

Score = Callable[[Sequence[TextIn]], Sequence[TextOut]]


class EngineDead(RuntimeError):
    """The engine fails on a text that it scored before: the process must be replaced."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one pass. texts: at most.  tokens: at most, about (one text always fits).  patience: see the module."""

    texts: int = 64
    tokens: int = 16_384
    patience: int = 4


@dataclass(eq=False, slots=True)
class Entry:
    """One text of a job. place: its index in the job."""

    text: TextIn
    place: int
    tokens: int


@dataclass(eq=False, slots=True)
class Ticket:
    """One job: its texts that still wait (the longest first: they are taken from the end) and the answers so far."""

    left: list[Entry]
    found: list[TextOut | None]
    done: "asyncio.Future[None]"
    passed_over: int = 0
    busy_ms: float = 0.0
    under_way: int = 0

    @property
    def complete(self) -> bool:
        return not self.left and not self.under_way


@dataclass(eq=False)
class Batcher:
    """score: texts to answers, in order; called in one thread, one call at a time.  probe: a text that it can score,
    to tell a bad text from a dead engine."""

    score: Score
    probe: TextIn
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self._waiting: list[Ticket] = []
        self._running: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="engine")

    async def submit(self, texts: Sequence[TextIn]) -> tuple[list[TextOut], int]:
        """Answers of the texts, in order, and the milliseconds of engine time that were theirs.

        Raises EngineDead. A cancelled caller's texts leave the queue.
        """
        entries = [Entry(text, place, 1 + len(text.text) // CHARACTERS_A_TOKEN) for place, text in enumerate(texts)]
        entries.sort(key=lambda entry: -entry.tokens)
        ticket = Ticket(entries, [None] * len(texts), asyncio.get_running_loop().create_future())
        if not texts:
            return [], 0
        self._waiting.append(ticket)
        if self._running is None:
            self._running = asyncio.create_task(self._work())
        try:
            await ticket.done
        finally:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
        return [out for out in ticket.found if out is not None], round(ticket.busy_ms)

    async def _work(self) -> None:
        """Passes until nothing waits."""
        try:
            while self._waiting:
                await asyncio.sleep(0)  # jobs that arrived together get in together
                chosen = take(self._waiting, self.limits)
                if chosen:
                    await self._pass(chosen)
                self._waiting = [ticket for ticket in self._waiting if ticket.left]
        except Exception as error:  # a fault of ours must not leave jobs waiting for ever
            for ticket in self._waiting:
                if not ticket.done.done():
                    ticket.done.set_exception(EngineDead(type(error).__name__))
            self._waiting = []
            raise
        finally:
            self._running = None

    async def _pass(self, chosen: Sequence[tuple[Ticket, Entry]]) -> None:
        loop = asyncio.get_running_loop()
        started = time.monotonic()
        for ticket, _ in chosen:
            ticket.under_way += 1
        texts = [entry.text for _, entry in chosen]
        try:
            answers = await loop.run_in_executor(self._thread, self._bravely, texts)
        except EngineDead as dead:
            for ticket in {id(ticket): ticket for ticket, _ in chosen}.values():
                if not ticket.done.done():
                    ticket.done.set_exception(dead)
                ticket.left.clear()
            return
        seconds = time.monotonic() - started
        self._account(chosen, answers, seconds)

    def _account(self, chosen: Sequence[tuple[Ticket, Entry]], answers: Sequence[TextOut], seconds: float) -> None:
        tokens = sum(entry.tokens for _, entry in chosen)
        for (ticket, entry), answer in zip(chosen, answers, strict=True):
            ticket.found[entry.place] = replace(answer, id=entry.text.id)
            ticket.busy_ms += 1000 * seconds * entry.tokens / tokens
            ticket.under_way -= 1
            if ticket.complete and not ticket.done.done():
                ticket.done.set_result(None)

    # --- In the engine's thread -----------------------------------------------------------------------------------

    def _bravely(self, texts: Sequence[TextIn]) -> list[TextOut]:
        """Every text's answer; the engine's failures are halved down to the texts that cause them."""
        try:
            return list(self._numbered(texts))
        except Exception:  # noqa: BLE001 - an engine may raise anything, and its message may quote the text
            if len(texts) > 1:
                middle = len(texts) // 2
                return self._bravely(texts[:middle]) + self._bravely(texts[middle:])
            self._check_alive()
            return [TextOut(texts[0].id, 0.0, 0.0, (), 0, ENGINE_ERROR)]

    def _numbered(self, texts: Sequence[TextIn]) -> Sequence[TextOut]:
        """Under ids of our own: two jobs may call a text alike."""
        sent = [replace(text, id=str(number)) for number, text in enumerate(texts)]
        answers = self.score(sent)
        if [answer.id for answer in answers] != [text.id for text in sent]:
            raise ValueError("the engine answers for other texts")
        return answers

    def _check_alive(self) -> None:
        try:
            self._numbered([self.probe])
        except Exception as error:  # noqa: BLE001 - whatever it is, the engine is gone
            raise EngineDead(type(error).__name__) from None


def take(waiting: Sequence[Ticket], limits: Limits) -> list[tuple[Ticket, Entry]]:
    """The next pass: takes entries out of the tickets, in the order that the module describes."""
    chosen: list[tuple[Ticket, Entry]] = []
    tokens = 0

    def fill(ticket: Ticket, most: int) -> None:
        nonlocal tokens
        while ticket.left and len(chosen) < most:
            if chosen and tokens + ticket.left[-1].tokens > limits.tokens:
                return
            chosen.append((ticket, ticket.left.pop()))
            tokens += chosen[-1][1].tokens

    starved = max(waiting, key=lambda ticket: ticket.passed_over)
    if starved.passed_over >= limits.patience:
        fill(starved, max(1, limits.texts // 4))
    for ticket in sorted(waiting, key=lambda ticket: len(ticket.left)):
        fill(ticket, limits.texts)
    served = {id(ticket) for ticket, _ in chosen}
    for ticket in waiting:
        ticket.passed_over = 0 if id(ticket) in served else ticket.passed_over + 1
    return chosen
