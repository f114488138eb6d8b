"""A watch's states, and when it moves. Pure.

        OK --above--> PENDING --long enough--> FIRING --below half--> RECOVERING --long enough--> OK
                         \\--not any more--> OK    ^--------above again-------/

Long enough: hours of each rule. A peak that is over before that was never an alert; a pause of an hour ends none.
"""

from gpujobs.alerts import rules
from gpujobs.alerts.rules import Finding

OK, PENDING, FIRING, RECOVERING = "ok", "pending", "firing", "recovering"
MOVES = {
    OK: frozenset({PENDING}),
    PENDING: frozenset({OK, FIRING}),
    FIRING: frozenset({RECOVERING}),
    RECOVERING: frozenset({OK, FIRING}),
}
SUSTAINED = {rules.HOURS: 2, rules.DAY: 3, rules.WEEK: 6, rules.FORGOTTEN: 0, rules.PRICE: 2, rules.FORECAST: 6}
CALM = {rules.HOURS: 6, rules.DAY: 12, rules.WEEK: 24, rules.FORGOTTEN: 2, rules.PRICE: 24, rules.FORECAST: 24}


def following(rule: str, status: str, since: int, finding: Finding | None, hour: int) -> str | None:
    """The next state; None to stay. since: the hour of the last move.  No finding: not enough is known any more."""
    above, below = finding is not None and finding.above, finding is None or finding.below
    if status == OK:
        return PENDING if above else None
    if status == PENDING:
        if not above:
            return OK
        return FIRING if hour - since >= SUSTAINED[rule] else None
    if status == FIRING:
        return RECOVERING if below else None
    if above:
        return FIRING
    return OK if below and hour - since >= CALM[rule] else None
