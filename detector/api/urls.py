"""Addresses below /api/v1/. Ids are strings here: one that is none must be the same 404 as a stranger's."""

from django.urls import path

from detector.api import batches, catalogue, exports, files, reports, shares, views, webhooks
from detector.api.waiting import patient

app_name = "detector_api"
urlpatterns = [
    path("detections", patient(views.Detections), name="detections"),
    path("detections/batch", batches.CreateBatch.as_view(), name="create_batch"),
    path("detections/files", files.CreateFromFiles.as_view(), name="create_from_files"),
    path("detections/export", exports.Export.as_view(), name="export"),
    path("detections/<str:detection_id>", patient(views.Detection), name="detection"),
    path("detections/<str:detection_id>/rerun", patient(views.Rerun), name="rerun"),
    path("detections/<str:detection_id>/shares", shares.Shares.as_view(), name="shares"),
    path("detections/<str:detection_id>/shares/<str:share_id>", shares.OneShare.as_view(), name="one_share"),
    path("detections/<str:detection_id>/report", reports.SignedJson.as_view(), name="report"),
    path("detections/<str:detection_id>/report.pdf", reports.Pdf.as_view(), name="report_pdf"),
    path("batches/<str:batch_id>", batches.ReadBatch.as_view(), name="batch"),
    path("webhooks", webhooks.Webhooks.as_view(), name="webhooks"),
    path("webhooks/<str:webhook_id>", webhooks.OneWebhook.as_view(), name="webhook"),
    path("webhooks/<str:webhook_id>/rotate", webhooks.Rotation.as_view(), name="webhook_rotate"),
    path("webhooks/<str:webhook_id>/test", webhooks.TestMessage.as_view(), name="webhook_test"),
    path("webhooks/<str:webhook_id>/deliveries", webhooks.Deliveries.as_view(), name="webhook_deliveries"),
    path(
        "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>",
        webhooks.OneDelivery.as_view(),
        name="webhook_delivery",
    ),
    path(
        "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/resend",
        webhooks.Resend.as_view(),
        name="webhook_resend",
    ),
    path("models", catalogue.Models.as_view(), name="models"),
    path("benchmarks", catalogue.Benchmarks.as_view(), name="benchmarks"),
]
