"""What tests build with: rows through the product's own verbs, a manifest, a scripted backend, threads.

No test double stands in the middle of our code: the scripted backend implements the public `Backend` face.
"""

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, TypeVar

import samples
from django.db import connections

from billing.accounts import Owner, account_of
from billing.models import User
from detector import dispatch, intake
from detector.models import Submission
from gpujobs import registry
from gpujobs.backends import AS_USUAL, Accepted, Answer, Order, Usage
from gpujobs.models import ModelVersion
from gpujobs.pod.contract import ScoreRequest, ScoreResponse, TextIn, TextOut, WindowScore
from gpujobs.pod.shared.normalise import NORMALISER_VERSION

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
PASSWORD = "a long enough password"
WINDOW_CHARACTERS = 300
PATIENCE_SECONDS = 20.0
T = TypeVar("T")

LIMITS = {
    "0.005": {"document": 0.95, "window": 0.97},
    "0.01": {"document": 0.90, "window": 0.95},
    "0.05": {"document": 0.70, "window": 0.80},
}
MANIFEST: dict[str, Any] = {
    "model": "inkcloak-test",
    "model_version": "test-version-1",
    "normaliser_version": NORMALISER_VERSION,
    "calibration_version": "1",
    "min_words": 50,
    "languages": ["en", "es"],
    "thresholds": {"en": LIMITS, "es": LIMITS},
    "default_max_fpr": 0.01,
    "rate_card": [
        {"language": "en", "genre": "any", "words": [50, 100_000], "k": 8, "n": 900, "low": 0.004, "high": 0.017},
        {"language": "en", "genre": "any", "words": [100, 199], "k": 2, "n": 300, "low": 0.002, "high": 0.024},
        {"language": "en", "genre": "essay", "words": [120, 160], "k": 1, "n": 200, "low": 0.001, "high": 0.028},
    ],
}


# --- People and models ------------------------------------------------------------------------------------


def person(name: str, **fields: Any) -> User:
    """A user with an account of their own."""
    user = User.objects.create_user(f"{name}@example.com", PASSWORD, **fields)
    account_of(user)
    return user


def owner(user: User) -> Owner:
    """Who this person is to the detector."""
    return Owner(account=account_of(user), user=user, address_key=f"address-of-{user.pk}")


def visitor(address: str = "198.51.100.7") -> Owner:
    """Somebody without an account, known by a number, counted by address."""
    return Owner(visitor=uuid.uuid4(), address_key=address)


def version(**changes: Any) -> ModelVersion:
    """A registered model version; `changes` go into its manifest."""
    manifest = deepcopy(MANIFEST) | changes
    return ModelVersion.objects.create(version=manifest["model_version"], name=manifest["model"], manifest=manifest)


def champion(**changes: Any) -> ModelVersion:
    """The version in service."""
    made = version(**changes)
    registry.promote(made, reason="a test needs it")
    return made


# --- Texts on their way -------------------------------------------------------------------------------------


def accepted(by: Owner, text: str = samples.HUMAN, *, now: datetime = NOW, **fields: Any) -> Submission:
    """A text as intake takes it."""
    return intake.accept(owner=by, text=text, source=Submission.Source.PAGE, now=now, **fields)


def checked(by: Owner, text: str = samples.HUMAN, *, probability: float = 0.99, now: datetime = NOW) -> Submission:
    """A text with its verdict, through queue, run and collection."""
    submission = accepted(by, text, now=now, reuse=False)
    dispatch.next_batch(now=now, backend=ScriptedBackend(probability))
    submission.refresh_from_db()
    return submission


# --- Scores -------------------------------------------------------------------------------------------------


def request(*texts: str, version: str = "test-version-1", run: str = "run-1") -> ScoreRequest:
    """A request for these texts, numbered from t0."""
    return ScoreRequest(run, 1, version, tuple(TextIn(f"t{n}", text, "en") for n, text in enumerate(texts)))


def scores(text: TextIn, probability: float) -> TextOut:
    """Windows of 300 characters, all with that probability."""
    length = len(text.text)
    windows = tuple(
        WindowScore(start, min(start + WINDOW_CHARACTERS, length), 2 * probability - 1, probability)
        for start in range(0, length, WINDOW_CHARACTERS)
    )
    return TextOut(text.id, 2 * probability - 1, probability, windows, tokens=length // 4)


def failed(text: TextOut, code: str) -> TextOut:
    """The answer for a text that could not be scored."""
    return TextOut(text.id, 0.0, 0.0, (), 0, code)


def response(to: ScoreRequest, texts: Sequence[TextOut]) -> ScoreResponse:
    """The answer of a pod to `to`."""
    return ScoreResponse(
        run_id=to.run_id,
        attempt=to.attempt,
        model="inkcloak-test",
        model_version=to.model_version,
        calibration_version="1",
        normaliser_version=NORMALISER_VERSION,
        texts=tuple(texts),
        execution_ms=7,
    )


class ScriptedBackend:
    """Answers each request with `probability`, unless its script has something else to do first.

    script: one entry a request; an exception is raised, a function gets the request and returns the outcome.
    """

    name = "local"
    tier = "cpu"

    def __init__(self, probability: float = 0.99, script: Sequence[Exception | Callable[..., Any]] = ()) -> None:
        self.probability = probability
        self.script = deque(script)
        self.requests: list[ScoreRequest] = []
        self.orders: list[Order] = []
        self.polls: deque[Any] = deque()  # what `poll` gives in turn: None, an Answer, an exception
        self.cancelled: list[str] = []

    def warm(self, model_version: str) -> None:
        """Nothing to load."""

    def start(self, request: ScoreRequest, order: Order = AS_USUAL) -> Answer | Accepted:
        self.requests.append(request)
        self.orders.append(order)
        step = self.script.popleft() if self.script else self.answer
        if isinstance(step, Exception):
            raise step
        outcome: Answer | Accepted = step(request)
        return outcome

    def poll(self, external_id: str) -> Answer | None:
        told: Answer | Exception | None = self.polls.popleft() if self.polls else None
        if isinstance(told, Exception):
            raise told
        return told

    def cancel(self, external_id: str) -> Usage | None:
        self.cancelled.append(external_id)
        return Usage(delay_ms=40, execution_ms=60, worker_id="w1")

    def answer(self, request: ScoreRequest) -> Answer:
        return Answer(response(request, [scores(text, self.probability) for text in request.texts]))


# --- Time and threads ---------------------------------------------------------------------------------------


def eventually(look: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """What `look()` gives once it is true; fails when that takes longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, f"it did not happen within {seconds:g} s"
        time.sleep(0.02)
    return seen


def together(work: Callable[[int], T], count: int) -> list[T | Exception]:
    """Runs work(0) … work(count - 1) in as many threads, let loose at once; what each returned or raised."""
    found: list[Any] = [None] * count
    gate = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            gate.wait(PATIENCE_SECONDS)
            found[number] = work(number)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            found[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive(), "a thread is stuck"
    return found
