from detector.models.batch import Batch
from detector.models.submission import Submission
from detector.models.verdict import Verdict
from detector.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent

__all__ = ["Batch", "Submission", "Verdict", "WebhookDelivery", "WebhookEndpoint", "WebhookEvent"]
