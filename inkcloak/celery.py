"""The Celery application and the whole beat schedule as one table.

A message is only a wake-up: each task finds its work in rows, so a lost message costs seconds (the sweep) and a
doubled one nothing.
"""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")

app = Celery("inkcloak")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

SWEEP_SECONDS = 5
COST_SECONDS = 10
BUDGET_SECONDS = 30
MINUTE_SECONDS = 60
QUARTER_SECONDS = 900
HOUR_SECONDS = 3600

app.conf.beat_schedule = {
    "detector-sweep": {
        "task": "detector.tasks.sweep",
        "schedule": SWEEP_SECONDS,
        "options": {"expires": SWEEP_SECONDS},
    },
    "detector-webhooks": {
        "task": "detector.tasks.deliver_webhooks",
        "schedule": SWEEP_SECONDS,
        "options": {"expires": SWEEP_SECONDS},
    },
    "detector-forget": {
        "task": "detector.tasks.forget",
        "schedule": HOUR_SECONDS,
        "options": {"expires": HOUR_SECONDS},
    },
    "detector-activity": {
        "task": "detector.tasks.fold_activity",
        "schedule": MINUTE_SECONDS,
        "options": {"expires": MINUTE_SECONDS},
    },
    "detector-weekly-report": {
        "task": "detector.tasks.weekly_report",
        "schedule": HOUR_SECONDS,
        "options": {"expires": HOUR_SECONDS},
    },
    "gpujobs-cost": {
        "task": "gpujobs.tasks.cost",
        "schedule": COST_SECONDS,
        "options": {"expires": COST_SECONDS},
    },
    "gpujobs-reconcile": {
        "task": "gpujobs.tasks.reconcile",
        "schedule": HOUR_SECONDS,
        "options": {"expires": HOUR_SECONDS},
    },
    "gpujobs-budgets": {
        "task": "gpujobs.tasks.watch_budgets",
        "schedule": BUDGET_SECONDS,
        "options": {"expires": BUDGET_SECONDS},
    },
    "gpujobs-alerts": {
        "task": "gpujobs.tasks.alert",
        "schedule": QUARTER_SECONDS,
        "options": {"expires": QUARTER_SECONDS},
    },
    "billing-forget": {
        "task": "billing.tasks.forget",
        "schedule": HOUR_SECONDS,
        "options": {"expires": HOUR_SECONDS},
    },
    "billing-stripe-sweep": {
        "task": "billing.tasks.sweep_stripe_events",
        "schedule": MINUTE_SECONDS,
        "options": {"expires": MINUTE_SECONDS},
    },
    "billing-stripe-catch-up": {
        "task": "billing.tasks.catch_up_with_stripe",
        "schedule": HOUR_SECONDS,
        "options": {"expires": HOUR_SECONDS},
    },
}


@setup_logging.connect
def _keep_our_logging(**_kwargs: Any) -> None:
    """With a receiver, Celery leaves logging as settings.LOGGING made it (its own format prints task arguments)."""
    import logging.config

    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
