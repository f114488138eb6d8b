"""A few made-up alerts for the page that lists them: `fill(now)`. As the product writes them, but for their causes."""

from datetime import datetime, timedelta

from gpujobs.models import Alert, AlertWatch

CENT = 10_000_000  # nano-dollars
CARD = "gpu:runpod/NVIDIA RTX A4000"
POD = "machine:training/runpod/NVIDIA RTX A5000"
# rule, series, hours ago, hours that it went on (None: it goes on), window, actual, expected, an hour more (cents)
ALERTS = (
    ("forgotten", POD, 7, None, 6, 162, 0, 27),
    ("day", "kind:idle", 30, None, 24, 574, 192, 16),
    ("price", CARD, 200, 170, 4, 75, 58, 17),
    ("hours", "version:inkcloak-en-es-2026-11-next", 420, 9, 4, 344, 111, 58),
    ("week", "all", 600, 48, 168, 5729, 4657, 8),
    ("budget_soft", "budget:global-month", 300, 48, 0, 2011, 2000, 0),
)
TOP = [["service:inference", 214 * CENT], ["version:inkcloak-en-es-2026-11-next", 190 * CENT], ["kind:idle", 96 * CENT]]


def fill(now: datetime) -> None:
    for rule, of, ago, lasted, hours, actual, expected, more in reversed(ALERTS):
        at = now - timedelta(hours=ago)
        made = Alert.objects.create(
            rule=rule,
            series=of,
            period=at,
            began_at=at - timedelta(hours=hours),
            raised_at=at,
            ended_at=None if lasted is None else at + timedelta(hours=lasted),
            hours=hours,
            actual_nanousd=actual * CENT,
            expected_nanousd=expected * CENT,
            enter_nanousd=expected * CENT,
            an_hour_nanousd=more * CENT,
            days=0 if rule == "forgotten" else 28,
            facts={} if hours == 0 else {"top": TOP, "forecast": [2871 * CENT, 2650 * CENT, 3102 * CENT]},
        )
        if lasted is None:
            AlertWatch.objects.create(rule=rule, series=of, status="firing", since=at, alert=made)
