"""Is an answer one that we may show? Worn by every backend that gets its answers from another machine. Pure."""

from dataclasses import replace

from gpujobs.pod.contract import ContractError, ScoreRequest, ScoreResponse, TextOut, match

SUBMISSIONS = 2  # at most: a hand-over in doubt is repeated once, under the next attempt


def settle(request: ScoreRequest, response: ScoreResponse, submissions: int = SUBMISSIONS) -> ScoreResponse:
    """The answer under the attempt that the caller asked with, whichever submission of the batch it belongs to.

    Raises ContractError as `check` does.
    """
    ours = range(request.attempt, request.attempt + submissions)
    same = replace(response, attempt=request.attempt) if response.attempt in ours else response
    check(request, same)
    return same


def check(request: ScoreRequest, response: ScoreResponse) -> None:
    """Raises ContractError unless the response answers exactly this request, and each text plausibly, to its end.

    Finite numbers are the contract's own rule already.
    """
    match(request, response)
    check_texts(response)
    for sent, answer in zip(request.texts, response.texts, strict=True):
        if answer.windows and answer.windows[-1].end != len(sent.text):
            raise ContractError("the windows do not end where the text does")


def check_texts(response: ScoreResponse) -> None:
    """What can be said of an answer without its request. Raises ContractError."""
    if response.execution_ms < 0:
        raise ContractError("a time is negative")
    for text in response.texts:
        _check_text(text)


def _check_text(text: TextOut) -> None:
    if bool(text.error) == bool(text.windows):
        raise ContractError("a text has neither windows nor an error, or both")
    if text.tokens < 0:
        raise ContractError("a number of tokens is negative")
    if not all(0.0 <= p <= 1.0 for p in (text.probability, *(w.probability for w in text.windows))):
        raise ContractError("a probability is not between 0 and 1")
    at = 0
    for window in text.windows:
        if window.start != at or window.end <= at:
            raise ContractError("the windows have gaps")
        at = window.end
