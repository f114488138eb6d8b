from detector.models.activity import ActivityLine, ActivityQuarter, WeeklyReport
from detector.models.batch import Batch
from detector.models.share import Share
from detector.models.submission import Submission
from detector.models.verdict import Verdict
from detector.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent

__all__ = [
    "ActivityLine",
    "ActivityQuarter",
    "Batch",
    "Share",
    "Submission",
    "Verdict",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEvent",
    "WeeklyReport",
]
